#include "userspace/symbols/dwarf.h"

#include <cstdlib>
#include <string>
#include <utility>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "userspace/symbols/demangle.h"
#include "userspace/symbols/dwarf_units.h"

namespace sojourn::symbols {

namespace {

constexpr std::size_t kMaxInlined = 64;  // nested inlined functions at one address

struct FreeDies {
  void operator()(Dwarf_Die* dies) const { std::free(dies); }
};
using Dies = std::unique_ptr<Dwarf_Die[], FreeDies>;

std::string name_of(Dwarf_Die& die) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute found;
    if (dwarf_attr_integrate(&die, attribute, &found) == nullptr) continue;
    if (const char* name = dwarf_formstring(&found)) return demangled(name);
  }
  const char* name = dwarf_diename(&die);
  return name == nullptr ? "" : name;
}

std::uint64_t number_of(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, attribute, &found) == nullptr || dwarf_formudata(&found, &value) != 0)
    return 0;
  return value;
}

std::uint32_t line_from(std::uint64_t value) {
  return value > UINT32_MAX ? 0 : static_cast<std::uint32_t>(value);
}

}  // namespace

struct DwarfLines::State {
  OwnedDwarf dwarf;
  DwarfUnits units;

  static void set_line_of_address(Dwarf_Die& unit, std::uint64_t address,
                                  model::FrameFunction& call);
  static void set_call_site(Dwarf_Die& unit, Dwarf_Die& inlined, model::FrameFunction& caller);
};

void DwarfLines::State::set_line_of_address(Dwarf_Die& unit, std::uint64_t address,
                                            model::FrameFunction& call) {
  Dwarf_Line* line = dwarf_getsrc_die(&unit, address);
  int number = 0;
  if (line == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) return;
  const char* file = dwarf_linesrc(line, nullptr, nullptr);
  if (file == nullptr) return;
  call.file = file;
  call.line = static_cast<std::uint32_t>(number);
}

// Sets the place of the inlined function's call, in the function that contains it.
void DwarfLines::State::set_call_site(Dwarf_Die& unit, Dwarf_Die& inlined,
                                      model::FrameFunction& caller) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  const std::uint64_t file = number_of(inlined, DW_AT_call_file);
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || file >= count) return;
  const char* name = dwarf_filesrc(files, file, nullptr, nullptr);
  if (name == nullptr) return;
  caller.file = name;
  caller.line = line_from(number_of(inlined, DW_AT_call_line));
}

DwarfLines::DwarfLines(int fd) : state_(std::make_unique<State>()) {
  state_->dwarf.reset(dwarf_begin(fd, DWARF_C_READ));
  if (state_->dwarf) state_->units = DwarfUnits(state_->dwarf.get());
}
DwarfLines::DwarfLines(DwarfLines&&) noexcept = default;
DwarfLines& DwarfLines::operator=(DwarfLines&&) noexcept = default;
DwarfLines::~DwarfLines() = default;

std::vector<model::FrameFunction> DwarfLines::calls_at(std::uint64_t address) {
  std::vector<model::FrameFunction> calls;
  Dwarf_Die unit;
  if (!state_->units.unit_at(address, unit)) return calls;
  Dwarf_Die* found = nullptr;
  const int lexical = dwarf_getscopes(&unit, address, &found);
  const Dies by_address(found);
  if (lexical <= 0) return calls;
  // From the innermost scope outwards, by the code's nesting and not by the source's.
  found = nullptr;
  const int count = dwarf_getscopes_die(&by_address[0], &found);
  const Dies scopes(found);
  Dwarf_Die* inner = nullptr;
  for (int at = 0; at < count && calls.size() < kMaxInlined; ++at) {
    Dwarf_Die& scope = scopes[static_cast<std::size_t>(at)];
    const int tag = dwarf_tag(&scope);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    model::FrameFunction& call = calls.emplace_back();
    call.function = name_of(scope);
    if (inner == nullptr)
      State::set_line_of_address(unit, address, call);
    else
      State::set_call_site(unit, *inner, call);
    if (tag == DW_TAG_subprogram) break;
    inner = &scope;
  }
  return calls;
}

}  // namespace sojourn::symbols
