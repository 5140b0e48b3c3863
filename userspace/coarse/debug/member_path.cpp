#include "userspace/coarse/debug/member_path.h"

#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include <dwarf.h>

#include "analysis/filter/words.h"
#include "userspace/coarse/debug/types.h"

namespace sojourn::coarse::dwarf {

namespace {

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

Result<MemberPath> parse_path(std::string_view text) {
  MemberPath path;
  const auto take_word = [&] {
    std::size_t end = 0;
    while (end < text.size() && is_word(text[end])) ++end;
    std::string word(text.substr(0, end));
    text.remove_prefix(end);
    return word;
  };
  path.argument = take_word();
  while (!text.empty()) {
    if (text.starts_with("->")) {
      text.remove_prefix(2);
      path.steps.push_back({.kind = PathStep::Kind::kArrow, .name = take_word()});
    } else if (text.starts_with(".")) {
      text.remove_prefix(1);
      path.steps.push_back({.kind = PathStep::Kind::kDot, .name = take_word()});
    } else if (text.starts_with("[")) {
      PathStep step{.kind = PathStep::Kind::kElement, .name = {}};
      const auto [stop, code] =
          std::from_chars(text.data() + 1, text.data() + text.size(), step.index);
      if (code != std::errc() || stop == text.data() + text.size() || *stop != ']')
        return fail("'{}' is no element", text);
      text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
      path.steps.push_back(step);
    } else {
      return fail("'{}' is not understood", text);
    }
  }
  return path;
}

Result<Start> follow(Location place, Dwarf_Die type, const MemberPath& path) {
  std::string shown = path.argument;
  // The start becomes the address of what its value leads to.
  const auto go = [&] {
    if (!place.is_value) place.start.steps.push_back(read_of(place.offset, 8, false));
    place.is_value = false;
    place.offset = 0;
  };
  const auto type_within = [&](Dwarf_Die die) -> Result<Dwarf_Die> {
    const auto inner = type_of(die);
    if (!inner) return fail("what '{}' is is not known", shown);
    return *inner;
  };
  std::optional<Dwarf_Die> bit_field;
  for (const PathStep& step : path.steps) {
    bit_field.reset();
    if (is_reference(type)) {
      go();
      SJ_TRY(referred, type_within(type));
      type = referred;
    }
    if (step.kind == PathStep::Kind::kElement) {
      const bool is_array = dwarf_tag(&type) == DW_TAG_array_type;
      if (!is_array && !is_pointer(type)) return fail("'{}' has no elements", shown);
      if (!is_array) go();
      SJ_TRY(element, type_within(type));
      const auto bytes = bytes_of(element);
      if (!bytes || *bytes > INT32_MAX || step.index > INT32_MAX)
        return fail("how large an element of '{}' is is not known", shown);
      place.offset += static_cast<std::int64_t>(*bytes * step.index);
      type = element;
      shown += fmt::format("[{}]", step.index);
      continue;
    }
    if (step.kind == PathStep::Kind::kArrow) {
      if (!is_pointer(type)) return fail("'{}' is no pointer: write '.'", shown);
      go();
      SJ_TRY(led_to, type_within(type));
      type = led_to;
    } else if (is_pointer(type)) {
      return fail("'{}' is a pointer: write '->'", shown);
    }
    if (!is_record(type)) return fail("'{}' has no members", shown);
    if (place.is_value) return fail("'{}' is in pieces in registers", shown);
    std::vector<std::string> known;
    const auto member = find_member(type, step.name, known);
    if (!member)
      return fail("'{}' has no member '{}'{}", shown, step.name,
                  filter::did_you_mean(step.name, known));
    place.offset += member->offset;
    if (number_of(member->die, DW_AT_bit_size)) bit_field = member->die;
    shown += (step.kind == PathStep::Kind::kArrow ? "->" : ".") + step.name;
    SJ_TRY(inner, type_within(member->die));
    type = inner;
  }
  if (is_reference(type)) {
    go();
    SJ_TRY(referred, type_within(type));
    type = referred;
  }
  auto number = number_type(type);
  if (!number) return fail("'{}' {}", shown, number.error().text());
  Start start = std::move(place.start);
  start.bytes = number->bytes;
  start.is_signed = number->is_signed;
  if (place.is_value) {
    if (number->bytes < 8) {
      sj_step narrow = only_add(0);
      narrow.bits = static_cast<std::uint8_t>(8 * number->bytes);
      narrow.is_signed = number->is_signed ? 1 : 0;
      start.steps.push_back(narrow);
    }
    return start;
  }
  if (bit_field) {
    const auto bits = number_of(*bit_field, DW_AT_bit_size).value_or(0);
    const auto at = number_of(*bit_field, DW_AT_data_bit_offset);
    if (!at || *at > INT32_MAX) return fail("where the bits of '{}' are is not known", shown);
    const std::uint64_t low = *at % 8;
    if (bits == 0 || low + bits > 64) return fail("the bits of '{}' are in two places", shown);
    sj_step read = read_of(place.offset + static_cast<std::int64_t>(*at / 8),
                           low + bits <= 8    ? std::uint8_t{1}
                           : low + bits <= 16 ? std::uint8_t{2}
                           : low + bits <= 32 ? std::uint8_t{4}
                                              : std::uint8_t{8},
                           number->is_signed);
    read.low_bit = static_cast<std::uint8_t>(low);
    read.bits = static_cast<std::uint8_t>(bits);
    start.steps.push_back(read);
    return start;
  }
  start.steps.push_back(read_of(place.offset, number->bytes, number->is_signed));
  return start;
}

}  // namespace sojourn::coarse::dwarf
