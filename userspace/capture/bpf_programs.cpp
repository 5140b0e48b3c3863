#include "userspace/capture/bpf_programs.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include "bpf/events.h"
#include "sojourn_points.skel.h"
#include "userspace/base/fd.h"

namespace sojourn::capture {

namespace {

struct DestroySkeleton {
  void operator()(sojourn_points* skeleton) const { sojourn_points__destroy(skeleton); }
};
using Skeleton = std::unique_ptr<sojourn_points, DestroySkeleton>;

// The verifier's last line says what it refused; the thousands before it say how it came there.
std::string_view last_line(std::string_view log) {
  while (log.ends_with('\n')) log.remove_suffix(1);
  const auto before = log.find_last_of('\n');
  return before == std::string_view::npos ? log : log.substr(before + 1);
}

Error load_error(int code, const std::string& verifier_log) {
  if (code == EPERM)
    return Error(
        "load the BPF programs: Operation not permitted: run as root, or give this program "
        "CAP_BPF and CAP_PERFMON (setcap cap_bpf,cap_perfmon+ep)");
  const std::string_view detail = last_line(verifier_log.c_str());
  return Error(fmt::format("load the BPF programs: {}{}{}", std::generic_category().message(code),
                           detail.empty() ? "" : ": ", detail));
}

}  // namespace

struct BpfPrograms::State {
  std::string verifier_log;  // libbpf keeps a pointer to it
  Skeleton skeleton;
  Mechanism mechanism = Mechanism::kUprobeMulti;
  std::vector<base::Fd> rings;
  std::vector<int> ring_fds;
  std::vector<model::PointId> point_of_site;
};

BpfPrograms::BpfPrograms(std::unique_ptr<State> state) : state_(std::move(state)) {}
BpfPrograms::BpfPrograms(BpfPrograms&&) noexcept = default;
BpfPrograms& BpfPrograms::operator=(BpfPrograms&&) noexcept = default;
BpfPrograms::~BpfPrograms() = default;

namespace {

Result<void> fill_sites(const sojourn_points& skeleton, const target::Points& points) {
  const int fd = bpf_map__fd(skeleton.maps.sites);
  for (std::uint32_t index = 0; index < points.sites.size(); ++index) {
    const target::Site& site = points.sites[index];
    sj_site record = {};
    record.point = site.point;
    record.args = static_cast<std::uint32_t>(site.args.size());
    std::ranges::copy(site.args, record.arg);
    if (bpf_map_update_elem(fd, &index, &record, BPF_ANY) != 0)
      return fail_errno("describe site {} to the BPF programs", site.probe);
  }
  return {};
}

// Rings must hold what comes while this process is kept from its CPU: 16 MiB are 200 ms of a
// million events a second. Many CPUs share 256 MiB.
std::size_t default_ring_bytes(std::size_t cpus) {
  constexpr std::size_t kMost = 16 << 20;
  constexpr std::size_t kAll = 256 << 20;
  return std::bit_floor(std::min(kMost, kAll / cpus));
}

Result<std::size_t> ring_size(std::size_t wanted, std::size_t cpus) {
  if (wanted == 0) return default_ring_bytes(cpus);
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kLimit = std::size_t{1} << 30;
  if (!std::has_single_bit(wanted) || wanted < kPage || wanted > kLimit)
    return fail("a ring of {} bytes: the kernel wants a power of two from 4 KiB to 1 GiB", wanted);
  return wanted;
}

Result<void> hand_ring(const sojourn_points& skeleton, int cpu, int ring) {
  if (bpf_map_update_elem(bpf_map__fd(skeleton.maps.rings), &cpu, &ring, BPF_ANY) != 0)
    return fail_errno("hand CPU {} its ring buffer", cpu);
  return {};
}

// One ring buffer a possible CPU, so that no two CPUs ever contend for one.
Result<std::vector<base::Fd>> make_rings(const sojourn_points& skeleton, int cpus,
                                         std::size_t bytes) {
  std::vector<base::Fd> rings;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    base::Fd ring(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "sj_ring", 0, 0,
                                 static_cast<std::uint32_t>(bytes), nullptr));
    if (!ring) return fail_errno("make a ring buffer of {} bytes for CPU {}", bytes, cpu);
    SJ_CHECK(hand_ring(skeleton, cpu, ring.get()));
    rings.push_back(std::move(ring));
  }
  return rings;
}

}  // namespace

Result<BpfPrograms> BpfPrograms::load(const target::Points& points, pid_t pid, Mechanism mechanism,
                                      std::size_t ring_bytes) {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0 || cpus > SJ_MAX_CPUS)
    return fail("count the CPUs: {} is not between 1 and {}", cpus, SJ_MAX_CPUS);
  if (points.sites.empty() || points.sites.size() > SJ_MAX_SITES)
    return fail("{} sites: between 1 and {} can be traced at once", points.sites.size(),
                SJ_MAX_SITES);

  auto state = std::make_unique<State>();
  state->mechanism = mechanism;
  state->verifier_log.resize(256 * 1024);
  for (const target::Site& site : points.sites) state->point_of_site.push_back(site.point);

  libbpf_set_print(nullptr);  // errors are ours to word
  LIBBPF_OPTS(bpf_object_open_opts, options, .kernel_log_buf = state->verifier_log.data(),
              .kernel_log_size = state->verifier_log.size());
  state->skeleton.reset(sojourn_points__open_opts(&options));
  if (!state->skeleton) return fail_errno("open the embedded BPF object");
  sojourn_points& skeleton = *state->skeleton;

  const auto sites = static_cast<std::uint32_t>(points.sites.size());
  bpf_map__set_max_entries(skeleton.maps.rings, static_cast<std::uint32_t>(cpus));
  bpf_map__set_max_entries(skeleton.maps.sites, sites);
  bpf_map__set_max_entries(skeleton.maps.losses, sites);
  const bool multi = mechanism == Mechanism::kUprobeMulti;
  bpf_program__set_autoload(skeleton.progs.hit_multi, multi);
  bpf_program__set_autoload(skeleton.progs.hit_perf, !multi);
  skeleton.rodata->config.tgid = multi ? 0 : static_cast<std::uint32_t>(pid);

  if (sojourn_points__load(&skeleton) != 0)
    return std::unexpected(load_error(errno, state->verifier_log));
  SJ_CHECK(fill_sites(skeleton, points));
  SJ_TRY(bytes, ring_size(ring_bytes, static_cast<std::size_t>(cpus)));
  SJ_TRY(rings, make_rings(skeleton, cpus, bytes));
  state->rings = std::move(rings);
  for (const base::Fd& ring : state->rings) state->ring_fds.push_back(ring.get());
  return BpfPrograms(std::move(state));
}

bpf_program* BpfPrograms::program() const {
  return state_->mechanism == Mechanism::kUprobeMulti ? state_->skeleton->progs.hit_multi
                                                      : state_->skeleton->progs.hit_perf;
}

const std::vector<int>& BpfPrograms::ring_fds() const {
  return state_->ring_fds;
}

void BpfPrograms::open_gate_at(std::uint64_t monotonic_ns) {
  std::atomic_ref gate(state_->skeleton->data->gate.open_ns);
  gate.store(monotonic_ns);
}

void BpfPrograms::close_gate_at(std::uint64_t monotonic_ns) {
  std::atomic_ref gate(state_->skeleton->data->gate.close_ns);
  gate.store(monotonic_ns);
}

// The update of a map of maps returns only when no program that may have seen the older value still
// runs (kernel commit 1ae80cf31938, older than ring buffers are). So CPU 0 is handed the ring that
// it has.
Result<void> BpfPrograms::wait_for_running() const {
  return hand_ring(*state_->skeleton, 0, state_->ring_fds.front());
}

Result<model::Ledger> BpfPrograms::losses() const {
  const std::size_t cpus = state_->rings.size();
  std::vector<std::uint64_t> counts(cpus);
  model::Ledger ledger;
  for (std::uint32_t site = 0; site < state_->point_of_site.size(); ++site) {
    if (bpf_map_lookup_elem(bpf_map__fd(state_->skeleton->maps.losses), &site, counts.data()) != 0)
      return fail_errno("read the loss counters");
    for (std::uint32_t cpu = 0; cpu < cpus; ++cpu)
      if (counts[cpu] != 0)
        ledger.push_back({.stream = cpu,
                          .point = state_->point_of_site[site],
                          .cause = model::LossCause::kRingFull,
                          .count = counts[cpu]});
  }
  return ledger;
}

Result<std::vector<std::uint64_t>> BpfPrograms::hits() const {
  const std::uint32_t only = 0;
  std::vector<std::uint64_t> hits(state_->rings.size());
  if (bpf_map_lookup_elem(bpf_map__fd(state_->skeleton->maps.sequence), &only, hits.data()) != 0)
    return fail_errno("read the sequence numbers");
  return hits;
}

}  // namespace sojourn::capture
