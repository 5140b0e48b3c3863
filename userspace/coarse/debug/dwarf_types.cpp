#include "userspace/coarse/debug/dwarf_types.h"

#include <dwarf.h>

namespace sojourn::coarse::dwarf {

std::string name_of(Dwarf_Die die) {
  const char* name = dwarf_diename(&die);
  return name == nullptr ? "" : name;
}

std::string text_of(Dwarf_Die die, std::initializer_list<unsigned> attributes) {
  Dwarf_Attribute found;
  for (const unsigned attribute : attributes)
    if (dwarf_attr_integrate(&die, attribute, &found) != nullptr)
      if (const char* text = dwarf_formstring(&found)) return text;
  return {};
}

std::optional<std::uint64_t> number_of(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr_integrate(&die, attribute, &found) == nullptr ||
      dwarf_formudata(&found, &value) != 0)
    return std::nullopt;
  return value;
}

std::optional<Dwarf_Die> type_of(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  Dwarf_Die peeled;
  if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &type) == nullptr || dwarf_peel_type(&type, &peeled) != 0)
    return std::nullopt;
  // The type is in a unit of its own.
  if (dwarf_attr(&peeled, DW_AT_signature, &attribute) != nullptr &&
      dwarf_formref_die(&attribute, &type) != nullptr)
    return type;
  return peeled;
}

std::optional<std::uint64_t> bytes_of(Dwarf_Die type) {
  Dwarf_Word bytes = 0;
  if (dwarf_aggregate_size(&type, &bytes) != 0) return std::nullopt;
  return bytes;
}

std::optional<std::uint64_t> entry_of(Dwarf_Die function) {
  Dwarf_Addr entry = 0;
  if (dwarf_entrypc(&function, &entry) == 0) return entry;
  // A function with a part that is hardly ever run, which gcc puts elsewhere.
  Dwarf_Addr base = 0;
  Dwarf_Addr end = 0;
  if (dwarf_ranges(&function, 0, &base, &entry, &end) <= 0) return std::nullopt;
  return entry;
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

namespace {

std::optional<std::int64_t> member_offset(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  if (dwarf_attr(&die, DW_AT_data_member_location, &attribute) == nullptr) return 0;
  Dwarf_Word value = 0;
  if (dwarf_formudata(&attribute, &value) != 0 || value > INT32_MAX) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

bool is_default(Dwarf_Die function) {
  return number_of(function, DW_AT_defaulted) == DW_DEFAULTED_in_class ||
         number_of(function, DW_AT_artificial).value_or(0) != 0;
}

// The type of a member, or of its elements if it is an array.
std::optional<Dwarf_Die> part_of(Dwarf_Die member) {
  auto type = type_of(member);
  if (type && dwarf_tag(&*type) == DW_TAG_array_type) type = type_of(*type);
  return type;
}

// Returns whether the function has one argument, which is a reference to the record.
bool copies_or_moves(Dwarf_Die function, Dwarf_Die record) {
  unsigned arguments = 0;
  bool is_own = false;
  each_child(function, kMaxMembers, [&](Dwarf_Die child) {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
        number_of(child, DW_AT_artificial).value_or(0) != 0)
      return true;
    ++arguments;
    const auto type = type_of(child);
    auto referred = type && is_reference(*type) ? type_of(*type) : std::nullopt;
    is_own = referred && dwarf_dieoffset(&*referred) == dwarf_dieoffset(&record);
    return true;
  });
  return arguments == 1 && is_own;
}

// Adds the parts of a record that is at offset `at` in the outer one.
void add_parts(Dwarf_Die record, std::int64_t at, Parts& parts, unsigned depth) {
  if (depth > kMaxNesting) parts = {.are_integers = false, .are_aligned = false};
  if (depth > kMaxNesting) return;
  each_child(record, kMaxMembers, [&](Dwarf_Die child) {
    const int tag = dwarf_tag(&child);
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
        number_of(child, DW_AT_external).value_or(0) != 0)
      return true;
    const auto type = part_of(child);
    const auto offset = member_offset(child);
    if (type && offset && is_record(*type)) {
      add_parts(*type, at + *offset, parts, depth + 1);
      return true;
    }
    const auto bytes = type ? bytes_of(*type).value_or(0) : 0;
    const bool is_in_bits = number_of(child, DW_AT_bit_size).has_value();
    const auto place = static_cast<std::uint64_t>(at + offset.value_or(0));
    parts.are_integers = parts.are_integers && type && number_type(*type);
    parts.are_aligned =
        parts.are_aligned && offset && bytes != 0 && (is_in_bits || place % bytes == 0);
    return true;
  });
}

}  // namespace

// gcc does not record this, so the ABI's rule is applied: a record is passed by reference if it, or
// a part of it, has a destructor, a copy or move constructor, or anything virtual.
bool is_by_reference(Dwarf_Die record, unsigned depth) {
  if (const auto convention = number_of(record, DW_AT_calling_convention))
    return convention == DW_CC_pass_by_reference;
  bool is_one = depth > kMaxNesting;
  const std::string own = name_of(record);
  const std::string plain = own.substr(0, own.find('<'));
  each_child(record, kMaxMembers, [&](Dwarf_Die child) {
    const int tag = dwarf_tag(&child);
    const std::string name = name_of(child);
    const bool is_static =
        tag == DW_TAG_member && number_of(child, DW_AT_external).value_or(0) != 0;
    if (is_static) return true;
    if (tag == DW_TAG_subprogram) {
      is_one = !is_default(child) &&
               (name.starts_with('~') || number_of(child, DW_AT_virtuality).value_or(0) != 0 ||
                ((name == own || name == plain) && copies_or_moves(child, record)));
    } else if (tag == DW_TAG_inheritance || tag == DW_TAG_member) {
      const auto type = part_of(child);
      is_one = number_of(child, DW_AT_virtuality).value_or(0) != 0 || name.starts_with("_vptr") ||
               (type && is_record(*type) && is_by_reference(*type, depth + 1));
    }
    return !is_one;
  });
  return is_one;
}

Parts parts_of(Dwarf_Die record) {
  Parts parts;
  add_parts(record, 0, parts, 0);
  return parts;
}

std::vector<std::uint64_t> counts_of(Dwarf_Die array) {
  std::vector<std::uint64_t> counts;
  each_child(array, kMaxMembers, [&](Dwarf_Die child) {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) return true;
    const auto count = number_of(child, DW_AT_count);
    const auto last = number_of(child, DW_AT_upper_bound);
    const bool has_last = last && *last < INT32_MAX;
    counts.push_back(count && *count <= INT32_MAX ? *count : has_last ? *last + 1 : 0);
    return true;
  });
  return counts;
}

std::optional<Member> find_member(Dwarf_Die record, const std::string& name,
                                  std::vector<std::string>& known, unsigned depth) {
  std::optional<Member> found;
  if (depth > kMaxNesting) return found;
  each_child(record, kMaxMembers, [&](Dwarf_Die child) {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) return true;
    const std::string its = tag == DW_TAG_member ? name_of(child) : "";
    const auto offset = member_offset(child);
    // The place of a virtual base is known to the running program only; a static member is not in
    // the object.
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

}  // namespace sojourn::coarse::dwarf
