#include "userspace/coarse/debug_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/ranges.h>

#include "analysis/filter/words.h"
#include "userspace/symbols/dwarf_units.h"

namespace sojourn::coarse {

namespace {

constexpr unsigned kDeepest = 64;  // types within types, code within code
constexpr std::size_t kMostParameters = 256;
constexpr std::size_t kMostMembers = 65'536;

// DWARF's numbers of registers, as words of pt_regs: rax rdx rcx rbx rsi rdi rbp rsp r8-r15.
constexpr std::array<std::uint8_t, 16> kWords = {10, 12, 11, 5, 13, 14, 4, kStackPointer,
                                                 9,  8,  7,  6, 3,  2,  1, 0};
// The frame's address, as debug information counts: what the stack pointer was before the call.
constexpr std::int64_t kReturnAddressBytes = 8;

std::string name_of(Dwarf_Die die) {
  const char* name = dwarf_diename(&die);
  return name == nullptr ? "" : name;
}

std::optional<std::uint64_t> number_of(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr_integrate(&die, attribute, &found) == nullptr ||
      dwarf_formudata(&found, &value) != 0)
    return std::nullopt;
  return value;
}

// Without its name and qualifiers.
std::optional<Dwarf_Die> type_of(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  Dwarf_Die peeled;
  if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &type) == nullptr || dwarf_peel_type(&type, &peeled) != 0)
    return std::nullopt;
  return peeled;
}

std::optional<std::uint64_t> bytes_of(Dwarf_Die type) {
  Dwarf_Word bytes = 0;
  if (dwarf_aggregate_size(&type, &bytes) != 0) return std::nullopt;
  return bytes;
}

bool is_record(Dwarf_Die type) {
  const int tag = dwarf_tag(&type);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}
bool is_pointer(Dwarf_Die type) {
  return dwarf_tag(&type) == DW_TAG_pointer_type;
}
bool is_reference(Dwarf_Die type) {
  const int tag = dwarf_tag(&type);
  return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

// A type that is one number: how many bytes, and whether it has a sign.
struct Number {
  std::uint8_t bytes = 0;
  bool is_signed = false;
};

Result<Number> number_type(Dwarf_Die type) {
  if (is_pointer(type) || is_reference(type)) return Number{.bytes = 8, .is_signed = false};
  const int tag = dwarf_tag(&type);
  const auto bytes = bytes_of(type);
  if (tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type)
    return fail("is no number{}", is_record(type) ? ": name a member of it" : "");
  if (!bytes || (*bytes != 1 && *bytes != 2 && *bytes != 4 && *bytes != 8))
    return fail("is no number of 1, 2, 4 or 8 bytes");
  const auto encoding = number_of(type, DW_AT_encoding);
  if (tag == DW_TAG_base_type && encoding != DW_ATE_boolean && encoding != DW_ATE_unsigned &&
      encoding != DW_ATE_signed && encoding != DW_ATE_signed_char &&
      encoding != DW_ATE_unsigned_char && encoding != DW_ATE_UTF)
    return fail("is no integer");
  bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
  if (tag == DW_TAG_enumeration_type)
    if (const auto underlying = type_of(type)) {
      const auto its = number_of(*underlying, DW_AT_encoding);
      is_signed = its == DW_ATE_signed || its == DW_ATE_signed_char;
    }
  return Number{.bytes = static_cast<std::uint8_t>(*bytes), .is_signed = is_signed};
}

template <typename Take>
bool each_child(Dwarf_Die die, std::size_t most, Take take) {
  Dwarf_Die child;
  if (dwarf_child(&die, &child) != 0) return true;
  do {
    if (most-- == 0) return false;
    if (!take(child)) return true;
  } while (dwarf_siblingof(&child, &child) == 0);
  return true;
}

struct Member {
  Dwarf_Die die;
  std::int64_t offset = 0;
};

std::optional<std::int64_t> member_offset(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  if (dwarf_attr(&die, DW_AT_data_member_location, &attribute) == nullptr) return 0;
  Dwarf_Word value = 0;
  if (dwarf_formudata(&attribute, &value) != 0 || value > INT32_MAX) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// Also of base classes, and of records without a name.
std::optional<Member> find_member(Dwarf_Die record, const std::string& name,
                                  std::vector<std::string>& known, unsigned depth = 0) {
  std::optional<Member> found;
  if (depth > kDeepest) return found;
  each_child(record, kMostMembers, [&](Dwarf_Die child) {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) return true;
    const std::string its = tag == DW_TAG_member ? name_of(child) : "";
    const auto offset = member_offset(child);
    // A virtual base is where only the running program knows, a static member nowhere in it.
    const bool is_here = offset && number_of(child, DW_AT_virtuality).value_or(0) == 0 &&
                         number_of(child, DW_AT_external).value_or(0) == 0;
    if (!is_here) return true;
    if (!its.empty()) {
      known.push_back(its);
      if (its == name) found = Member{child, *offset};
    } else if (const auto inner = type_of(child); inner && is_record(*inner)) {
      found = find_member(*inner, name, known, depth + 1);
      if (found) found->offset += *offset;
    }
    return !found;
  });
  return found;
}

// One step of a path: "->name", ".name", "[3]".
struct Step {
  enum class Kind { kArrow, kDot, kElement } kind = Kind::kDot;
  std::string name;
  std::uint64_t index = 0;
};

struct Path {
  std::string argument;
  std::vector<Step> steps;
};

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The expression's parser has let nothing else through.
Result<Path> parse_path(std::string_view text) {
  Path path;
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
      path.steps.push_back({.kind = Step::Kind::kArrow, .name = take_word()});
    } else if (text.starts_with(".")) {
      text.remove_prefix(1);
      path.steps.push_back({.kind = Step::Kind::kDot, .name = take_word()});
    } else if (text.starts_with("[")) {
      Step step{.kind = Step::Kind::kElement, .name = {}};
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

// A place in the program's data: in a register itself, or at an address that the start leads to.
struct Place {
  Start start;
  std::int64_t offset = 0;  // added to the address
  bool is_value = false;    // the start is the value, not its address
};

// Which arguments are in integer registers and which on the stack, by the ABI, one after the other.
class Arguments {
 public:
  // How a result that is too large for registers is returned takes the first of them.
  static Result<Arguments> of(Dwarf_Die function) {
    Arguments arguments;
    const auto result = type_of(function);
    if (result && is_record(*result)) {
      const auto bytes = bytes_of(*result);
      if (!bytes) return fail("how it returns its result is not known");
      if (is_by_reference(*result) || *bytes > 16) ++arguments.integers_;
    }
    return arguments;
  }

  Result<Place> next(Dwarf_Die parameter) {
    const auto type = type_of(parameter);
    if (!type) return fail("its type is not known");
    if (is_record(*type)) return next_record(*type);
    const auto bytes = bytes_of(*type);
    const auto encoding = number_of(*type, DW_AT_encoding);
    if (encoding == DW_ATE_float || encoding == DW_ATE_complex_float) return next_float(bytes);
    if (!is_pointer(*type) && !is_reference(*type) && (!bytes || *bytes > 8))
      return fail("it takes more than one register");
    return Place{.start = start_of_argument(next_integer()), .is_value = true};
  }

 private:
  static bool is_by_reference(Dwarf_Die record) {
    return number_of(record, DW_AT_calling_convention) == DW_CC_pass_by_reference;
  }

  // Those beyond the registers stand among what else is on the stack.
  unsigned next_integer() { return integers_ < 6 ? integers_++ : 6 + stack_words_++; }

  Result<Place> next_record(Dwarf_Die type) {
    if (is_by_reference(type)) return Place{.start = start_of_argument(next_integer())};
    const auto bytes = bytes_of(type);
    if (!bytes || *bytes <= 16 || *bytes > 1 << 20) return fail("it is passed in pieces");
    const std::int64_t at = kReturnAddressBytes + 8 * static_cast<std::int64_t>(stack_words_);
    stack_words_ += static_cast<unsigned>((*bytes + 7) / 8);
    return Place{.start = {.base = kStackPointer, .steps = {}}, .offset = at};
  }

  Result<Place> next_float(std::optional<std::uint64_t> bytes) {
    if (!bytes || *bytes > 8) return fail("it is a wide floating-point number");
    if (floats_ < 8)
      ++floats_;
    else
      ++stack_words_;
    Place place;
    place.is_value = true;
    return place;
  }

  unsigned integers_ = 0;
  unsigned floats_ = 0;
  unsigned stack_words_ = 0;
};

}  // namespace

struct DebugInfo::State {
  symbols::OwnedDwarf dwarf;
  symbols::DwarfUnits units;

  std::optional<Dwarf_Die> function_at(std::uint64_t address) const;
  static bool find_function(Dwarf_Die within, std::uint64_t address, Dwarf_Die& found,
                            unsigned depth);
  static std::optional<Place> located(Dwarf_Die function, Dwarf_Die parameter,
                                      std::uint64_t address);
  static Result<Place> placed(Dwarf_Die function, std::size_t number,
                              std::span<const Dwarf_Die> parameters);
  static Result<Start> follow(Place place, Dwarf_Die type, const Path& path);
  static void add_inlined(Dwarf_Die within, const std::string& into, std::size_t most,
                          std::vector<InlinedCall>& calls, unsigned depth);
};

DebugInfo::DebugInfo(int fd) : state_(std::make_unique<State>()) {
  state_->dwarf.reset(dwarf_begin(fd, DWARF_C_READ));
  if (state_->dwarf) state_->units = symbols::DwarfUnits(state_->dwarf.get());
}
DebugInfo::DebugInfo(DebugInfo&&) noexcept = default;
DebugInfo& DebugInfo::operator=(DebugInfo&&) noexcept = default;
DebugInfo::~DebugInfo() = default;

bool DebugInfo::is_there() const {
  return state_->dwarf != nullptr;
}

bool DebugInfo::State::find_function(Dwarf_Die within, std::uint64_t address, Dwarf_Die& found,
                                     unsigned depth) {
  bool is_found = false;
  each_child(within, SIZE_MAX, [&](Dwarf_Die child) {
    const int tag = dwarf_tag(&child);
    Dwarf_Addr entry = 0;
    if (tag == DW_TAG_subprogram && dwarf_entrypc(&child, &entry) == 0 && entry == address) {
      found = child;
      is_found = true;
    } else if (tag == DW_TAG_namespace && depth < kDeepest) {
      is_found = find_function(child, address, found, depth + 1);
    }
    return !is_found;
  });
  return is_found;
}

std::optional<Dwarf_Die> DebugInfo::State::function_at(std::uint64_t address) const {
  Dwarf_Die unit;
  Dwarf_Die found;
  if (!units.unit_at(address, unit) || !find_function(unit, address, found, 0)) return std::nullopt;
  return found;
}

// Where debug information itself says that the argument is, right at the entry.
std::optional<Place> DebugInfo::State::located(Dwarf_Die function, Dwarf_Die parameter,
                                               std::uint64_t address) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_attr_integrate(&parameter, DW_AT_location, &attribute) == nullptr ||
      dwarf_getlocation_addr(&attribute, address, &operations, &count, 1) != 1 || count == 0)
    return std::nullopt;
  const Dwarf_Op& first = operations[0];
  const bool is_stack_value = count == 2 && operations[1].atom == DW_OP_stack_value;
  if (count != 1 && !is_stack_value) return std::nullopt;
  if (first.atom >= DW_OP_reg0 && first.atom <= DW_OP_reg15)
    return Place{.start = {.base = kWords[first.atom - DW_OP_reg0], .steps = {}}, .is_value = true};
  if (first.atom >= DW_OP_breg0 && first.atom <= DW_OP_breg15) {
    // Of the own frame pointer nothing is known yet.
    const auto number = static_cast<std::size_t>(first.atom - DW_OP_breg0);
    const auto offset = static_cast<std::int64_t>(first.number);
    constexpr std::size_t kFramePointer = 6;
    if (number == kFramePointer) return std::nullopt;
    Place place{.start = {.base = kWords[number], .steps = {}}, .offset = offset};
    if (is_stack_value) {
      place.is_value = true;
      place.offset = 0;
      if (offset != 0) place.start.steps.push_back(only_add(offset));
    }
    return place;
  }
  if (first.atom != DW_OP_fbreg || is_stack_value) return std::nullopt;
  // What lies above the frame the caller has put there; the frame itself is not filled yet.
  Dwarf_Attribute base;
  Dwarf_Op* base_operations = nullptr;
  std::size_t base_count = 0;
  const auto offset = static_cast<std::int64_t>(first.number);
  if (offset < 0 || dwarf_attr_integrate(&function, DW_AT_frame_base, &base) == nullptr ||
      dwarf_getlocation_addr(&base, address, &base_operations, &base_count, 1) != 1 ||
      base_count != 1 || base_operations[0].atom != DW_OP_call_frame_cfa)
    return std::nullopt;
  return Place{.start = {.base = kStackPointer, .steps = {}},
               .offset = kReturnAddressBytes + offset};
}

// Where the ABI puts it.
Result<Place> DebugInfo::State::placed(Dwarf_Die function, std::size_t number,
                                       std::span<const Dwarf_Die> parameters) {
  SJ_TRY(arguments, Arguments::of(function));
  for (std::size_t at = 0; at < number; ++at)
    if (const auto before = arguments.next(parameters[at]); !before)
      return fail("of '{}' before it is not known where it is: {}", name_of(parameters[at]),
                  before.error().text());
  return arguments.next(parameters[number]);
}

Result<Start> DebugInfo::State::follow(Place place, Dwarf_Die type, const Path& path) {
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
  for (const Step& step : path.steps) {
    bit_field.reset();
    if (is_reference(type)) {
      go();
      SJ_TRY(referred, type_within(type));
      type = referred;
    }
    if (step.kind == Step::Kind::kElement) {
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
    if (step.kind == Step::Kind::kArrow) {
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
    shown += (step.kind == Step::Kind::kArrow ? "->" : ".") + step.name;
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

Result<Start> DebugInfo::find(std::uint64_t function, std::string_view path,
                              bool is_changed_clone) const {
  SJ_TRY(parsed, parse_path(path));
  if (!is_there())
    return fail(
        "'{}': the file has no debug information: give a register and an "
        "offset, as in *(u32*)(arg0 + 8)",
        path);
  const auto die = state_->function_at(function);
  if (!die) return fail("'{}': debug information does not know the function", path);
  std::vector<Dwarf_Die> parameters;
  each_child(*die, kMostMembers, [&](Dwarf_Die child) {
    if (dwarf_tag(&child) == DW_TAG_formal_parameter) parameters.push_back(child);
    return parameters.size() < kMostParameters;
  });
  std::vector<std::string> names;
  for (const Dwarf_Die& parameter : parameters) names.push_back(name_of(parameter));
  const auto found = std::ranges::find(names, parsed.argument);
  if (found == names.end())
    return fail("the function has no argument '{}'{}; it has: {}", parsed.argument,
                filter::did_you_mean(parsed.argument, names),
                names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  const auto number = static_cast<std::size_t>(found - names.begin());
  const auto type = type_of(parameters[number]);
  if (!type) return fail("what '{}' is is not known", parsed.argument);
  if (auto place = State::located(*die, parameters[number], function))
    return State::follow(std::move(*place), *type, parsed);
  if (is_changed_clone)
    return fail("where '{}' is at the entry of this clone is not known", parsed.argument);
  auto place = State::placed(*die, number, parameters);
  if (!place) return fail("where '{}' is is not known: {}", parsed.argument, place.error().text());
  return State::follow(std::move(*place), *type, parsed);
}

void DebugInfo::State::add_inlined(Dwarf_Die within, const std::string& into, std::size_t most,
                                   std::vector<InlinedCall>& calls, unsigned depth) {
  each_child(within, SIZE_MAX, [&](Dwarf_Die child) {
    if (calls.size() >= most || depth > kDeepest) return false;
    const int tag = dwarf_tag(&child);
    const auto linked = [&] {
      Dwarf_Attribute attribute;
      for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
        if (dwarf_attr_integrate(&child, name, &attribute) != nullptr)
          if (const char* text = dwarf_formstring(&attribute)) return std::string(text);
      return name_of(child);
    };
    if (tag == DW_TAG_subprogram) {
      add_inlined(child, linked(), most, calls, depth + 1);
    } else if (tag == DW_TAG_inlined_subroutine) {
      calls.push_back({.linked = linked(), .into = into});
      add_inlined(child, into, most, calls, depth + 1);
    } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_namespace) {
      add_inlined(child, into, most, calls, depth + 1);
    }
    return true;
  });
}

std::vector<InlinedCall> DebugInfo::inlined_calls(std::size_t most) const {
  std::vector<InlinedCall> calls;
  if (!is_there()) return calls;
  Dwarf_Off at = 0;
  Dwarf_Off next = 0;
  std::size_t header_bytes = 0;
  while (calls.size() < most && dwarf_nextcu(state_->dwarf.get(), at, &next, &header_bytes, nullptr,
                                             nullptr, nullptr) == 0) {
    Dwarf_Die unit;
    if (dwarf_offdie(state_->dwarf.get(), at + header_bytes, &unit) != nullptr)
      State::add_inlined(unit, "", most, calls, 0);
    if (next <= at) break;
    at = next;
  }
  return calls;
}

}  // namespace sojourn::coarse
