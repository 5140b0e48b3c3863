#include "userspace/coarse/debug/member_path.h"

#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include <dwarf.h>

#include "analysis/filter/keywords.h"
#include "userspace/coarse/debug/dwarf_types.h"

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

namespace {

// Walks from an argument along its path, step by step.
class Walk {
 public:
  Walk(Location place, Dwarf_Die type, const std::string& argument)
      : place_(std::move(place)), type_(type), shown_(argument) {}

  Result<void> take(const PathStep& step) {
    bit_field_.reset();
    SJ_CHECK(leave_reference());
    return step.kind == PathStep::Kind::kElement ? take_element(step.index) : take_member(step);
  }

  Result<ValueStart> end() {
    SJ_CHECK(leave_reference());
    const auto number = number_type(type_);
    if (!number) return fail("'{}' {}", shown_, number.error().text());
    ValueStart start = std::move(place_.start);
    start.bytes = number->bytes;
    start.is_signed = number->is_signed;
    sj_step step = read_of(place_.offset, number->bytes, number->is_signed);
    if (bit_field_) SJ_CHECK(cut_bits(step));
    if (place_.is_value) {
      const std::int64_t low = 8 * step.add + step.low_bit;
      if (low + step.bits > 64) return fail("'{}' is not in its register", shown_);
      step.low_bit = static_cast<std::uint8_t>(low);
      step.add = 0;
      step.bytes = 0;
    }
    if (step.bytes != 0 || step.bits != 64) start.steps.push_back(step);
    return start;
  }

 private:
  // Follows a pointer: its value becomes the address.
  Result<void> go_to(Dwarf_Die pointer) {
    // A pointer fills the register that it is in.
    if (place_.is_value && place_.offset != 0) return fail("'{}' is not in its register", shown_);
    if (!place_.is_value) place_.start.steps.push_back(read_of(place_.offset, 8, false));
    place_.is_value = false;
    place_.offset = 0;
    return go_within(pointer);
  }
  Result<void> go_within(Dwarf_Die die) {
    const auto inner = type_of(die);
    if (!inner) return fail("the type of '{}' is not known", shown_);
    type_ = *inner;
    return {};
  }
  Result<void> leave_reference() { return is_reference(type_) ? go_to(type_) : Result<void>(); }

  Result<void> take_element(std::uint64_t index) {
    std::vector<std::uint64_t> counts;
    const Dwarf_Die array = type_;
    if (dwarf_tag(&type_) == DW_TAG_array_type) {
      counts = counts_of(type_);
      SJ_CHECK(go_within(type_));
    } else if (is_pointer(type_)) {
      SJ_CHECK(go_to(type_));
    } else {
      return fail("'{}' has no elements", shown_);
    }
    // One element at an array's end may be declared for many.
    if (dimension_ < counts.size() && counts[dimension_] > 1 && index >= counts[dimension_])
      return fail("'{}' has {} elements", shown_, counts[dimension_]);
    std::uint64_t bytes = bytes_of(type_).value_or(0);
    for (std::size_t at = dimension_ + 1; at < counts.size() && bytes <= INT32_MAX; ++at)
      bytes *= counts[at];
    if (bytes == 0 || bytes > INT32_MAX || index > INT32_MAX)
      return fail("the size of an element of '{}' is not known", shown_);
    place_.offset += static_cast<std::int64_t>(bytes * index);
    shown_ += fmt::format("[{}]", index);
    const bool is_in_array = ++dimension_ < counts.size();
    if (is_in_array)
      type_ = array;
    else
      dimension_ = 0;
    return {};
  }

  Result<void> take_member(const PathStep& step) {
    const bool is_arrow = step.kind == PathStep::Kind::kArrow;
    if (is_arrow && !is_pointer(type_)) return fail("'{}' is no pointer: write '.'", shown_);
    if (!is_arrow && is_pointer(type_)) return fail("'{}' is a pointer: write '->'", shown_);
    if (is_arrow) SJ_CHECK(go_to(type_));
    if (!is_record(type_)) return fail("'{}' has no members", shown_);
    if (number_of(type_, DW_AT_declaration).value_or(0) != 0)
      return fail(
          "the type of '{}' is only declared where the function is, not defined: write offsets, as "
          "in *(u32*)(arg0 + 8)",
          shown_);
    if (place_.is_in_two) return fail("'{}' is in two registers", shown_);
    std::vector<std::string> known;
    const auto member = find_member(type_, step.name, known);
    if (!member)
      return fail("'{}' has no member '{}'{}", shown_, step.name,
                  filter::did_you_mean(step.name, known));
    place_.offset += member->offset;
    if (number_of(member->die, DW_AT_bit_size)) bit_field_ = member->die;
    shown_ += (is_arrow ? "->" : ".") + step.name;
    return go_within(member->die);
  }

  // Cuts the bits of a bit-field out of the bytes that are read.
  Result<void> cut_bits(sj_step& read) const {
    const auto bits = number_of(*bit_field_, DW_AT_bit_size).value_or(0);
    const auto at = number_of(*bit_field_, DW_AT_data_bit_offset);
    if (!at || *at > INT32_MAX) return fail("the place of the bits of '{}' is not known", shown_);
    const std::uint64_t low = *at % 8;
    if (bits == 0 || low + bits > 64) return fail("the bits of '{}' are in two places", shown_);
    read.add += static_cast<std::int64_t>(*at / 8);
    read.bytes = low + bits <= 8    ? std::uint8_t{1}
                 : low + bits <= 16 ? std::uint8_t{2}
                 : low + bits <= 32 ? std::uint8_t{4}
                                    : std::uint8_t{8};
    read.low_bit = static_cast<std::uint8_t>(low);
    read.bits = static_cast<std::uint8_t>(bits);
    return {};
  }

  Location place_;
  Dwarf_Die type_;
  std::string shown_;
  std::optional<Dwarf_Die> bit_field_;
  std::size_t dimension_ = 0;  // the array dimension of the next index
};

}  // namespace

Result<ValueStart> follow(Location place, Dwarf_Die type, const MemberPath& path) {
  Walk walk(std::move(place), type, path.argument);
  for (const PathStep& step : path.steps) SJ_CHECK(walk.take(step));
  return walk.end();
}

}  // namespace sojourn::coarse::dwarf
