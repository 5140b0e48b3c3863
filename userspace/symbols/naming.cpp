#include "userspace/symbols/naming.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/trace/meta.h"
#include "userspace/symbols/bounded_child.h"
#include "userspace/symbols/demangle.h"
#include "userspace/symbols/dwarf.h"
#include "userspace/symbols/unwind_table.h"

namespace sojourn::symbols {

namespace {

constexpr std::size_t kMaxAnswer = std::size_t{64} << 20;

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);  // all of it where there is no slash
}

std::string symbol_at(const std::vector<tracee::FunctionSymbol>& functions, std::uint64_t address) {
  auto after = std::ranges::upper_bound(functions, address, {}, &tracee::FunctionSymbol::address);
  if (after == functions.begin()) return {};
  const tracee::FunctionSymbol& function = *std::prev(after);
  // Assembly often has no size.
  if (function.bytes != 0 && address - function.address >= function.bytes) return {};
  return demangled(function.name);
}

Result<void> try_apart(const tracee::ElfFile& file, Lines lines, std::vector<model::Frame>& frames,
                       std::chrono::milliseconds processor_time) {
  const auto work = [&] {
    name_frames(file, lines, frames);
    return trace::to_json(model::Profile{.counters = {}, .frames = frames, .stacks = {}});
  };
  SJ_TRY(text, run_in_bounded_child(work, kMaxAnswer, processor_time));
  model::Profile named;
  SJ_CHECK(
      trace::from_json({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, named));
  // Only names are taken from the answer: the child may have been misled about everything else.
  std::unordered_map<std::uint32_t, std::vector<model::FrameFunction>> calls;
  for (model::Frame& frame : named.frames) calls[frame.id] = std::move(frame.calls);
  for (model::Frame& frame : frames)
    if (auto known = calls.find(frame.id); known != calls.end())
      frame.calls = std::move(known->second);
  return {};
}

}  // namespace

void name_frames(const tracee::ElfFile& file, Lines lines, std::span<model::Frame> frames) {
  const auto functions = file.functions();
  DwarfLines dwarf(lines == Lines::kNo ? -1 : file.fd());
  std::optional<UnwindTable> table;  // read if an address has no name
  for (model::Frame& frame : frames) {
    frame.calls.clear();
    if (!file.in_code(frame.address)) continue;
    if (lines != Lines::kNo) frame.calls = dwarf.calls_at(frame.address);
    std::string symbol = functions ? symbol_at(*functions, frame.address) : std::string();
    if (symbol.empty() && frame.calls.empty()) {
      if (!table) table.emplace(file.fd());
      if (const auto range = table->range_at(frame.address))
        symbol = fmt::format("{}+{:#x}", file_name(frame.module), range->address);
    }
    if (symbol.empty()) continue;
    // The symbol shows which clone of a function this is, debug information what was inlined.
    if (frame.calls.empty()) frame.calls.emplace_back();
    frame.calls.back().function = std::move(symbol);
  }
}

Result<void> name_frames_in_child(const tracee::ElfFile& file, std::vector<model::Frame>& frames,
                                  std::chrono::milliseconds processor_time) {
  if (try_apart(file, Lines::kWhereKnown, frames, processor_time)) return {};
  return try_apart(file, Lines::kNo, frames, processor_time);
}

}  // namespace sojourn::symbols
