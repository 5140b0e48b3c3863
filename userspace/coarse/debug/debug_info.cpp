#include "userspace/coarse/debug/debug_info.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/ranges.h>

#include "analysis/filter/keywords.h"
#include "userspace/coarse/debug/dwarf_types.h"
#include "userspace/coarse/debug/location.h"
#include "userspace/coarse/debug/member_path.h"
#include "userspace/symbols/dwarf_units.h"

namespace sojourn::coarse {

namespace {

constexpr std::size_t kMaxParameters = 256;

// Returns the unit's contents in a .dwo file (-gsplit-dwarf), if libdw finds it beside the program
// or where it was compiled; else the unit itself, which has little.
Dwarf_Die whole_unit(Dwarf_Die unit) {
  Dwarf_Die split{};
  const bool has_split =
      dwarf_cu_info(unit.cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
      split.addr != nullptr;
  return has_split ? split : unit;
}

}  // namespace

struct DebugInfo::State {
  symbols::OwnedDwarf dwarf;
  symbols::DwarfUnits units;

  std::optional<Dwarf_Die> function_at(std::uint64_t address) const;
  std::string why_unknown(std::uint64_t address) const;
  static bool find_function(Dwarf_Die within, std::uint64_t address, Dwarf_Die& found,
                            unsigned depth);
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
  dwarf::each_child(within, SIZE_MAX, [&](Dwarf_Die child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram && dwarf::entry_of(child) == address) {
      found = child;
      is_found = true;
    } else if (tag == DW_TAG_namespace && depth < dwarf::kMaxNesting) {
      is_found = find_function(child, address, found, depth + 1);
    }
    return !is_found;
  });
  return is_found;
}

std::optional<Dwarf_Die> DebugInfo::State::function_at(std::uint64_t address) const {
  Dwarf_Die unit;
  Dwarf_Die found;
  if (!units.unit_at(address, unit) || !find_function(whole_unit(unit), address, found, 0))
    return std::nullopt;
  return found;
}

std::string DebugInfo::State::why_unknown(std::uint64_t address) const {
  Dwarf_Die unit;
  Dwarf_Die child;
  const bool is_empty = units.unit_at(address, unit) && dwarf_child(&unit, &child) != 0 &&
                        whole_unit(unit).addr == unit.addr;
  if (!is_empty) return {};
  const auto file = dwarf::text_of(unit, {DW_AT_dwo_name, DW_AT_GNU_dwo_name});
  return file.empty() ? "" : fmt::format(": it is in {}, which is not there", file);
}

Result<ValueStart> DebugInfo::find(std::uint64_t function, std::string_view path,
                                   bool is_changed_clone) const {
  SJ_TRY(parsed, dwarf::parse_path(path));
  if (!is_there())
    return fail(
        "'{}': the file has no debug information: give a register and an "
        "offset, as in *(u32*)(arg0 + 8)",
        path);
  const auto die = state_->function_at(function);
  if (!die)
    return fail("'{}': debug information does not know the function{}", path,
                state_->why_unknown(function));
  std::vector<Dwarf_Die> parameters;
  dwarf::each_child(*die, dwarf::kMaxMembers, [&](Dwarf_Die child) {
    if (dwarf_tag(&child) == DW_TAG_formal_parameter) parameters.push_back(child);
    return parameters.size() < kMaxParameters;
  });
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (const Dwarf_Die& parameter : parameters) names.push_back(dwarf::name_of(parameter));
  const auto found = std::ranges::find(names, parsed.argument);
  if (found == names.end())
    return fail("the function has no argument '{}'{}; it has: {}", parsed.argument,
                filter::did_you_mean(parsed.argument, names),
                names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  const auto number = static_cast<std::size_t>(found - names.begin());
  const auto type = dwarf::type_of(parameters[number]);
  if (!type) return fail("the type of '{}' is not known", parsed.argument);
  if (auto place = dwarf::located(*die, parameters[number], function))
    return dwarf::follow(std::move(*place), *type, parsed);
  if (is_changed_clone)
    return fail("the place of '{}' at the entry of this clone is not known", parsed.argument);
  auto place = dwarf::placed(*die, number, parameters);
  if (!place)
    return fail("the place of '{}' is not known: {}", parsed.argument, place.error().text());
  return dwarf::follow(std::move(*place), *type, parsed);
}

void DebugInfo::State::add_inlined(Dwarf_Die within, const std::string& into, std::size_t most,
                                   std::vector<InlinedCall>& calls, unsigned depth) {
  dwarf::each_child(within, SIZE_MAX, [&](Dwarf_Die child) {
    if (calls.size() >= most || depth > dwarf::kMaxNesting) return false;
    const int tag = dwarf_tag(&child);
    const auto linked = [&] {
      std::string text = dwarf::text_of(child, {DW_AT_linkage_name, DW_AT_MIPS_linkage_name});
      return text.empty() ? dwarf::name_of(child) : text;
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
      State::add_inlined(whole_unit(unit), "", most, calls, 0);
    if (next <= at) break;
    at = next;
  }
  return calls;
}

}  // namespace sojourn::coarse
