#include "analysis/journeys/rule_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/base/time_text.h"
#include "analysis/language/tokenizer.h"

namespace sojourn::journeys {
namespace {

using language::Token;
using language::Tokenizer;

constexpr std::array kKinds = {PointKind::kInput, PointKind::kOutput, PointKind::kInner,
                               PointKind::kDrop,  PointKind::kAck,    PointKind::kControl};

struct Word {
  std::string_view name;
  std::string Rules::* member;
};
constexpr std::array kWords = {
    Word{"length", &Rules::length},
    Word{"offset", &Rules::offset},
    Word{"round", &Rules::round},
    Word{"process", &Rules::process},
    Word{"sequence", &Rules::sequence_suffix},
    Word{"buffer", &Rules::buffer},
    Word{"broadcast", &Rules::broadcast},
    Word{"drop", &Rules::drop},
    Word{"ack", &Rules::ack},
    Word{"control", &Rules::control},
};

struct Time {
  std::string_view name;
  std::uint64_t Rules::* member;
};
constexpr std::array kTimes = {Time{"expiry", &Rules::expiry_ns}, Time{"linger", &Rules::linger_ns},
                               Time{"settle", &Rules::settle_ns}, Time{"late", &Rules::late_ns}};

constexpr std::string_view kBlanks = " \t\r";

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

// The part of a text, which may be hostile or binary, that is shown in an error.
std::string shown(std::string_view text) {
  std::string words(text.substr(0, 40));
  for (char& c : words)
    if (!is_printable(c)) c = '?';
  return words.size() < text.size() ? words + "..." : words;
}

// Quotes a word that would not be read back as one word.
std::string quoted(const std::string& word) {
  if (!word.empty() && !word.starts_with('#') && !word.starts_with('"') &&
      word.find_first_of(kBlanks) == std::string::npos)
    return word;
  std::string text = "\"";
  for (const char c : word) text.append(c == '"' ? 2 : 1, c);
  return text + "\"";
}

// Two quotes within a text mean one quote. A text ends on its line.
Result<std::string> read_text(Tokenizer& tokenizer, std::size_t begin) {
  std::string text;
  while (!tokenizer.rest().empty() && tokenizer.peek() != '\n') {
    const bool is_quote = tokenizer.peek() == '"';
    if (is_quote) tokenizer.advance(1);
    if (is_quote && tokenizer.peek() != '"') return text;
    text += tokenizer.peek();
    tokenizer.advance(1);
  }
  return tokenizer.source().complain({begin, tokenizer.offset()}, "a \" without its end");
}

constexpr std::array<std::string_view, 1> kLineEnd = {"\n"};
constexpr language::Grammar kGrammar = {
    .blanks = kBlanks,
    .is_word = [](char c) { return c != '\n' && !kBlanks.contains(c); },
    .symbols = kLineEnd,
    .quotes = "\"",
    .read_text = read_text,
    .comment = "#"};

// The words of one line.
class Line {
 public:
  explicit Line(const language::SourceText& source) : source_(source) {}

  Result<void> read(Tokenizer& tokenizer) {
    for (;;) {
      SJ_TRY(token, tokenizer.next());
      if (token.kind == Token::Kind::kEnd || token.is(kLineEnd.front())) return {};
      if (token.kind != Token::Kind::kText) token.text = token.spelling;
      const auto wrong = std::ranges::find_if_not(token.spelling, is_printable);
      const auto at = token.at.begin + static_cast<std::size_t>(wrong - token.spelling.begin());
      if (wrong != token.spelling.end())
        return source_.complain(
            {at, at + 1},
            fmt::format("an unprintable character in \"{}\": names have none", shown(token.text)));
      tokens_.push_back(std::move(token));
    }
  }

  bool at_end() const { return next_ == tokens_.size(); }
  // Returns the place of the next word, for errors.
  std::string where() const {
    return source_.name_of(tokens_[std::min(next_, tokens_.size() - 1)].place);
  }

  // Takes the next word if it is this one.
  bool take(std::string_view word) {
    if (at_end() || tokens_[next_].text != word) return false;
    ++next_;
    return true;
  }

  Result<std::string> take_any(std::string_view what) {
    if (at_end()) return expected(what);
    return tokens_[next_++].text;
  }

  std::unexpected<Error> expected(std::string_view what) const {
    const std::size_t end = tokens_.back().at.end;
    if (at_end()) return source_.expected({end, end}, what, "the end of the line");
    return source_.expected(tokens_[next_].at, what,
                            fmt::format("\"{}\"", shown(tokens_[next_].text)));
  }

  std::unexpected<Error> wrong_word(std::string_view words) const {
    return source_.complain(tokens_[next_ - 1].at, words);
  }

  Result<void> finish() const {
    if (!at_end()) return expected("the end of the line");
    return {};
  }

 private:
  language::SourceText source_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

class Parser {
 public:
  Result<void> parse(Line& line) {
    if (line.at_end()) return {};
    SJ_CHECK(parse_statement(line));
    return line.finish();
  }

  Rules rules;

 private:
  Result<void> parse_statement(Line& line) {
    if (line.take("journey")) return parse_journey(line);
    if (line.take("word")) return parse_word(line);
    if (line.take("units")) return parse_units(line);
    if (line.take("point")) return parse_point(line);
    if (line.take("pair")) return parse_pair(line);
    for (const Time& time : kTimes) {
      if (!line.take(time.name)) continue;
      SJ_TRY(ns, parse_time(line));
      rules.*time.member = ns;
      return {};
    }
    return line.expected(
        "\"journey\", \"word\", \"expiry\", \"linger\", \"settle\", \"late\", \"units\", \"point\" "
        "or \"pair\"");
  }

  static Result<model::Direction> parse_direction(Line& line) {
    if (line.take("D")) return model::Direction::kDownlink;
    if (line.take("U")) return model::Direction::kUplink;
    return line.expected("\"D\" or \"U\"");
  }

  Result<void> parse_journey(Line& line) {
    SJ_TRY(direction, parse_direction(line));
    auto& anchor = direction == model::Direction::kDownlink ? rules.downlink : rules.uplink;
    if (line.take("enters"))
      anchor = Anchor::kInput;
    else if (line.take("leaves"))
      anchor = Anchor::kOutput;
    else
      return line.expected("\"enters\" or \"leaves\"");
    return {};
  }

  Result<void> parse_word(Line& line) {
    for (const Word& word : kWords) {
      if (!line.take(word.name)) continue;
      SJ_TRY(name, line.take_any("a name"));
      rules.*word.member = name;
      return {};
    }
    std::vector<std::string> names;
    names.reserve(kWords.size());
    for (const Word& word : kWords) names.push_back(fmt::format("\"{}\"", word.name));
    return line.expected(fmt::format("one of {}", fmt::join(names, ", ")));
  }

  Result<void> parse_units(Line& line) {
    SJ_TRY(text, line.take_any("a number of units"));
    std::size_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || end != text.data() + text.size() || number < 1'000)
      return line.wrong_word(
          fmt::format("\"{}\" is not a number of units, 1000 at least", shown(text)));
    rules.max_units = number;
    return {};
  }

  static Result<std::uint64_t> parse_time(Line& line) {
    SJ_TRY(text, line.take_any("a time such as 10s or 500ms"));
    const auto ns = sojourn::parse_time(shown(text));
    if (!ns) return line.wrong_word(ns.error().text());
    if (*ns == 0)
      return line.wrong_word(fmt::format("\"{}\": a time above 0 is wanted", shown(text)));
    if (*ns > UINT64_MAX / 4)
      return line.wrong_word(fmt::format("\"{}\": at most 146 years are allowed", shown(text)));
    return *ns;
  }

  // "ip.in--pdcp.in", or "ip.in--pdcp.in{len:rnti:drb.gsn}".
  static Result<PointName> parse_name(Line& line, model::Direction direction) {
    SJ_TRY(text, line.take_any("a point such as ip.in--pdcp.in"));
    PointName name = {.direction = direction, .name = text, .fields = std::nullopt};
    const auto brace = text.rfind('{');
    if (text.ends_with('}') && brace != std::string::npos) {
      name.fields = text.substr(brace + 1, text.size() - brace - 2);
      name.name.resize(brace);
    } else if (brace != std::string::npos) {
      return line.wrong_word(fmt::format(
          "\"{}\" has no \"}}\" at its end: fields stand in {{...}}, without blanks", shown(text)));
    }
    if (!name.name.contains("--") || name.name.starts_with("--"))
      return line.wrong_word(
          fmt::format("\"{}\" is not a point such as ip.in--pdcp.in", shown(text)));
    return name;
  }

  Result<void> parse_point(Line& line) {
    PointRule rule;
    SJ_TRY(direction, parse_direction(line));
    rule.where = line.where();
    SJ_TRY(point, parse_name(line, direction));
    rule.point = std::move(point);
    for (const PointKind kind : kKinds) {
      if (!line.take(name(kind))) continue;
      rule.kind = kind;
      const bool ends = kind == PointKind::kDrop || kind == PointKind::kAck;
      rule.control = kind == PointKind::kControl || (ends && line.take("control"));
      rules.points.push_back(std::move(rule));
      return {};
    }
    return line.expected("\"input\", \"output\", \"inner\", \"drop\", \"ack\" or \"control\"");
  }

  Result<void> parse_pair(Line& line) {
    PairRule rule;
    SJ_TRY(direction, parse_direction(line));
    rule.where = line.where();
    SJ_TRY(parent, parse_name(line, direction));
    rule.parent = std::move(parent);
    if (!line.take("->")) return line.expected("\"->\"");
    SJ_TRY(child, parse_name(line, direction));
    rule.child = std::move(child);
    if (line.take("never"))
      rule.touches = false;
    else
      SJ_CHECK(parse_terms(line, rule));
    rules.pairs.push_back(std::move(rule));
    return {};
  }

  static Result<void> parse_terms(Line& line, PairRule& rule) {
    bool stated = false;
    for (; !line.at_end(); stated = true) {
      if (line.take("by")) {
        SJ_TRY(ids, line.take_any("ids such as rnti.drb.psn, or nothing"));
        SJ_TRY(key, parse_ids(line, ids));
        rule.key = std::move(key);
      } else if (line.take("1:1")) {
        rule.gathers = rule.cuts = false;
      } else if (line.take("n:1")) {
        rule.gathers = true;
        rule.cuts = false;
      } else if (line.take("1:n")) {
        rule.gathers = false;
        rule.cuts = true;
      } else if (line.take("n:m")) {
        rule.gathers = rule.cuts = true;
      } else if (line.take("lengths")) {
        if (line.take("compared"))
          rule.lengths = true;
        else if (line.take("unused"))
          rule.lengths = false;
        else
          return line.expected("\"compared\" or \"unused\"");
      } else if (line.take("expiry")) {
        SJ_TRY(ns, parse_time(line));
        rule.expiry_ns = ns;
      } else {
        break;
      }
    }
    if (stated && line.at_end()) return {};
    return line.expected(
        "\"never\", \"by\", \"1:1\", \"n:1\", \"1:n\", \"n:m\", \"lengths\" or \"expiry\"");
  }

  static Result<std::vector<std::string>> parse_ids(const Line& line, std::string_view text) {
    std::vector<std::string> ids;
    if (text == "nothing") return ids;
    while (true) {
      const auto dot = text.find('.');
      ids.emplace_back(text.substr(0, dot));
      if (ids.back().empty())
        return line.wrong_word("ids are divided by single dots, as in rnti.drb.psn");
      if (dot == std::string_view::npos) return ids;
      text.remove_prefix(dot + 1);
    }
  }
};

// The names of points. Several points of one name are distinguished by their fields.
class Names {
 public:
  explicit Names(const model::Schema& schema) : schema_(schema) {
    for (const auto& point : schema.points)
      fields_[{point.direction, point.name()}].insert(format_fields(point));
  }

  std::string of(std::size_t id) const {
    const auto& point = schema_.points[id];
    const bool plain =
        fields_.at({point.direction, point.name()}).size() == 1 && !point.name().contains('{');
    const std::string text =
        point.name() + (plain ? "" : fmt::format("{{{}}}", format_fields(point)));
    return quoted(text);
  }

 private:
  const model::Schema& schema_;
  std::map<std::pair<model::Direction, std::string>, std::set<std::string>> fields_;
};

std::string kind_text(const PointPlan& plan) {
  const std::string_view control = plan.control ? " control" : "";
  if (plan.drop) return fmt::format("{}{}", name(PointKind::kDrop), control);
  if (plan.ack) return fmt::format("{}{}", name(PointKind::kAck), control);
  if (plan.control) return std::string(name(PointKind::kControl));
  if (plan.loop != 0) return "in a loop that nothing feeds: the traffic tells where it is entered";
  if (plan.input) return std::string(name(PointKind::kInput));
  return std::string(name(plan.output ? PointKind::kOutput : PointKind::kInner));
}

std::string pair_terms(const Pair& pair) {
  const bool cuts = pair.cuts() || pair.numbered_by_segments || pair.key_outlasts_unit;
  const std::string_view cardinality =
      cuts ? (pair.gathers() ? "n:m" : "1:n") : (pair.gathers() ? "n:1" : "1:1");
  std::string terms = fmt::format(
      "by {}  {}", pair.key.empty() ? "nothing" : fmt::format("{}", fmt::join(pair.key, ".")),
      cardinality);
  if (cuts || pair.gathers())
    terms += pair.segmentation != Segmentation::kNone ? "  lengths compared" : "  lengths unused";
  if (pair.expiry_ns != UINT64_MAX) terms += "  expiry " + exact_time(pair.expiry_ns);
  if (pair.numbered_by_segments) terms += "  # numbered in the order of arrival, as they are cut";
  return terms;
}

}  // namespace

Result<Rules> parse_rules(std::string_view text, std::string_view file) {
  Parser parser;
  Tokenizer tokenizer(language::SourceText(text, file), kGrammar);
  while (!tokenizer.rest().empty()) {
    Line line(tokenizer.source());
    SJ_CHECK(line.read(tokenizer));
    SJ_CHECK(parser.parse(line));
  }
  return std::move(parser.rules);
}

namespace {

// The ids by which rebuilders can share the units of the direction; empty if they cannot.
std::vector<std::string> owner_names(const Topology& topology, const model::Schema& schema,
                                     model::Direction direction) {
  std::vector<std::string> names;
  if (!topology.is_divisible(direction)) return names;
  const auto one = std::ranges::find_if(topology.points, [direction](const PointPlan& plan) {
    return plan.carries_units && plan.direction == direction;
  });
  const auto at = static_cast<std::size_t>(one - topology.points.begin());
  for (const auto field : one->owner_ids) names.push_back(schema.points[at].fields[field].name);
  return names;
}

}  // namespace

std::string rules_text(const Topology& topology, const model::Schema& schema, const Rules& rules) {
  std::string text;
  const auto out = std::back_inserter(text);
  const auto anchor = [](Anchor at) { return at == Anchor::kInput ? "enters" : "leaves"; };
  text += "# One journey is one packet that enters, or one that leaves.\n";
  for (const auto direction : {model::Direction::kDownlink, model::Direction::kUplink}) {
    const auto of = topology.anchor(direction);
    const bool by_part = std::ranges::any_of(topology.points, [&](const PointPlan& plan) {
      return plan.direction == direction && plan.anchored_at_input != (of == Anchor::kInput);
    });
    if (by_part)
      fmt::format_to(out, "# {} has both, each in a part of its own.\n", letter(direction));
    else
      fmt::format_to(out, "journey {} {}\n", letter(direction), anchor(of));
  }
  for (const auto direction : {model::Direction::kDownlink, model::Direction::kUplink})
    if (const auto ids = owner_names(topology, schema, direction); !ids.empty())
      fmt::format_to(out, "# {}: packets that differ in {} never meet.\n", letter(direction),
                     fmt::join(ids, ", "));
  text += "\n# Fields and places with a meaning.\n";
  for (const Word& word : kWords)
    fmt::format_to(out, "word {:<9}  {}\n", word.name, quoted(rules.*word.member));
  text += "\n# How long a unit is waited for, and how many are kept.\n";
  for (const Time& time : kTimes)
    fmt::format_to(out, "{:<6}  {}\n", time.name, exact_time(rules.*time.member));
  fmt::format_to(out, "units   {}\n\n# Where units come in, leave, and end.\n", rules.max_units);

  const Names names(schema);
  std::vector<std::string> lines;
  std::set<std::string> known;
  const auto add = [&](const std::string& line) {
    // Several binaries may have the same point.
    if (known.insert(line).second) lines.push_back(line);
  };
  std::size_t width = 0;
  for (std::size_t id = 0; id < schema.points.size(); ++id)
    if (topology.points[id].carries_units) width = std::max(width, names.of(id).size());
  for (std::size_t id = 0; id < schema.points.size(); ++id)
    if (topology.points[id].carries_units)
      add(fmt::format("{}point {} {:<{}}  {}", topology.points[id].loop != 0 ? "# " : "",
                      letter(schema.points[id].direction), names.of(id), width,
                      kind_text(topology.points[id])));
  text += fmt::format("{}\n\n# Which point feeds which.\n", fmt::join(lines, "\n"));

  lines.clear();
  for (std::size_t id = 0; id < schema.points.size(); ++id) {
    std::vector<const Pair*> pairs;
    pairs.reserve(topology.points[id].pairs.size());
    for (const auto index : topology.points[id].pairs) pairs.push_back(&topology.pairs[index]);
    std::ranges::sort(pairs, {}, &Pair::parent);
    for (const Pair* const pair : pairs)
      add(fmt::format("pair {} {:<{}} -> {:<{}}  {}", letter(schema.points[id].direction),
                      names.of(pair->parent), width, names.of(id), width, pair_terms(*pair)));
  }
  return text + fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace sojourn::journeys
