#include "userspace/coarse/code/cold_parts.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include <elf.h>

#include "userspace/coarse/code/instruction_decoder.h"

namespace sojourn::coarse {

namespace {

constexpr std::size_t kMaxPieces = 16;
constexpr std::uint64_t kMaxColdCode = 1 << 20;

// A direct jump out of some code.
struct WayOut {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

// The ways out of a piece of code, except calls that never return.
struct Ways {
  std::vector<WayOut> jumps;
  bool has_others = false;  // it returns, or jumps to an unknown address
};

std::optional<Ways> ways_out(const tracee::ElfFile& file, CodeRange code) {
  const auto offset = file.file_offset(code.address, code.bytes, PF_X);
  if (!offset || code.bytes > kMaxColdCode) return std::nullopt;
  std::vector<std::byte> bytes(code.bytes);
  if (!file.read(*offset, bytes)) return std::nullopt;
  const InstructionDecoder decoder;
  Ways ways;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto one = decoder.decode(std::span(bytes).subspan(at));
    if (!one) return std::nullopt;
    const std::uint64_t from = code.address + at;
    if (const auto to = one->jumps_to(from); to && !code.holds(*to))
      ways.jumps.push_back({from, *to});
    else if ((one->is_jump() && !to) || one->what.meta.category == ZYDIS_CATEGORY_RET)
      ways.has_others = true;
    at += one->what.length;
  }
  return ways;
}

// False in the linker's stubs, which are one entry of the table.
bool is_of_program(const tracee::ElfFile& file, std::uint64_t address) {
  return std::ranges::any_of(file.sections(), [&](const tracee::Section& one) {
    return one.name.starts_with(".text") && address >= one.address &&
           address - one.address < one.bytes;
  });
}

// Code belongs to the function if it jumps into its middle, as no function jumps into another's.
// Code that never returns may be taken for a part in any case: no exit is missed by that.
bool belongs_to(const tracee::ElfFile& file, CodeRange code, CodeRange function) {
  const auto ways = ways_out(file, code);
  if (!ways) return false;
  const auto leads_back = [&](const WayOut& way) {
    return way.to != function.address && function.holds(way.to);
  };
  return std::ranges::any_of(ways->jumps, leads_back) || (ways->jumps.empty() && !ways->has_others);
}

}  // namespace

std::vector<CodeRange> find_cold_parts(const tracee::ElfFile& file,
                                       const std::function<const UnwindTable&()>& table,
                                       CodeRange function,
                                       const std::function<bool(CodeRange)>& has_name) {
  std::vector<CodeRange> own = {function};
  for (std::size_t at = 0; at < own.size() && own.size() <= kMaxPieces; ++at) {
    const auto ways = ways_out(file, own[at]);
    if (!ways) continue;
    for (const WayOut& way : ways->jumps) {
      const auto is_there = [&](const CodeRange& one) { return one.holds(way.to); };
      if (std::ranges::any_of(own, is_there)) continue;
      if (has_name({way.to, 1}) || !is_of_program(file, way.to)) continue;
      const auto code = table().range_at(way.to);
      if (!code || has_name(*code)) continue;
      // Code that is entered in its middle, or with a frame, is not the beginning of a function.
      if (way.to != code->address || table().has_frame_at(way.to) ||
          belongs_to(file, *code, function))
        own.push_back(*code);
    }
  }
  own.erase(own.begin());
  return own;
}

}  // namespace sojourn::coarse
