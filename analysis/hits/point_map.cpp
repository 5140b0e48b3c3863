#include "analysis/hits/point_map.h"

#include <algorithm>
#include <cstddef>

#include "analysis/hits/words.h"

namespace sojourn::hits {

namespace {

// An asterisk matches any characters.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t in = 0;
  std::size_t star = std::string_view::npos;
  std::size_t behind = 0;
  while (in < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      behind = in;
    } else if (at < pattern.size() && pattern[at] == text[in]) {
      ++at;
      ++in;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in = ++behind;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

// "len=arg1:by%d" becomes the words of a point's fields, "len:by%d", where each value is, and
// whether it may be negative.
std::string take_sources(std::string_view fields, MappedPoint& mapped,
                         std::vector<bool>& are_signed) {
  std::string words;
  while (!fields.empty()) {
    const std::size_t end = std::min(fields.find_first_of(":."), fields.size());
    const std::string_view field = fields.substr(0, end);
    const std::size_t equals = std::min(field.find('='), field.size());
    const std::string_view name = field.substr(0, equals);
    words += name;
    if (!field.empty()) {
      const std::size_t conversion = std::min(name.find('%'), name.size());
      mapped.sources.emplace_back(equals == field.size() ? name.substr(0, conversion)
                                                         : field.substr(equals + 1));
      are_signed.push_back(name.substr(conversion) == "%d");
    }
    if (end < fields.size()) words += fields[end];
    fields.remove_prefix(std::min(end + 1, fields.size()));
  }
  return words;
}

Result<MappedPoint> parse_line(std::string_view line) {
  MappedPoint mapped;
  mapped.event = take_word(line);
  const std::string direction(take_word(line));
  if (direction == "-") {
    mapped.is_left_out = true;
    if (!take_word(line).empty()) return fail("there is something behind \"-\"");
    return mapped;
  }
  const std::string way(take_word(line));
  if (way.empty())
    return fail("\"{}\" wants a point, such as D ip.in--pdcp.in, or \"-\"", mapped.event);
  std::vector<bool> are_signed;
  const std::string words = take_sources(take_word(line), mapped, are_signed);
  if (!take_word(line).empty()) return fail("there is something behind the fields");
  SJ_TRY(point, model::parse_point(direction + " " + way, words));
  mapped.point = std::move(point);
  if (mapped.sources.size() != mapped.point.fields.size()) return fail("a field has no name");
  for (std::size_t at = 0; at < are_signed.size(); ++at)
    mapped.point.fields[at].is_signed = are_signed[at];
  for (const std::string& source : mapped.sources)
    if (source.empty()) return fail("a field takes its value from nothing");
  return mapped;
}

}  // namespace

Result<PointMap> PointMap::parse(std::string_view text, const std::string& name) {
  PointMap map;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    auto mapped = parse_line(line);
    if (!mapped) return fail("{}:{}: {}", name, number, mapped.error().text());
    map.points_.push_back(std::move(*mapped));
  }
  return map;
}

const MappedPoint* PointMap::find(std::string_view event) const {
  const auto found = std::ranges::find_if(
      points_, [event](const MappedPoint& one) { return fits(one.event, event); });
  return found == points_.end() ? nullptr : &*found;
}

}  // namespace sojourn::hits
