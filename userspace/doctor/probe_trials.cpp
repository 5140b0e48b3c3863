#include "userspace/doctor/probe_trials.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "userspace/base/clock.h"
#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/base/forked_child.h"
#include "userspace/capture/api.h"

namespace sojourn::doctor {

namespace {

using capture::Attachment;
using capture::BpfPrograms;
using capture::Mechanism;
using capture::TrialSite;

constexpr std::size_t kRingBytes = 256 * 1024;  // all hits of a trial

// Probes on some addresses of this process.
struct Probed {
  BpfPrograms programs;
  Attachment attachment;

  std::uint64_t hits() const {
    const auto by_cpu = programs.hits();
    return std::accumulate(by_cpu.begin(), by_cpu.end(), std::uint64_t{0});
  }
};

Result<Probed> probe(Mechanism mechanism, std::initializer_list<const char*> addresses) {
  std::vector<capture::Trial> trials;
  for (const char* address : addresses) trials.push_back({address, {}});
  SJ_TRY(points, capture::trial_points(trials));
  SJ_TRY(programs, BpfPrograms::load(points, getpid(), mechanism, kRingBytes));
  SJ_TRY(attachment, Attachment::attach(points, getpid(), mechanism, programs));
  programs.open_gate_at(0);
  return Probed{std::move(programs), std::move(attachment)};
}

// The median of some runs.
std::uint64_t cost_ps(const TrialSite& site, std::uint64_t hits) {
  std::array<std::uint64_t, 7> runs{};
  site.run(hits);
  for (std::uint64_t& run : runs) {
    const std::uint64_t before = base::monotonic_ns();
    site.run(hits);
    run = (base::monotonic_ns() - before) * 1000 / hits;
  }
  std::ranges::sort(runs);
  return runs[runs.size() / 2];
}

// A child that hits the site on request. If it is forked before the attach, its own pages have no
// breakpoint.
class Bystander {
 public:
  explicit Bystander(const TrialSite& site, std::uint64_t hits) {
    int ends[2];
    if (pipe(ends) != 0) return;
    const base::Fd reading(ends[0]);
    go_ = base::Fd(ends[1]);
    pid_ = fork();
    if (pid_ != 0) return;
    go_ = base::Fd();
    char byte = 0;
    if (read(reading.get(), &byte, 1) == 1) site.run(hits);
    _exit(0);
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  ~Bystander() { finish(); }

  bool is_there() const { return pid_ > 0; }
  // Lets it hit the site. False: that killed it.
  bool hit() {
    if (write(go_.get(), "g", 1) != 1) return false;
    return finish();
  }

 private:
  bool finish() {
    if (pid_ <= 0) return false;
    go_ = base::Fd();
    int status = 0;
    const bool waited = waitpid(std::exchange(pid_, -1), &status, 0) > 0;
    return waited && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  base::Fd go_;
  pid_t pid_ = -1;
};

Result<PidAnswer> pid_filter_in_child(Mechanism mechanism) {
  constexpr std::uint64_t kHits = 10;
  const TrialSite& site = capture::plain_sites().front();
  Bystander other(site, kHits);
  SJ_TRY(probed, probe(mechanism, {site.site}));
  std::thread([&] { site.run(kHits); }).join();
  const std::uint64_t of_thread = probed.hits();
  if (!other.is_there() || !other.hit())
    return fail("a process that is not traced did not live on");
  return PidAnswer{.counts_threads = of_thread == kHits,
                   .counts_others = probed.hits() != of_thread};
}

struct NopTrial {
  bool is_optimised;
  bool keeps_red_zone;
  bool keeps_children;
  std::uint64_t hit_ps;
};

// Returns whether the site has a breakpoint, and not another instruction of the kernel's.
bool is_breakpoint(const char* site) {
#if defined(__x86_64__)
  return *reinterpret_cast<const volatile unsigned char*>(site) == 0xcc;
#else
  return site != nullptr;  // no kernel optimises probes there yet
#endif
}

Result<NopTrial> nop_in_child(Mechanism mechanism, const TrialSite& site) {
  constexpr std::uint64_t kHits = 256;
  constexpr int kChildren = 3;
  const auto probed = probe(mechanism, {site.site, site.leaf_site});
  if (!probed) return std::unexpected(probed.error());
  NopTrial trial{};
  trial.hit_ps = cost_ps(site, kHits);
  trial.is_optimised = !is_breakpoint(site.site);
  trial.keeps_red_zone = site.leaf(kHits) == 0;
  trial.keeps_children = true;
  for (int child = 0; child < kChildren; ++child) {
    Bystander forked(site, kHits);
    if (!forked.is_there()) return fail_errno("fork");
    if (!forked.hit()) trial.keeps_children = false;
  }
  return trial;
}

Result<std::uint64_t> stepped_in_child(Mechanism mechanism) {
  const auto probed = probe(mechanism, {capture::stepped_site().site});
  if (!probed) return std::unexpected(probed.error());
  return cost_ps(capture::stepped_site(), 16);
}

}  // namespace

Result<PidAnswer> try_pid_filter(Mechanism mechanism) {
  return base::run_in_child<PidAnswer>([&] { return pid_filter_in_child(mechanism); });
}

Result<NopAnswer> try_nop(Mechanism mechanism, unsigned bytes) {
  const TrialSite* longer = capture::long_nop(bytes);
  const TrialSite& site = longer != nullptr ? *longer : capture::plain_sites().front();
  auto tried = base::run_in_child<NopTrial>([&] { return nop_in_child(mechanism, site); });
  NopAnswer answer{.bytes = bytes, .refused = {}};
  if (!tried) {
    answer.refused = tried.error().text();
    return answer;
  }
  answer.is_optimised = tried->is_optimised;
  answer.keeps_red_zone = tried->keeps_red_zone;
  answer.keeps_children = tried->keeps_children;
  answer.hit_ps = tried->hit_ps;
  return answer;
}

bool may_probe_nop(Mechanism mechanism, unsigned bytes, bool is_emulated) {
  const auto answer = try_nop(mechanism, bytes);
  return answer && answer->may_be_probed(is_emulated);
}

Result<std::uint64_t> try_stepped(Mechanism mechanism) {
  return base::run_in_child<std::uint64_t>([&] { return stepped_in_child(mechanism); });
}

}  // namespace sojourn::doctor
