#include "analysis/latseq/line_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "analysis/latseq/texts.h"

namespace sojourn::latseq {

namespace {

// A name that ends in a digit needs a sign between it and the number.
bool needs_equals(const std::string& name) {
  const char last = name.back();
  const bool ends_plain =
      (last >= 'a' && last <= 'z') || (last >= 'A' && last <= 'Z') || last == '_';
  return !ends_plain || name.contains("0x") || name.contains("0X");
}

}  // namespace

LineWriter::LineWriter(const model::Schema& schema) : schema_(schema) {
  for (const model::Point& point : schema.points) points_.push_back(words_of(point));
}

LineWriter::PointWords LineWriter::words_of(const model::Point& point) {
  using model::Role;
  PointWords words;
  if (!model::is_of_target(point.direction)) return words;
  words.place = fmt::format(" {} {} ", letter(point.direction), point.name());
  std::string between;
  for (const Role role : {Role::kProperty, Role::kGlobal, Role::kLocal}) {
    if (role != Role::kProperty) between += ':';
    for (std::size_t i = 0; i < point.fields.size(); ++i) {
      const model::Field& field = point.fields[i];
      if (field.role != role) continue;
      words.fields.push_back(
          {.before = between + field.name + (needs_equals(field.name) ? "=" : ""),
           .is_signed = field.is_signed});
      words.order.push_back(i);
      between = '.';
    }
    if (between == ".") between.clear();
  }
  // The line of a scalar has only the groups that it needs.
  if (point.direction != model::Direction::kScalar) words.end = between;
  return words;
}

std::string LineWriter::header(const std::string& from) const {
  std::string text = fmt::format(
      "# LatSeq format, exported by sojourn from {}\n"
      "# times are seconds since 1970\n"
      "# timestamp\tU/D\tsrc--dest\tlen:ctxtId:localId\n"
      "#funcId",
      from);
  std::vector<std::string> places;
  for (const model::Point& point : schema_.points) {
    if (!model::is_of_target(point.direction)) continue;
    for (const std::string& place : {point.src, point.dest})
      if (!place.empty() && std::ranges::find(places, place) == places.end())
        places.push_back(place);
  }
  for (const std::string& place : places) text += " " + place;
  return text + "\n";
}

const std::string& LineWriter::line(const model::EventView& event, std::uint64_t unix_ns) {
  line_.clear();
  if (event.point >= points_.size()) return line_;
  const PointWords& words = points_[event.point];
  if (words.place.empty() || event.values.size() != words.fields.size()) return line_;
  line_ = seconds(unix_ns);
  line_ += words.place;
  const auto end = std::back_inserter(line_);
  for (std::size_t i = 0; i < words.fields.size(); ++i) {
    line_ += words.fields[i].before;
    const std::uint64_t value = event.values[words.order[i]];
    if (words.fields[i].is_signed)
      fmt::format_to(end, "{}", static_cast<std::int64_t>(value));
    else
      fmt::format_to(end, "{}", value);
  }
  line_ += words.end;
  line_ += '\n';
  return line_;
}

}  // namespace sojourn::latseq
