#include "userspace/coarse/debug/types.h"

#include <dwarf.h>

namespace sojourn::coarse::dwarf {

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

}  // namespace

std::optional<Member> find_member(Dwarf_Die record, const std::string& name,
                                  std::vector<std::string>& known, unsigned depth) {
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

}  // namespace sojourn::coarse::dwarf
