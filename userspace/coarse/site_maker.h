// What a point of a map becomes in a function that was found: the sites of its probes, at the
// function's entry or where it is left, and what is read at each. Nothing is made where something
// stands in the way: the error says what. One thread; lives as long as what it is given.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"
#include "userspace/coarse/code/call_sites.h"
#include "userspace/coarse/code/exits.h"
#include "userspace/coarse/code/prologue.h"
#include "userspace/coarse/functions/function_search.h"
#include "userspace/coarse/map/map_file.h"
#include "userspace/coarse/mapped_points.h"
#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::coarse {

// One site before it has its place among the others: neither its file nor its point are set.
struct DraftSite {
  model::Point point;
  tracee::Site site;
  MappedSite about;
};

class SiteMaker {
 public:
  // `needs_calls`: the map wants to know who was called by whom. `no_return_probes`: why the
  // process can have none; empty where it can.
  struct Settings {
    Options options;
    bool needs_calls = false;
    std::string no_return_probes;
  };

  SiteMaker(const Settings& settings, const tracee::ElfFile& elf, const tracee::MappedFile& file,
            const FoundFunction& function)
      : settings_(settings), elf_(elf), file_(file), function_(function) {}

  Result<std::vector<DraftSite>> make(const MapPoint& mapped) const;
  // The function can be probed where it is entered, but for the single steps that would cost.
  bool is_slow(const MapPoint& mapped) const;
  // Where the file, which need not be the function's own, calls it. `home`: the function's own.
  Result<DraftSite> make_call(const MapPoint& mapped, const CallSite& call,
                              const std::string& home) const;
  // A span's two points: both, or none.
  Result<std::vector<DraftSite>> make_span(const MapPoint& begin, const MapPoint& end) const;

 private:
  // Where a probe goes, however it came about.
  struct ProbeSpot {
    std::uint64_t address = 0;
    std::int64_t stack_bytes = 0;  // by which the stack pointer is lower there than at the entry
    bool is_stepped = false;
    bool has_result = false;  // what the function returns is in its register
    Probe probe = Probe::kEntry;
    std::string instruction;
  };

  Result<DraftSite> make_entry(const MapPoint& mapped) const;
  Result<std::vector<DraftSite>> make_exits(const MapPoint& mapped) const;
  Result<DraftSite> draft(const MapPoint& mapped, const ProbeSpot& spot,
                          std::span<const ValueStart> starts) const;
  Result<void> add_helpers(const MapPoint& mapped, const ProbeSpot& spot, DraftSite& draft) const;
  Result<std::vector<ValueStart>> starts_of(const MapPoint& mapped) const;
  SiteNeeds needs_of(std::span<const ValueStart> starts) const;

  Result<ProbeSpot> entry_spot(const SiteNeeds& needs) const;
  Result<std::vector<ProbeSpot>> exit_spots() const;
  Result<std::vector<std::byte>> read_code(CodeRange code) const;
  Result<FunctionCode> code_of(CodeRange range, std::vector<std::byte>& bytes) const;

  const Settings& settings_;
  const tracee::ElfFile& elf_;
  const tracee::MappedFile& file_;
  const FoundFunction& function_;
};

}  // namespace sojourn::coarse
