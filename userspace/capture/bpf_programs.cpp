#include "userspace/capture/bpf_programs.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <functional>
#include <span>
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
#include "userspace/base/mapping.h"

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

// None, where there are more than a site can have: the collector filters then.
std::span<const filter::FieldTest> tests_of(const target::Site& site, const PointTests& keep) {
  if (site.point >= keep.size() || keep[site.point].size() > SJ_MAX_TESTS) return {};
  const auto& tests = keep[site.point];
  const bool fit = std::ranges::all_of(
      tests, [&](const filter::FieldTest& test) { return test.field < site.args.size(); });
  return fit ? std::span<const filter::FieldTest>(tests) : std::span<const filter::FieldTest>();
}

Result<void> fill_sites(const sojourn_points& skeleton, const target::Points& points,
                        const PointTests& keep) {
  const int fd = bpf_map__fd(skeleton.maps.sites);
  for (std::uint32_t index = 0; index < points.sites.size(); ++index) {
    const target::Site& site = points.sites[index];
    sj_site record = {};
    record.point = site.point;
    record.args = static_cast<std::uint32_t>(site.args.size());
    std::ranges::copy(site.args, record.arg);
    for (const filter::FieldTest& test : tests_of(site, keep))
      record.test[record.tests++] = {
          .low = test.low,
          .width = test.width,
          .arg = static_cast<std::uint8_t>(test.field),
          .is_negated = test.is_negated ? std::uint8_t{1} : std::uint8_t{0},
          .pad = {}};
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
    return fail("a ring of {} bytes: it takes a power of two from 4 KiB to 1 GiB", wanted);
  return wanted;
}

// How the rings lie in their map: one a possible CPU, so that no two CPUs ever contend for one, and
// slots as long as the longest hit of this target needs.
struct Shape {
  std::uint32_t cpus = 0;
  std::uint32_t max_args = 0;
  std::uint32_t slot_bytes = 0;
  std::uint32_t blocks = 0;  // of each ring

  std::uint32_t block_bytes() const { return slot_bytes * SJ_BLOCK_SLOTS; }
  std::size_t ring_bytes() const { return std::size_t{blocks} * block_bytes(); }
};

Result<Shape> shape_rings(const target::Points& points, std::uint32_t cpus,
                          std::size_t wanted_bytes) {
  SJ_TRY(bytes, ring_size(wanted_bytes, cpus));
  Shape shape{.cpus = cpus};
  for (const target::Site& site : points.sites)
    shape.max_args = std::max(shape.max_args, static_cast<std::uint32_t>(site.args.size()));
  shape.slot_bytes =
      SJ_HIT_HEADER_BYTES + static_cast<std::uint32_t>(sizeof(sj_hit::value[0])) * shape.max_args;
  shape.blocks = static_cast<std::uint32_t>(std::bit_floor(bytes / shape.block_bytes()));
  return shape;
}

Error load_error(int code, const Shape& shape, const std::string& verifier_log) {
  if (code == EPERM)
    return Error(
        "load the BPF programs: Operation not permitted: run as root, or give this program "
        "CAP_BPF and CAP_PERFMON (setcap cap_bpf,cap_perfmon+ep)");
  if (code == ENOMEM)
    return Error(fmt::format("load the BPF programs: {}: {} rings of {} bytes, one for each CPU",
                             std::generic_category().message(code), shape.cpus,
                             shape.ring_bytes()));
  const std::string_view detail = last_line(verifier_log.c_str());
  return Error(fmt::format("load the BPF programs: {}{}{}", std::generic_category().message(code),
                           detail.empty() ? "" : ": ", detail));
}

void configure(sojourn_points& skeleton, const Shape& shape, std::uint32_t sites) {
  bpf_map__set_max_entries(skeleton.maps.rings, shape.cpus);
  bpf_map__set_max_entries(skeleton.maps.blocks, shape.cpus * shape.blocks);
  bpf_map__set_value_size(skeleton.maps.blocks, shape.block_bytes());
  bpf_map__set_max_entries(skeleton.maps.sites, sites);
  bpf_map__set_max_entries(skeleton.maps.losses, sites);
  bpf_map__set_max_entries(skeleton.maps.filtered, sites);
  skeleton.rodata->config.max_args = shape.max_args;
  skeleton.rodata->config.slot_bytes = shape.slot_bytes;
  skeleton.rodata->config.blocks = shape.blocks;
}

// The kernel maps whole pages of a map.
std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

struct BpfPrograms::State {
  Result<void> map_rings(const Shape& shape);
  Result<void> each_count(const bpf_map* map,
                          const std::function<void(std::uint32_t cpu, model::PointId point,
                                                   std::uint64_t count)>& take) const;

  std::string verifier_log;  // libbpf keeps a pointer to it
  Skeleton skeleton;
  Mechanism mechanism = Mechanism::kUprobeMulti;
  base::Mapping controls;
  base::Mapping blocks;
  std::vector<Ring> rings;
  std::vector<model::PointId> point_of_site;
};

BpfPrograms::BpfPrograms(std::unique_ptr<State> state) : state_(std::move(state)) {}
BpfPrograms::BpfPrograms(BpfPrograms&&) noexcept = default;
BpfPrograms& BpfPrograms::operator=(BpfPrograms&&) noexcept = default;
BpfPrograms::~BpfPrograms() = default;

Result<void> BpfPrograms::State::map_rings(const Shape& shape) {
  controls = base::Mapping(bpf_map__fd(skeleton->maps.rings),
                           whole_pages(shape.cpus * sizeof(sj_cpu_ring)));
  if (!controls) return fail_errno("map the rings' positions");
  blocks = base::Mapping(bpf_map__fd(skeleton->maps.blocks),
                         whole_pages(shape.cpus * shape.ring_bytes()));
  if (!blocks)
    return fail_errno("map rings of {} bytes for {} CPUs", shape.ring_bytes(), shape.cpus);
  for (std::uint32_t cpu = 0; cpu < shape.cpus; ++cpu)
    rings.push_back({.control = reinterpret_cast<sj_cpu_ring*>(controls.data()) + cpu,
                     .slots = blocks.data() + cpu * shape.ring_bytes(),
                     .slot_count = shape.blocks * SJ_BLOCK_SLOTS,
                     .slot_bytes = shape.slot_bytes});
  return {};
}

Result<BpfPrograms> BpfPrograms::load(const target::Points& points, pid_t pid, Mechanism mechanism,
                                      std::size_t ring_bytes, const PointTests& keep) {
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

  SJ_TRY(shape, shape_rings(points, static_cast<std::uint32_t>(cpus), ring_bytes));

  libbpf_set_print(nullptr);  // errors are ours to word
  LIBBPF_OPTS(bpf_object_open_opts, options, .kernel_log_buf = state->verifier_log.data(),
              .kernel_log_size = state->verifier_log.size());
  state->skeleton.reset(sojourn_points__open_opts(&options));
  if (!state->skeleton) return fail_errno("open the embedded BPF object");
  sojourn_points& skeleton = *state->skeleton;

  configure(skeleton, shape, static_cast<std::uint32_t>(points.sites.size()));
  const bool multi = mechanism == Mechanism::kUprobeMulti;
  bpf_program__set_autoload(skeleton.progs.hit_multi, multi);
  bpf_program__set_autoload(skeleton.progs.hit_perf, !multi);
  const bool filters = std::ranges::any_of(
      points.sites, [&](const target::Site& site) { return !tests_of(site, keep).empty(); });
  skeleton.rodata->config.max_tests = filters ? SJ_MAX_TESTS : 0;
  skeleton.rodata->config.tgid = multi ? 0 : static_cast<std::uint32_t>(pid);

  if (sojourn_points__load(&skeleton) != 0)
    return std::unexpected(load_error(errno, shape, state->verifier_log));
  SJ_CHECK(fill_sites(skeleton, points, keep));
  SJ_CHECK(state->map_rings(shape));
  return BpfPrograms(std::move(state));
}

bpf_program* BpfPrograms::program() const {
  return state_->mechanism == Mechanism::kUprobeMulti ? state_->skeleton->progs.hit_multi
                                                      : state_->skeleton->progs.hit_perf;
}

const std::vector<Ring>& BpfPrograms::rings() const {
  return state_->rings;
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
// runs, whether or not any uses the map (kernel commit 1ae80cf31938, of 4.20).
Result<void> BpfPrograms::wait_for_running() const {
  const std::uint32_t only = 0;
  const base::Fd inner(bpf_map_create(BPF_MAP_TYPE_ARRAY, "sj_inner", sizeof(only),
                                      sizeof(std::uint64_t), 1, nullptr));
  LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = static_cast<__u32>(inner.get()));
  const base::Fd outer(bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "sj_wait", sizeof(only),
                                      sizeof(only), 1, &options));
  const int value = inner.get();
  if (!inner || !outer || bpf_map_update_elem(outer.get(), &only, &value, BPF_ANY) != 0)
    return fail_errno("wait for the BPF programs that still run");
  return {};
}

// One counter a site and CPU.
Result<void> BpfPrograms::State::each_count(
    const bpf_map* map,
    const std::function<void(std::uint32_t cpu, model::PointId point, std::uint64_t count)>& take)
    const {
  std::vector<std::uint64_t> counts(rings.size());
  for (std::uint32_t site = 0; site < point_of_site.size(); ++site) {
    if (bpf_map_lookup_elem(bpf_map__fd(map), &site, counts.data()) != 0)
      return fail_errno("read the counters of hits that were not kept");
    for (std::uint32_t cpu = 0; cpu < counts.size(); ++cpu)
      if (counts[cpu] != 0) take(cpu, point_of_site[site], counts[cpu]);
  }
  return {};
}

Result<model::Ledger> BpfPrograms::losses() const {
  model::Ledger ledger;
  const auto& maps = state_->skeleton->maps;
  SJ_CHECK(state_->each_count(maps.losses,
                              [&](std::uint32_t cpu, model::PointId point, std::uint64_t count) {
                                ledger.push_back({cpu, point, model::LossCause::kRingFull, count});
                              }));
  SJ_CHECK(state_->each_count(maps.filtered,
                              [&](std::uint32_t cpu, model::PointId point, std::uint64_t count) {
                                ledger.push_back({cpu, point, model::LossCause::kFiltered, count});
                              }));
  return ledger;
}

std::vector<std::uint64_t> BpfPrograms::hits() const {
  std::vector<std::uint64_t> hits;
  for (const Ring& ring : state_->rings)
    hits.push_back(std::atomic_ref(ring.control->head).load() +
                   std::atomic_ref(ring.control->lost).load());
  return hits;
}

}  // namespace sojourn::capture
