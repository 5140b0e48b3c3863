#include "analysis/xlap/xlap_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <yaml.h>

namespace sojourn::xlap {
namespace {

constexpr std::size_t kMaxEntries = 1000;  // of a list: a protocol has some ten stamps
constexpr std::size_t kMaxNameBytes = 100;

// The places of packets between the tables; no source may have these names.
constexpr std::array<std::string_view, 3> kOwnPlaces = {"input", "channel", "output"};

class Document {
 public:
  static Result<Document> load(std::string_view text, const std::string& path) {
    Document document(path);
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) return fail("{}: no memory to read it", path);
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    document.is_loaded_ = yaml_parser_load(&parser, &document.yaml_) != 0;
    const std::size_t line = parser.problem_mark.line + 1;
    const std::string problem = parser.problem == nullptr ? "no YAML" : parser.problem;
    yaml_parser_delete(&parser);
    if (!document.is_loaded_) return fail("{}:{}: {}", path, line, problem);
    return document;
  }
  Document(Document&& other) noexcept
      : path_(std::move(other.path_)),
        yaml_(other.yaml_),
        is_loaded_(std::exchange(other.is_loaded_, false)) {}
  Document& operator=(Document&&) = delete;
  ~Document() {
    if (is_loaded_) yaml_document_delete(&yaml_);
  }

  const std::string& path() const { return path_; }
  const yaml_node_t* root() { return yaml_document_get_root_node(&yaml_); }
  const yaml_node_t* node(int index) { return yaml_document_get_node(&yaml_, index); }

 private:
  explicit Document(std::string path) : path_(std::move(path)) {}

  std::string path_;
  yaml_document_t yaml_ = {};
  bool is_loaded_ = false;
};

std::size_t line_of(const yaml_node_t& node) {
  return node.start_mark.line + 1;
}

template <typename... Args>
std::unexpected<Error> fail_at(const Document& document, std::size_t line,
                               fmt::format_string<Args...> format, Args&&... args) {
  return fail("{}:{}: {}", document.path(), line, fmt::format(format, std::forward<Args>(args)...));
}

// A word: what names and values are.
struct Word {
  std::string text;
  std::size_t line = 0;
};

Result<Word> word_of(const Document& document, const yaml_node_t* node, std::string_view what) {
  if (node->type != YAML_SCALAR_NODE)
    return fail_at(document, line_of(*node), "{} is one word", what);
  Word word = {.text = std::string(reinterpret_cast<const char*>(node->data.scalar.value),
                                   node->data.scalar.length),
               .line = line_of(*node)};
  const auto is_plain = [](char c) { return c > ' ' && c <= '~'; };
  if (word.text.empty() || word.text.size() > kMaxNameBytes ||
      !std::ranges::all_of(word.text, is_plain))
    return fail_at(document, word.line, "{} is one word of at most {} plain characters", what,
                   kMaxNameBytes);
  return word;
}

struct Entry {
  Word key;
  const yaml_node_t* value = nullptr;
};

// The entries of a mapping, in their order.
Result<std::vector<Entry>> entries_of(Document& document, const yaml_node_t* node,
                                      std::string_view what) {
  if (node->type != YAML_MAPPING_NODE)
    return fail_at(document, line_of(*node), "{} is a list of names with values", what);
  std::vector<Entry> entries;
  for (const auto* pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
       ++pair) {
    SJ_TRY(key, word_of(document, document.node(pair->key), "a name"));
    if (std::ranges::any_of(entries, [&](const Entry& one) { return one.key.text == key.text; }))
      return fail_at(document, key.line, "{} is there twice", key.text);
    if (entries.size() == kMaxEntries)
      return fail_at(document, key.line, "{} has more than {} entries", what, kMaxEntries);
    entries.push_back({.key = std::move(key), .value = document.node(pair->value)});
  }
  return entries;
}

const Entry* find(const std::vector<Entry>& entries, std::string_view key) {
  const auto found =
      std::ranges::find_if(entries, [&](const Entry& entry) { return entry.key.text == key; });
  return found == entries.end() ? nullptr : &*found;
}

// The word of a key that must be there.
Result<Word> member(Document& document, const std::vector<Entry>& entries, const Word& of,
                    std::string_view key) {
  const Entry* const entry = find(entries, key);
  if (entry == nullptr) return fail_at(document, of.line, "{} has no {}", of.text, key);
  return word_of(document, entry->value, key);
}

template <typename Named>
std::optional<std::size_t> index_of(const std::vector<Named>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found == all.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

class Parser {
 public:
  explicit Parser(Document& document) : document_(document) { config_.path = document.path(); }

  Result<Config> parse() {
    if (document_.root() == nullptr) return fail_at(document_, 1, "is empty");
    SJ_TRY(top, entries_of(document_, document_.root(), "an xlap.yml"));
    top_ = std::move(top);
    SJ_CHECK(read_sources());
    SJ_CHECK(read_stamps());
    SJ_CHECK(read_references("cycle_reference", &Source::cycle_reference));
    SJ_CHECK(read_references("time_reference", &Source::time_reference));
    SJ_CHECK(read_durations());
    SJ_CHECK(read_packet_types());
    return std::move(config_);
  }

 private:
  Result<std::vector<Entry>> part(std::string_view key, bool is_required) {
    const Entry* const entry = find(top_, key);
    if (entry != nullptr) return entries_of(document_, entry->value, key);
    if (is_required) return fail_at(document_, 1, "there is no {}", key);
    return std::vector<Entry>();
  }

  Result<void> read_sources() {
    SJ_TRY(files, part("data_files", true));
    for (const Entry& entry : files) {
      SJ_TRY(file, word_of(document_, entry.value, "a data file"));
      // A file from elsewhere may name files of its own directory only.
      if (file.text.starts_with('/') || file.text.contains(".."))
        return fail_at(document_, file.line, "data file {}: is not in this directory", file.text);
      if (std::ranges::find(kOwnPlaces, entry.key.text) != kOwnPlaces.end())
        return fail_at(document_, entry.key.line, "a source cannot be called {}", entry.key.text);
      config_.sources.push_back(
          {.name = entry.key.text, .file = file.text, .line = entry.key.line});
    }
    if (config_.sources.empty()) return fail_at(document_, 1, "data_files has no file");
    return {};
  }

  Result<std::size_t> source_of(const Word& word) {
    const auto source = index_of(config_.sources, word.text);
    if (!source) return fail_at(document_, word.line, "{} is not in data_files", word.text);
    return *source;
  }

  Result<std::size_t> stamp_of(const Word& word) {
    const auto stamp = index_of(config_.stamps, word.text);
    if (!stamp) return fail_at(document_, word.line, "{} is not in stamps", word.text);
    return *stamp;
  }

  Result<void> read_stamps() {
    SJ_TRY(stamps, part("stamps", true));
    for (const Entry& entry : stamps) {
      SJ_TRY(members, entries_of(document_, entry.value, entry.key.text));
      SJ_TRY(source_word, member(document_, members, entry.key, "Source"));
      SJ_TRY(type, member(document_, members, entry.key, "Type"));
      SJ_TRY(source, source_of(source_word));
      if (type.text != "time" && type.text != "cycle")
        return fail_at(document_, type.line, "Type {}: time or cycle is wanted", type.text);
      config_.stamps.push_back({.name = entry.key.text,
                                .source = source,
                                .is_cycle = type.text == "cycle",
                                .line = entry.key.line});
    }
    return {};
  }

  // Each source with a cycle stamp has both references.
  Result<void> read_references(std::string_view key, std::size_t Source::* reference) {
    SJ_TRY(references, part(key, true));
    for (const Entry& entry : references) {
      SJ_TRY(source, source_of(entry.key));
      SJ_TRY(word, word_of(document_, entry.value, "a reference"));
      SJ_TRY(stamp, stamp_of(word));
      if (config_.stamps[stamp].source != source)
        return fail_at(document_, word.line, "{} is a stamp of {}", word.text,
                       config_.sources[config_.stamps[stamp].source].name);
      config_.sources[source].*reference = stamp;
    }
    for (const Source& source : config_.sources)
      if (find(references, source.name) == nullptr)
        return fail_at(document_, source.line, "{} has no {}", source.name, key);
    return {};
  }

  Result<void> read_durations() {
    SJ_TRY(durations, part("durations", false));
    for (const Entry& entry : durations) {
      SJ_TRY(members, entries_of(document_, entry.value, entry.key.text));
      SJ_TRY(source_word, member(document_, members, entry.key, "Source"));
      SJ_TRY(start_word, member(document_, members, entry.key, "Start"));
      SJ_TRY(stop_word, member(document_, members, entry.key, "Stop"));
      SJ_TRY(source, source_of(source_word));
      SJ_TRY(start, stamp_of(start_word));
      SJ_TRY(stop, stamp_of(stop_word));
      config_.durations.push_back(
          {.name = entry.key.text, .source = source, .start = start, .stop = stop});
    }
    return {};
  }

  Result<void> read_packet_types() {
    SJ_TRY(types, part("packet_types", false));
    for (const Entry& entry : types) {
      SJ_TRY(number, word_of(document_, entry.value, "a packet type"));
      std::uint64_t value = 0;
      const char* const end = number.text.data() + number.text.size();
      const auto [rest, error] = std::from_chars(number.text.data(), end, value);
      if (error != std::errc() || rest != end)
        return fail_at(document_, number.line, "packet type {}: {} is no whole number",
                       entry.key.text, number.text);
      config_.packet_types.emplace(value, entry.key.text);
    }
    return {};
  }

  Document& document_;
  std::vector<Entry> top_;
  Config config_;
};

}  // namespace

Result<Config> parse_config(std::string_view text, const std::string& path) {
  SJ_TRY(document, Document::load(text, path));
  return Parser(document).parse();
}

}  // namespace sojourn::xlap
