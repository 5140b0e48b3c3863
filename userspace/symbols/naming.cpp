#include "userspace/symbols/naming.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "analysis/trace/meta.h"
#include "userspace/base/own_child.h"
#include "userspace/symbols/demangle.h"
#include "userspace/symbols/dwarf.h"
#include "userspace/target/procfs.h"

namespace sojourn::symbols {

namespace {

constexpr rlim_t kMostMemory = rlim_t{4} << 30;  // besides what this process has already
constexpr std::size_t kMostAnswer = std::size_t{64} << 20;

std::string symbol_at(const std::vector<target::FunctionSymbol>& functions, std::uint64_t address) {
  auto after = std::ranges::upper_bound(functions, address, {}, &target::FunctionSymbol::address);
  if (after == functions.begin()) return {};
  const target::FunctionSymbol& function = *std::prev(after);
  // Assembly often has no size.
  if (function.bytes != 0 && address - function.address >= function.bytes) return {};
  return demangled(function.name);
}

// "size resident ..." in pages
rlim_t address_space_bytes() {
  const auto text = target::read_whole("/proc/self/statm");
  const auto pages = text ? target::parse_number(text->substr(0, text->find(' '))) : std::nullopt;
  return pages.value_or(0) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

void bound_this_process(std::chrono::milliseconds patience) {
  const rlim_t most = address_space_bytes() + kMostMemory;
  const rlimit memory{most, most};
  const auto seconds = static_cast<rlim_t>(patience.count() / 1000 + 1);
  const rlimit time{seconds, seconds};
  const rlimit none{0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_CORE, &none);
  setpriority(PRIO_PROCESS, 0, 19);
}

Result<void> try_apart(const target::ElfFile& file, Lines lines, std::vector<model::Frame>& frames,
                       std::chrono::milliseconds patience) {
  const auto work = [&] {
    bound_this_process(patience);
    name_frames(file, lines, frames);
    return trace::to_json(model::Profile{.counters = {}, .frames = frames, .stacks = {}});
  };
  SJ_TRY(text, base::text_from_own_child(work, kMostAnswer, patience));
  model::Profile named;
  SJ_CHECK(
      trace::from_json({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, named));
  // Only names come from there: what else the child may have been led to say does not count.
  std::unordered_map<std::uint32_t, std::vector<model::Call>> calls;
  for (model::Frame& frame : named.frames) calls[frame.id] = std::move(frame.calls);
  for (model::Frame& frame : frames)
    if (auto known = calls.find(frame.id); known != calls.end())
      frame.calls = std::move(known->second);
  return {};
}

}  // namespace

void name_frames(const target::ElfFile& file, Lines lines, std::span<model::Frame> frames) {
  const auto functions = file.functions();
  DwarfLines dwarf(lines == Lines::kNo ? -1 : file.fd());
  for (model::Frame& frame : frames) {
    frame.calls.clear();
    if (!file.in_code(frame.address)) continue;
    if (lines != Lines::kNo) frame.calls = dwarf.calls_at(frame.address);
    std::string symbol = functions ? symbol_at(*functions, frame.address) : std::string();
    if (symbol.empty()) continue;
    // The symbol knows which clone of a function this is, debug information who was inlined.
    if (frame.calls.empty()) frame.calls.emplace_back();
    frame.calls.back().function = std::move(symbol);
  }
}

Result<void> name_frames_apart(const target::ElfFile& file, std::vector<model::Frame>& frames,
                               std::chrono::milliseconds patience) {
  if (try_apart(file, Lines::kWhereKnown, frames, patience)) return {};
  return try_apart(file, Lines::kNo, frames, patience);
}

}  // namespace sojourn::symbols
