#include "userspace/capture/bpf/bpf_programs.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>

#include "bpf/events.h"
#include "sojourn_points.skel.h"
#include "userspace/base/fail_errno.h"
#include "userspace/capture/bpf/arg_span.h"
#include "userspace/capture/bpf/bpf_rings.h"
#include "userspace/capture/bpf/hit_delay.h"

namespace sojourn::capture {

namespace {

struct DestroySkeleton {
  void operator()(sojourn_points* skeleton) const { sojourn_points__destroy(skeleton); }
};
using Skeleton = std::unique_ptr<sojourn_points, DestroySkeleton>;

// The tests of a site's points. Empty if there are more than a site has room for besides its own,
// or if one is of a value that the program does not have yet: then the collector filters.
std::span<const filter::FieldTest> tests_of(const tracee::Site& site, const PointTests& keep) {
  if (site.point >= keep.size() || keep[site.point].size() + site.tests.size() > SJ_MAX_TESTS)
    return {};
  const auto& tests = keep[site.point];
  const bool fit = std::ranges::all_of(tests, [&](const filter::FieldTest& test) {
    return test.field < site.args.size() && site.args[test.field].kind != SJ_ARG_FAULTS;
  });
  return fit ? std::span<const filter::FieldTest>(tests) : std::span<const filter::FieldTest>();
}

std::size_t count_chains(const tracee::Points& points) {
  std::size_t chains = 0;
  for (const tracee::Site& site : points.sites) chains += site.chains.size();
  return chains;
}

// Returns whether the programs need more than registers, constants and memory.
bool has_arguments_of_maps(const tracee::Points& points) {
  return std::ranges::any_of(points.sites, [](const tracee::Site& site) {
    return std::ranges::any_of(site.args, [](const sj_arg& arg) {
      return arg.kind == SJ_ARG_CHAIN || arg.kind == SJ_ARG_FAULTS;
    });
  });
}

// Writes the chains of all sites one after the other.
Result<void> fill_chains(const sojourn_points& skeleton, const tracee::Points& points) {
  std::uint32_t index = 0;
  for (const tracee::Site& site : points.sites)
    for (const sj_chain& chain : site.chains) {
      if (bpf_map_update_elem(bpf_map__fd(skeleton.maps.chains), &index, &chain, BPF_ANY) != 0)
        return fail_errno("describe site {} to the BPF programs", site.probe);
      ++index;
    }
  return {};
}

Result<void> fill_sites(const sojourn_points& skeleton, const tracee::Points& points,
                        const PointTests& keep) {
  const int fd = bpf_map__fd(skeleton.maps.sites);
  std::int64_t first_chain = 0;
  for (std::uint32_t index = 0; index < points.sites.size(); ++index) {
    const tracee::Site& site = points.sites[index];
    sj_site record = {};
    record.point = site.point;
    record.args = static_cast<std::uint32_t>(site.args.size());
    for (std::size_t number = 0; number < site.args.size(); ++number) {
      sj_arg& arg = record.arg[number] = site.args[number];
      arg.number = static_cast<std::uint8_t>(number);
      if (arg.kind == SJ_ARG_CHAIN) arg.displacement += first_chain;
    }
    first_chain += static_cast<std::int64_t>(site.chains.size());
    record.span = join_span(std::span(record.arg).first(record.args));
    for (const sj_test& test : site.tests) record.test[record.tests++] = test;
    for (const filter::FieldTest& test : tests_of(site, keep))
      record.test[record.tests++] = {
          .low = test.low,
          .width = test.width,
          .arg = static_cast<std::uint8_t>(test.field),
          .is_negated = test.is_negated ? std::uint8_t{1} : std::uint8_t{0},
          .other = SJ_NO_ARG,
          .pad = {}};
    if (bpf_map_update_elem(fd, &index, &record, BPF_ANY) != 0)
      return fail_errno("describe site {} to the BPF programs", site.probe);
  }
  return {};
}

std::uint32_t longest(const std::vector<tracee::Site>& sites) {
  std::size_t args = 0;
  for (const tracee::Site& site : sites) args = std::max(args, site.args.size());
  return static_cast<std::uint32_t>(args);
}

RingMaps ring_maps(const sojourn_points& skeleton) {
  return {
      .rings = skeleton.maps.rings, .blocks = skeleton.maps.blocks, .losses = skeleton.maps.losses};
}

std::vector<model::PointId> points_of(const std::vector<tracee::Site>& sites) {
  std::vector<model::PointId> points;
  points.reserve(sites.size());
  for (const tracee::Site& site : sites) points.push_back(site.point);
  return points;
}

using Data = std::remove_pointer_t<decltype(sojourn_points::data)>;

// The descriptors that are shared, in this order. Those of the rings' pieces follow.
enum SharedFd : std::uint8_t { kRings, kLosses, kFiltered, kData, kOuter, kInner, kPieces };

Result<base::Fd> copy_of(int fd) {
  base::Fd copy(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy) return fail_errno("copy a descriptor");
  return copy;
}

}  // namespace

struct BpfPrograms::State {
  std::string verifier_log;  // libbpf keeps a pointer to it
  Skeleton skeleton;         // empty if another process loaded it
  Mechanism mechanism = Mechanism::kUprobeMulti;
  RingShape shape;
  std::vector<base::Fd> fds;  // by SharedFd
  BpfRings rings;
  base::Mapping data;
  std::vector<model::PointId> point_of_site;

  Result<void> map();
  sj_gate& gate() const { return reinterpret_cast<Data*>(data.data())->gate; }
};

// Maps everything by descriptors, which work whichever process loaded the programs.
Result<void> BpfPrograms::State::map() {
  SJ_TRY(outer, copy_of(fds[kOuter].get()));
  SJ_TRY(inner, copy_of(fds[kInner].get()));
  const RingFds maps = {.rings = fds[kRings].get(),
                        .losses = fds[kLosses].get(),
                        .pieces = std::span(fds).subspan(kPieces)};
  SJ_TRY(mapped, BpfRings::map(maps, shape, ProgramWait(std::move(outer), std::move(inner))));
  rings = std::move(mapped);
  data = base::Mapping(fds[kData].get(), sizeof(Data));
  if (!data) return fail_errno("map the gate");
  return {};
}

BpfPrograms::BpfPrograms(std::unique_ptr<State> state) : state_(std::move(state)) {}
BpfPrograms::BpfPrograms(BpfPrograms&&) noexcept = default;
BpfPrograms& BpfPrograms::operator=(BpfPrograms&&) noexcept = default;
BpfPrograms::~BpfPrograms() = default;

Result<BpfPrograms> BpfPrograms::load(const tracee::Points& points, pid_t pid, Mechanism mechanism,
                                      std::size_t ring_bytes, const PointTests& keep,
                                      std::size_t objects) {
  if (points.sites.empty() || points.sites.size() > SJ_MAX_SITES)
    return fail("{} sites: between 1 and {} can be traced at once", points.sites.size(),
                SJ_MAX_SITES);

  const std::size_t chains = count_chains(points);
  if (chains > SJ_MAX_CHAINS)
    return fail("{} arguments behind pointers: at most {} can be traced at once", chains,
                SJ_MAX_CHAINS);

  auto state = std::make_unique<State>();
  state->mechanism = mechanism;
  state->verifier_log.resize(256 * 1024);
  state->point_of_site = points_of(points.sites);

  const std::uint32_t max_args = longest(points.sites);
  SJ_TRY(shape, RingShape::choose(max_args, ring_bytes, objects));
  state->shape = shape;

  libbpf_set_print(nullptr);  // the caller words the error
  LIBBPF_OPTS(bpf_object_open_opts, options, .kernel_log_buf = state->verifier_log.data(),
              .kernel_log_size = state->verifier_log.size());
  state->skeleton.reset(sojourn_points__open_opts(&options));
  if (!state->skeleton) return fail_errno("open the embedded BPF object");
  sojourn_points& skeleton = *state->skeleton;

  const auto sites = static_cast<std::uint32_t>(points.sites.size());
  SJ_TRY(pieces, make_pieces(shape));
  configure(ring_maps(skeleton), shape, pieces.front(), sites);
  bpf_map__set_max_entries(skeleton.maps.sites, sites);
  bpf_map__set_max_entries(skeleton.maps.filtered, sites);
  skeleton.rodata->ring_shape = {
      .slot_bytes = shape.slot_bytes, .blocks = shape.blocks, .piece_blocks = shape.piece_blocks};
  skeleton.rodata->config.max_args = max_args;
  skeleton.rodata->config.of_maps = has_arguments_of_maps(points) ? 1 : 0;
  skeleton.rodata->config.spans =
      static_cast<std::uint32_t>(std::ranges::count_if(points.sites, [](const tracee::Site& site) {
        std::vector<sj_arg> args = site.args;
        return join_span(args).bytes != 0;
      }));
  bpf_map__set_max_entries(skeleton.maps.chains,
                           std::max(std::uint32_t{1}, static_cast<std::uint32_t>(chains)));
  const bool multi = mechanism == Mechanism::kUprobeMulti;
  bpf_program__set_autoload(skeleton.progs.hit_multi, multi);
  bpf_program__set_autoload(skeleton.progs.hit_perf, !multi);
  const bool filters = std::ranges::any_of(points.sites, [&](const tracee::Site& site) {
    return !site.tests.empty() || !tests_of(site, keep).empty();
  });
  skeleton.rodata->config.max_tests = filters ? SJ_MAX_TESTS : 0;
  skeleton.rodata->config.tgid = multi ? 0 : static_cast<std::uint32_t>(pid);
  skeleton.rodata->config.delay_ns = hit_delay_ns();

  if (sojourn_points__load(&skeleton) != 0)
    return std::unexpected(load_error(errno, shape, state->verifier_log));
  SJ_CHECK(fill_chains(skeleton, points));
  SJ_CHECK(fill_sites(skeleton, points, keep));
  SJ_TRY(wait, ProgramWait::create());
  for (const int fd : {bpf_map__fd(skeleton.maps.rings), bpf_map__fd(skeleton.maps.losses),
                       bpf_map__fd(skeleton.maps.filtered), bpf_map__fd(skeleton.maps.data),
                       wait.outer(), wait.inner()}) {
    SJ_TRY(copy, copy_of(fd));
    state->fds.push_back(std::move(copy));
  }
  SJ_CHECK(enter_pieces(ring_maps(skeleton), pieces));
  std::ranges::move(pieces, std::back_inserter(state->fds));
  SJ_CHECK(state->map());
  return BpfPrograms(std::move(state));
}

Result<BpfPrograms> BpfPrograms::loaded_elsewhere(base::Message shared,
                                                  const tracee::Points& points) {
  base::Unpacker words(shared.bytes);
  auto state = std::make_unique<State>();
  state->mechanism = words.take<Mechanism>();
  state->shape = words.take<RingShape>();
  if (!words.is_sound() || state->shape.piece_blocks == 0 ||
      shared.fds.size() != kPieces + state->shape.pieces())
    return fail("the process that holds the probes answered nonsense");
  state->fds = std::move(shared.fds);
  state->point_of_site = points_of(points.sites);
  SJ_CHECK(state->map());
  return BpfPrograms(std::move(state));
}

Result<base::Message> BpfPrograms::share() const {
  base::Message shared;
  for (const base::Fd& fd : state_->fds) {
    SJ_TRY(copy, copy_of(fd.get()));
    shared.fds.push_back(std::move(copy));
  }
  shared.bytes = base::Packer().put(state_->mechanism).put(state_->shape).take();
  return shared;
}

Mechanism BpfPrograms::mechanism() const {
  return state_->mechanism;
}

bpf_program* BpfPrograms::program() const {
  if (!state_->skeleton) return nullptr;
  return state_->mechanism == Mechanism::kUprobeMulti ? state_->skeleton->progs.hit_multi
                                                      : state_->skeleton->progs.hit_perf;
}

const std::vector<Ring>& BpfPrograms::rings() const {
  return state_->rings.rings();
}

void BpfPrograms::open_gate_at(std::uint64_t monotonic_ns) {
  capture::open_gate_at(state_->gate(), monotonic_ns);
}

void BpfPrograms::close_gate_at(std::uint64_t monotonic_ns) {
  capture::close_gate_at(state_->gate(), monotonic_ns);
}

Result<void> BpfPrograms::start_over() {
  open_gate_at(UINT64_MAX);
  const std::size_t sites = state_->point_of_site.size();
  SJ_CHECK(state_->rings.start_over(sites));
  return clear_counters(state_->fds[kFiltered].get(), sites, rings().size());
}

Result<void> BpfPrograms::wait_for_running() const {
  return state_->rings.wait_for_running();
}

Result<model::Ledger> BpfPrograms::losses() const {
  SJ_TRY(ledger, state_->rings.losses(state_->point_of_site, 0));
  SJ_CHECK(state_->rings.add_counts(state_->fds[kFiltered].get(), model::LossCause::kFiltered,
                                    state_->point_of_site, 0, ledger));
  return std::move(ledger);
}

std::vector<std::uint64_t> BpfPrograms::hits() const {
  return state_->rings.hits();
}

}  // namespace sojourn::capture
