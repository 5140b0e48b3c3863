#include "userspace/coarse/map_file.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include <toml++/toml.h>

#include "analysis/filter/words.h"
#include "analysis/model/unread.h"
#include "userspace/base/fd.h"
#include "userspace/target/file_bytes.h"
#include "userspace/target/procfs.h"

namespace sojourn::coarse {

namespace {

constexpr std::size_t kMostBytes = 1 << 20;  // of a map
constexpr std::size_t kMostPoints = 4096;
// One is left for the bits of those that could not be read.
constexpr std::size_t kMostFields = model::kMaxFields - 1;

const std::vector<std::string> kTopWords = {"about", "point"};
const std::vector<std::string> kPointWords = {"function", "library", "direction", "src",
                                              "dest",     "global",  "local"};

Place place_of(const toml::source_region& source) {
  return {.line = source.begin.line, .column = source.begin.column};
}

class Reader {
 public:
  explicit Reader(const std::string& path) { map_.path = path; }

  Result<Map> read(std::string_view text);

 private:
  Result<void> read_points(const toml::table& top);
  Result<MapPoint> read_point(const toml::table& table);
  Result<void> read_place(const toml::table& table, MapPoint& point);
  Result<void> read_fields(const toml::table& table, MapPoint& point);
  Result<void> read_role(const toml::table& table, std::string_view key, model::Role role,
                         MapPoint& point);
  Result<MapField> read_field(const toml::key& key, const toml::node& value);
  Result<std::string> text_of(const toml::node& value, std::string_view key) const;

  template <typename... Args>
  std::unexpected<Error> fail_at(Place place, fmt::format_string<Args...> format,
                                 Args&&... args) const {
    return fail("{}: {}", map_.at(place), fmt::format(format, std::forward<Args>(args)...));
  }

  Map map_;
};

Result<Map> Reader::read(std::string_view text) {
  toml::table top;
  try {
    top = toml::parse(text, map_.path);
  } catch (const toml::parse_error& error) {
    return fail_at(place_of(error.source()), "{}", target::printable(error.description()));
  }
  for (const auto& [key, value] : top) {
    if (key.str() == "about") {
      SJ_TRY(about, text_of(value, "about"));
      map_.about = std::move(about);
    } else if (key.str() != "point") {
      return fail_at(place_of(key.source()), "'{}' means nothing here{}",
                     target::printable(key.str()),
                     filter::did_you_mean(std::string(key.str()), kTopWords));
    }
  }
  SJ_CHECK(read_points(top));
  return std::move(map_);
}

Result<void> Reader::read_points(const toml::table& top) {
  const toml::node* const points = top.get("point");
  if (points == nullptr || !points->is_array_of_tables())
    return fail("{}: holds no point: each begins with a line [[point]]", map_.path);
  const toml::array& all = *points->as_array();
  if (all.size() > kMostPoints)
    return fail_at(place_of(points->source()), "more than {} points", kMostPoints);
  for (const toml::node& one : all) {
    SJ_TRY(point, read_point(*one.as_table()));
    map_.points.push_back(std::move(point));
  }
  return {};
}

Result<std::string> Reader::text_of(const toml::node& value, std::string_view key) const {
  if (!value.is_string())
    return fail_at(place_of(value.source()), "{}: expected a text in quotes",
                   target::printable(key));
  return value.as_string()->get();
}

Result<MapPoint> Reader::read_point(const toml::table& table) {
  MapPoint point;
  const toml::node* const function = table.get("function");
  if (function == nullptr) {
    std::string near;
    for (const auto& [key, value] : table)
      if (near.empty() && !filter::nearest(std::string(key.str()), {"function"}).empty())
        near = fmt::format(": is '{}' meant to be it?", target::printable(key.str()));
    return fail_at(place_of(table.source()), "the point has no function{}", near);
  }
  SJ_TRY(name, text_of(*function, "function"));
  point.function = std::move(name);
  point.place = place_of(function->source());
  if (point.function.empty()) return fail_at(point.place, "function: expected a name");
  if (const toml::node* const library = table.get("library")) {
    SJ_TRY(glob, text_of(*library, "library"));
    point.library = std::move(glob);
  }
  SJ_CHECK(read_place(table, point));
  SJ_CHECK(read_fields(table, point));
  SJ_CHECK(read_role(table, "global", model::Role::kGlobal, point));
  SJ_CHECK(read_role(table, "local", model::Role::kLocal, point));
  std::ranges::stable_sort(point.fields, {}, &MapField::role);
  return point;
}

Result<void> Reader::read_place(const toml::table& table, MapPoint& point) {
  std::array<std::string, 3> words;  // direction, src, dest
  std::array<const toml::node*, 3> nodes{};
  constexpr std::array<std::string_view, 3> kKeys = {"direction", "src", "dest"};
  for (std::size_t index = 0; index < kKeys.size(); ++index) {
    nodes[index] = table.get(kKeys[index]);
    if (nodes[index] == nullptr) continue;
    SJ_TRY(word, text_of(*nodes[index], kKeys[index]));
    words[index] = std::move(word);
  }
  auto& [direction, src, dest] = words;
  if (nodes[0] != nullptr) {
    const auto known = direction.size() == 1 ? model::direction_from_letter(direction[0])
                                             : std::optional<model::Direction>();
    if (!known || !model::is_of_target(*known))
      return fail_at(place_of(nodes[0]->source()),
                     "direction: expected \"D\", \"U\", \"I\" or \"S\"");
    point.direction = *known;
  }
  if (nodes[2] != nullptr && nodes[0] == nullptr)
    return fail_at(place_of(nodes[2]->source()),
                   "dest: which direction? Give direction = \"D\" or \"U\"");
  if (src.empty() && (nodes[0] != nullptr || nodes[2] != nullptr))
    return fail_at(place_of((nodes[0] != nullptr ? nodes[0] : nodes[2])->source()),
                   "the point has no src: where does its unit come from?");
  point.src = std::move(src);
  point.dest = std::move(dest);
  if (point.src.empty()) return {};
  auto checked =
      model::parse_point(fmt::format("{} {}{}{}", model::letter(point.direction), point.src,
                                     point.dest.empty() ? "" : "--", point.dest),
                         "");
  if (!checked)
    return fail_at(place_of(nodes[1]->source()), "{}", target::printable(checked.error().text()));
  return {};
}

Result<void> Reader::read_fields(const toml::table& table, MapPoint& point) {
  for (const auto& [key, value] : table) {
    if (std::ranges::find(kPointWords, key.str()) != kPointWords.end()) continue;
    SJ_TRY(field, read_field(key, value));
    if (point.fields.size() == kMostFields)
      return fail_at(field.place, "more than {} fields", kMostFields);
    point.fields.push_back(std::move(field));
  }
  // The table's own order is that of the alphabet.
  std::ranges::sort(point.fields, {}, [](const MapField& field) {
    return std::pair(field.place.line, field.place.column);
  });
  return {};
}

Result<MapField> Reader::read_field(const toml::key& key, const toml::node& value) {
  MapField field;
  field.name = std::string(key.str());
  const model::Point trial{.direction = model::Direction::kScalar,
                           .src = "x",
                           .dest = {},
                           .fields = {{.name = field.name}},
                           .file = {}};
  if (!model::check(trial) || field.name == model::kUnreadField)
    return fail_at(place_of(key.source()), "'{}' is no name for a field",
                   target::printable(field.name));
  if (!value.is_string())
    return fail_at(place_of(value.source()), "{}: expected an expression in quotes, as in \"arg1\"",
                   field.name);
  field.place = place_of(value.source());
  field.text = value.as_string()->get();
  auto expression = parse_expression(field.text);
  if (!expression) {
    // Behind the quote.
    const Place at{
        .line = field.place.line,
        .column = field.place.column + 1 + static_cast<std::uint32_t>(expression.error().at)};
    return fail_at(at, "{}: {}", field.name, expression.error().what);
  }
  field.expression = std::move(*expression);
  return field;
}

Result<void> Reader::read_role(const toml::table& table, std::string_view key, model::Role role,
                               MapPoint& point) {
  const toml::node* const names = table.get(key);
  if (names == nullptr) return {};
  const toml::array* const all = names->as_array();
  if (all == nullptr)
    return fail_at(place_of(names->source()), "{}: expected names in brackets, as in [\"sn\"]",
                   key);
  for (const toml::node& one : *all) {
    SJ_TRY(name, text_of(one, key));
    const auto field = std::ranges::find(point.fields, name, &MapField::name);
    if (field == point.fields.end()) {
      std::vector<std::string> known(point.fields.size());
      std::ranges::transform(point.fields, known.begin(), &MapField::name);
      return fail_at(place_of(one.source()), "{}: the point has no field '{}'{}", key,
                     target::printable(name), filter::did_you_mean(name, known));
    }
    if (field->role != model::Role::kProperty)
      return fail_at(place_of(one.source()), "'{}' is named among the ids twice", name);
    field->role = role;
  }
  return {};
}

}  // namespace

std::string Map::at(Place place) const {
  return fmt::format("{}:{}:{}", path, place.line, place.column);
}

Result<Map> parse_map(std::string_view text, const std::string& path) {
  return Reader(path).read(text);
}

Result<Map> read_map(const std::string& path) {
  base::Fd file;
  SJ_TRY(bytes, target::open_regular(path, file));
  if (bytes > kMostBytes)
    return fail("{}: {} bytes: a map has at most {}", path, bytes, kMostBytes);
  std::string text(bytes, '\0');
  if (!target::read_fully(file.get(), 0, std::as_writable_bytes(std::span(text))))
    return fail_errno("read {}", path);
  return parse_map(text, path);
}

}  // namespace sojourn::coarse
