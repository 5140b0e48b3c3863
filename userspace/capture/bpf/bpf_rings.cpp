#include "userspace/capture/bpf/bpf_rings.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <string_view>
#include <system_error>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include "bpf/events.h"
#include "userspace/base/fail_errno.h"

namespace sojourn::capture {

namespace {

// Rings must hold all hits that come while this process gets no CPU: 16 MiB hold 200 ms of a
// million events a second. All CPUs and all processes together share 256 MiB.
std::size_t default_ring_bytes(std::size_t cpus, std::size_t objects) {
  constexpr std::size_t kMax = 16 << 20;
  constexpr std::size_t kAll = 256 << 20;
  constexpr std::size_t kLeast = 64 << 10;
  return std::bit_floor(std::max(kLeast, std::min(kMax, kAll / cpus) / objects));
}

Result<std::size_t> ring_size(std::size_t wanted, std::size_t cpus, std::size_t objects) {
  if (wanted == 0) return default_ring_bytes(cpus, objects);
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kLimit = std::size_t{1} << 30;
  if (!std::has_single_bit(wanted) || wanted < kPage || wanted > kLimit)
    return fail("a ring of {} bytes: it takes a power of two from 4 KiB to 1 GiB", wanted);
  return wanted;
}

// Pieces of about 1 MiB, and not so many that their descriptors do not fit into a message. Several
// are whole pages each: a block is a multiple of 128 bytes, and no page is longer than 512 of
// those.
std::uint32_t blocks_of_a_piece(const RingShape& shape) {
  constexpr std::uint32_t kBytes = 1 << 20;
  constexpr std::uint32_t kMostPieces = 64;
  constexpr std::uint32_t kWholePages = 512;
  const std::uint32_t all = shape.cpus * shape.blocks;
  const std::uint32_t least = std::max({std::bit_floor(kBytes / shape.block_bytes()), kWholePages,
                                        std::bit_ceil((all + kMostPieces - 1) / kMostPieces)});
  return std::min(least, std::bit_ceil(all));
}

// The kernel maps whole pages of a map.
std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// The verifier's last line names what it refused. The thousands of lines before it trace its way
// there.
std::string_view last_line(std::string_view log) {
  while (log.ends_with('\n')) log.remove_suffix(1);
  const auto before = log.find_last_of('\n');
  return before == std::string_view::npos ? log : log.substr(before + 1);
}

}  // namespace

Result<RingShape> RingShape::choose(std::uint32_t max_values, std::size_t wanted_bytes,
                                    std::size_t objects) {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0 || cpus > SJ_MAX_CPUS)
    return fail("count the CPUs: {} is not between 1 and {}", cpus, SJ_MAX_CPUS);
  RingShape shape{.cpus = static_cast<std::uint32_t>(cpus)};
  SJ_TRY(bytes, ring_size(wanted_bytes, shape.cpus, objects));
  shape.slot_bytes =
      SJ_HIT_HEADER_BYTES + static_cast<std::uint32_t>(sizeof(sj_hit::value[0])) * max_values;
  shape.blocks = static_cast<std::uint32_t>(std::bit_floor(bytes / shape.block_bytes()));
  shape.piece_blocks = blocks_of_a_piece(shape);
  return shape;
}

void configure(const RingMaps& maps, const RingShape& shape, const base::Fd& piece,
               std::uint32_t kinds) {
  bpf_map__set_max_entries(maps.rings, shape.cpus);
  bpf_map__set_max_entries(maps.blocks, shape.pieces());
  bpf_map__set_inner_map_fd(maps.blocks, piece.get());
  bpf_map__set_max_entries(maps.losses, kinds);
}

Result<std::vector<base::Fd>> make_pieces(const RingShape& shape) {
  LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
  std::vector<base::Fd> pieces;
  while (pieces.size() < shape.pieces()) {
    pieces.emplace_back(bpf_map_create(BPF_MAP_TYPE_ARRAY, "sj_piece", sizeof(std::uint32_t),
                                       shape.block_bytes(), shape.piece_blocks, &options));
    if (!pieces.back()) return std::unexpected(load_error(errno, shape, {}));
  }
  return pieces;
}

// Each update of a map of maps waits until no program runs that may have seen the older value. A
// batch waits once; kernels before 5.19 have none for maps of maps.
Result<void> enter_pieces(const RingMaps& maps, std::span<const base::Fd> pieces) {
  const int blocks = bpf_map__fd(maps.blocks);
  std::vector<std::uint32_t> numbers(pieces.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<int> fds;
  for (const base::Fd& piece : pieces) fds.push_back(piece.get());
  auto entered = static_cast<std::uint32_t>(pieces.size());
  if (bpf_map_update_batch(blocks, numbers.data(), fds.data(), &entered, nullptr) == 0) return {};
  for (const std::uint32_t number : numbers)
    if (bpf_map_update_elem(blocks, &number, &fds[number], BPF_ANY) != 0)
      return fail_errno("enter the rings' memory");
  return {};
}

Result<BpfRings> BpfRings::map(const RingFds& maps, const RingShape& shape, ProgramWait wait) {
  BpfRings mapped;
  mapped.losses_ = maps.losses;
  mapped.wait_ = std::move(wait);
  mapped.controls_ = base::Mapping(maps.rings, whole_pages(shape.cpus * sizeof(sj_cpu_ring)));
  if (!mapped.controls_) return fail_errno("map the rings' positions");
  mapped.blocks_ = base::Mapping::joined(maps.pieces, whole_pages(shape.piece_bytes()));
  if (!mapped.blocks_)
    return fail_errno("map rings of {} bytes for {} CPUs", shape.ring_bytes(), shape.cpus);
  for (std::uint32_t cpu = 0; cpu < shape.cpus; ++cpu)
    mapped.rings_.push_back(
        {.control = reinterpret_cast<sj_cpu_ring*>(mapped.controls_.data()) + cpu,
         .slots = mapped.blocks_.data() + cpu * shape.ring_bytes(),
         .slot_count = shape.blocks * SJ_BLOCK_SLOTS,
         .slot_bytes = shape.slot_bytes});
  return mapped;
}

std::vector<std::uint64_t> BpfRings::hits() const {
  std::vector<std::uint64_t> hits;
  hits.reserve(rings_.size());
  for (const Ring& ring : rings_)
    hits.push_back(std::atomic_ref(ring.control->head).load() +
                   std::atomic_ref(ring.control->lost).load());
  return hits;
}

Result<void> BpfRings::start_over(std::size_t kinds) {
  SJ_CHECK(wait_for_running());
  std::memset(controls_.data(), 0, controls_.size());
  std::memset(blocks_.data(), 0, blocks_.size());
  return clear_counters(losses_, kinds, rings_.size());
}

Result<void> BpfRings::add_counts(int counters, model::LossCause cause,
                                  std::span<const model::PointId> point_of_kind,
                                  std::uint32_t first_stream, model::Ledger& ledger) const {
  std::vector<std::uint64_t> counts(rings_.size());
  for (std::uint32_t kind = 0; kind < point_of_kind.size(); ++kind) {
    if (bpf_map_lookup_elem(counters, &kind, counts.data()) != 0)
      return fail_errno("read the counters of hits that were not kept");
    for (std::uint32_t cpu = 0; cpu < counts.size(); ++cpu)
      if (counts[cpu] != 0)
        ledger.push_back({.stream = first_stream + cpu,
                          .point = point_of_kind[kind],
                          .cause = cause,
                          .count = counts[cpu]});
  }
  return {};
}

Result<model::Ledger> BpfRings::losses(std::span<const model::PointId> point_of_kind,
                                       std::uint32_t first_stream) const {
  model::Ledger ledger;
  SJ_CHECK(add_counts(losses_, model::LossCause::kRingFull, point_of_kind, first_stream, ledger));
  return ledger;
}

Result<void> clear_counters(int counters, std::size_t kinds, std::size_t cpus) {
  const std::vector<std::uint64_t> zeros(cpus);
  for (std::uint32_t kind = 0; kind < kinds; ++kind)
    if (bpf_map_update_elem(counters, &kind, zeros.data(), BPF_ANY) != 0)
      return fail_errno("clear the counters of hits that were not kept");
  return {};
}

void open_gate_at(sj_gate& gate, std::uint64_t monotonic_ns) {
  std::atomic_ref(gate.open_ns).store(monotonic_ns);
}

void close_gate_at(sj_gate& gate, std::uint64_t monotonic_ns) {
  std::atomic_ref(gate.close_ns).store(monotonic_ns);
}

// The update of a map of maps returns only when no program that may have seen the older value still
// runs, whether or not any uses the map (kernel commit 1ae80cf31938, of 4.20).
Result<ProgramWait> ProgramWait::create() {
  base::Fd inner(bpf_map_create(BPF_MAP_TYPE_ARRAY, "sj_inner", sizeof(std::uint32_t),
                                sizeof(std::uint64_t), 1, nullptr));
  LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = static_cast<__u32>(inner.get()));
  base::Fd outer(bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "sj_wait", sizeof(std::uint32_t),
                                sizeof(std::uint32_t), 1, &options));
  if (!inner || !outer)
    return fail_errno("create the map that shows when no BPF program runs any more");
  return ProgramWait(std::move(outer), std::move(inner));
}

Result<void> ProgramWait::wait() const {
  const std::uint32_t only = 0;
  const int value = inner_.get();
  if (bpf_map_update_elem(outer_.get(), &only, &value, BPF_ANY) != 0)
    return fail_errno("wait for the BPF programs that still run");
  return {};
}

Error load_error(int code, const RingShape& shape, const std::string& verifier_log) {
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

}  // namespace sojourn::capture
