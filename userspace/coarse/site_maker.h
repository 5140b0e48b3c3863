// Makes the sites of a map's point in a function that was found: at its entry or its exits, with
// the values to read at each. If a site cannot be made, none is, and the error says why. One
// thread; its arguments outlive it.
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

// A site without its file and its point, which are set when it is added.
struct DraftSite {
  model::Point point;
  tracee::Site site;
  MappedSite about;
};

class SiteMaker {
 public:
  // `needs_calls`: the map needs to know which call a point was hit in. `no_return_probes`: why the
  // process can have none; empty: it can.
  struct Settings {
    Options options;
    bool needs_calls = false;
    std::string no_return_probes;
  };

  SiteMaker(const Settings& settings, const tracee::ElfFile& elf, const tracee::MappedFile& file,
            const FoundFunction& function)
      : settings_(settings), elf_(elf), file_(file), function_(function) {}

  Result<std::vector<DraftSite>> make(const MapPoint& mapped) const;
  // Returns whether the function's entry can only be probed at the cost of single steps.
  bool is_slow(const MapPoint& mapped) const;
  // Makes a site at a call of the function in a file, which need not be its own. `home`: its own
  // file.
  Result<DraftSite> make_call(const MapPoint& mapped, const CallSite& call,
                              const std::string& home) const;
  // A span's two points: both, or none.
  Result<std::vector<DraftSite>> make_span(const MapPoint& begin, const MapPoint& end) const;

 private:
  // The place of a probe, of any kind.
  struct ProbeSpot {
    std::uint64_t address = 0;
    std::int64_t stack_bytes = 0;  // by which the stack pointer is lower there than at the entry
    bool is_stepped = false;
    bool has_result = false;  // the function's result is in its register
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
