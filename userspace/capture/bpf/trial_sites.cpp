#include "userspace/capture/bpf/trial_sites.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "userspace/tracee/maps.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

enum { kPlain = 6, kNop3 = kPlain, kNop8, kNop5, kNop10, kStepped, kReturning, kSites };

#if defined(__x86_64__)
constexpr std::uint8_t kScratch = 11;  // words of pt_regs: rcx,
constexpr std::uint8_t kStack = 19;    // rsp
constexpr bool kHasLongNops = true;
#else
constexpr std::uint8_t kScratch = 9;  // x9,
constexpr std::uint8_t kStack = 31;   // sp
constexpr bool kHasLongNops = false;
#endif

}  // namespace

extern "C" __attribute__((visibility("hidden"))) const TrialSite sj_trial_sites[kSites];

std::span<const TrialSite> plain_sites() {
  return std::span(sj_trial_sites).first<kPlain>();
}

const TrialSite* long_nop(unsigned bytes) {
  if (!kHasLongNops) return nullptr;
  switch (bytes) {
    case 3:
      return &sj_trial_sites[kNop3];
    case 5:
      return &sj_trial_sites[kNop5];
    case 8:
      return &sj_trial_sites[kNop8];
    case 10:
      return &sj_trial_sites[kNop10];
    default:
      return nullptr;
  }
}

const TrialSite& stepped_site() {
  return sj_trial_sites[kStepped];
}

const TrialSite& returning_site() {
  return sj_trial_sites[kReturning];
}

sj_arg register_argument() {
  return {.displacement = 0,
          .kind = SJ_ARG_REG,
          .base = kScratch,
          .index = SJ_NO_REG,
          .shift = 0,
          .bytes = 8,
          .is_signed = 0,
          .low_bit = 0,
          .number = 0};
}

sj_arg memory_argument() {
  sj_arg argument = register_argument();
  argument.kind = SJ_ARG_MEMORY;
  argument.base = kStack;
  return argument;
}

Result<tracee::Points> trial_points(std::span<const Trial> trials) {
  SJ_TRY(text, tracee::read_whole("/proc/self/maps"));
  SJ_TRY(mappings, tracee::parse_maps(text));
  tracee::Points points;
  points.files.push_back({.name = "sojourn itself", .path = "/proc/self/exe"});
  for (const Trial& trial : trials) {
    const auto address = reinterpret_cast<std::uint64_t>(trial.site);
    const auto mapping = std::ranges::find_if(
        mappings, [&](const auto& one) { return address >= one.start && address < one.end; });
    if (mapping == mappings.end()) return fail("find this program's own code in /proc/self/maps");
    const auto point = static_cast<model::PointId>(points.schema.points.size());
    model::Point described;
    described.src = "trial";
    described.dest = std::to_string(point);
    points.schema.points.push_back(std::move(described));
    points.sites.push_back({.file = 0,
                            .offset = mapping->offset + (address - mapping->start),
                            .semaphore_offset = 0,
                            .point = point,
                            .args = trial.arguments,
                            .probe = "sojourn:trial"});
  }
  return points;
}

}  // namespace sojourn::capture
