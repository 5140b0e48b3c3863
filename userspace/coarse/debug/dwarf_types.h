// Questions about types in debug information, one function for each: the type without its typedefs
// and qualifiers, its size, the places of its members. It reads libdw's entries, which a forged
// file may mislead (debug_info.h). No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <elfutils/libdw.h>

#include "analysis/base/result.h"

namespace sojourn::coarse::dwarf {

constexpr unsigned kMaxNesting = 64;  // types within types, code within code
constexpr std::size_t kMaxMembers = 65'536;

std::string name_of(Dwarf_Die die);
// The text of the first of these attributes that the entry has; empty: none.
std::string text_of(Dwarf_Die die, std::initializer_list<unsigned> attributes);
std::optional<std::uint64_t> number_of(Dwarf_Die die, unsigned attribute);
// The entry's type without typedefs and qualifiers.
std::optional<Dwarf_Die> type_of(Dwarf_Die die);
std::optional<std::uint64_t> bytes_of(Dwarf_Die type);

// The address of a function's entry; the first one if it is in several places.
std::optional<std::uint64_t> entry_of(Dwarf_Die function);

bool is_record(Dwarf_Die type);
bool is_pointer(Dwarf_Die type);
bool is_reference(Dwarf_Die type);

// A record that calls pass by its address, as copying or destroying it is more than moving bytes.
bool is_by_reference(Dwarf_Die record, unsigned depth = 0);
// The properties of a record's parts that decide how the ABI passes it.
struct Parts {
  bool are_integers = true;  // or pointers
  bool are_aligned = true;   // each at a multiple of its size
};
Parts parts_of(Dwarf_Die record);
// The number of elements of an array in each dimension; 0: not known.
std::vector<std::uint64_t> counts_of(Dwarf_Die array);

// A numeric type: its size in bytes, and whether it is signed.
struct Number {
  std::uint8_t bytes = 0;
  bool is_signed = false;
};

Result<Number> number_type(Dwarf_Die type);

// Visits children until `take` returns false. False: there are more than `most`.
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

// Also searches base classes and anonymous members.
std::optional<Member> find_member(Dwarf_Die record, const std::string& name,
                                  std::vector<std::string>& known, unsigned depth = 0);

}  // namespace sojourn::coarse::dwarf
