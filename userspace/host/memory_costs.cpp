// The latency of each level of memory, by a pointer chase over a curve of working sets, with the
// curve's knees; and the bandwidth of reading, writing and copying.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>

#include "analysis/host/knee_finder.h"
#include "userspace/host/pages.h"
#include "userspace/host/subjects.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::host {

namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kMega = std::size_t{1} << 20;

struct alignas(kLine) Node {
  Node* next;
};

// Links all nodes to one cycle in random order (Sattolo's algorithm), so that a prefetcher finds no
// stride.
Node* tie_cycle(Node* nodes, std::size_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::uint64_t state = 0x9e3779b97f4a7c15;
  for (std::size_t left = count - 1; left > 0; --left) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::swap(order[left], order[state % left]);
  }
  for (std::size_t at = 0; at < count; ++at)
    nodes[order[at]].next = &nodes[order[(at + 1) % count]];
  return &nodes[order[0]];
}

class Walk {
 public:
  Walk(std::size_t bytes, bool is_huge) : pages_(bytes, is_huge), count_(bytes / kLine) {
    if (!pages_) return;
    at_ = tie_cycle(static_cast<Node*>(pages_.data()), count_);
    run(count_);  // each node once
  }
  explicit operator bool() const { return at_ != nullptr; }
  const Pages& pages() const { return pages_; }

  void run(std::uint64_t steps) {
    Node* at = at_;
    for (std::uint64_t step = 0; step < steps; ++step) at = at->next;
    keep(at);
    at_ = at;
  }

 private:
  Pages pages_;
  std::size_t count_;
  Node* at_ = nullptr;
};

// The largest working set that harms no other process.
std::size_t most_bytes(const Bench& bench, std::size_t wanted) {
  const std::string path = bench.roots().proc + "/meminfo";
  const auto text = tracee::read_whole(path);
  std::uint64_t available = 0;
  if (text)
    for (const std::string_view line : tracee::split(*text, '\n'))
      if (line.starts_with("MemAvailable:")) {
        const auto digits = line.find_first_of("0123456789");
        if (digits != std::string_view::npos) available = parse_size(line.substr(digits));
      }
  return std::min<std::size_t>(wanted, available / 8);
}

CurvePoint latency_at(std::size_t bytes, bool is_huge, std::uint64_t most_ns) {
  Walk walk(bytes, is_huge);
  if (!walk) return {};
  // If the kernel has no huge page left, the point would belong to the other curve.
  if (is_huge && walk.pages().huge_share() < 0.9) return {};
  const std::uint64_t steps = 512;
  std::vector<double> samples;
  const std::uint64_t end = base::monotonic_ns() + most_ns;
  while ((samples.size() < 16 || base::monotonic_ns() < end) && samples.size() < 400) {
    const std::uint64_t preempted = times_preempted();
    const std::uint64_t before = base::monotonic_ns();
    walk.run(steps);
    const auto took = static_cast<double>(base::monotonic_ns() - before);
    if (times_preempted() == preempted || base::monotonic_ns() >= end)
      samples.push_back(took / static_cast<double>(steps));
  }
  const SampleSummary summary = summarise(std::move(samples));
  return {.x = static_cast<double>(bytes), .y = summary.median, .q1 = summary.q1, .q3 = summary.q3};
}

void measure_curve(Bench& bench, bool is_huge) {
  const bool is_full = bench.is_full();
  const std::size_t largest = most_bytes(bench, (is_full ? 512 : 128) * kMega);
  Curve curve{.id = is_huge ? "memory.latency_huge" : "memory.latency",
              .group = bench.group(),
              .name = is_huge ? "memory latency, huge pages" : "memory latency",
              .x_name = "working set",
              .x_unit = Unit::kBytes,
              .y_name = "a load that needs the one before",
              .y_unit = Unit::kNs,
              .points = {},
              .knees = {},
              .note = {}};
  const std::uint64_t most_ns = is_full ? 300'000'000 : is_huge ? 10'000'000 : 20'000'000;
  const auto add = [&](std::size_t bytes) {
    if (bytes > largest) return;
    const CurvePoint point = latency_at(bytes, is_huge, most_ns);
    if (point.y > 0) curve.points.push_back(point);
  };
  for (std::size_t bytes = 4096; bytes <= largest; bytes *= 2) {
    add(bytes);
    add(bytes * 3 / 2);  // caches of 48 KiB or 1.5 MiB end there
  }
  curve.knees = find_knees(curve.points);
  std::string told;
  for (const CacheLevel& cache : read_caches(bench.roots(), bench.cpuid()))
    if (cache.kind != "instruction")
      told +=
          fmt::format("{}L{} {} KiB", told.empty() ? "" : ", ", cache.level, cache.bytes / 1024);
  curve.note = "caches that the machine reports: " + (told.empty() ? "none" : told) +
               (is_huge ? "" : "; the ends of the TLB are in the curve, too");
  if (curve.points.empty())
    return bench.leave_out({curve.id, curve.name, ""}, "the kernel gives no huge pages");
  bench.profile().curves.push_back(std::move(curve));
}

void measure_level(Bench& bench, const std::string& id, const std::string& name,
                   std::size_t bytes) {
  const Row row = {id, name, fmt::format("a random walk over {} KiB", bytes / 1024)};
  Walk walk(bytes, false);
  if (!walk) return bench.leave_out(row, "no memory for it");
  bench.measure(row, [&](std::uint64_t steps) { walk.run(steps); });
}

void measure_huge(Bench& bench, std::size_t bytes) {
  const Row row = {"memory.latency.ram_huge", "memory, huge pages",
                   fmt::format("a random walk over {} MiB of 2 MiB pages", bytes / kMega)};
  Walk walk(bytes, true);
  if (!walk) return bench.leave_out(row, "no memory for it");
  const double share = walk.pages().huge_share();
  if (share < 0.9)
    return bench.leave_out(
        row, fmt::format("the kernel gave huge pages for {:.0f} % of it", share * 100));
  bench.measure(row, [&](std::uint64_t steps) { walk.run(steps); });
}

// The size in bytes of the data cache at a level; a usual size if the machine does not report it.
std::size_t cache_bytes(const std::vector<CacheLevel>& caches, std::uint32_t level,
                        std::size_t usual) {
  for (const CacheLevel& cache : caches)
    if (cache.level == level && cache.kind != "instruction") return cache.bytes;
  return usual;
}

void measure_levels(Bench& bench) {
  const auto caches = read_caches(bench.roots(), bench.cpuid());
  const std::size_t l1 = cache_bytes(caches, 1, 32 * 1024);
  const std::size_t l2 = cache_bytes(caches, 2, kMega);
  const std::size_t l3 = cache_bytes(caches, 3, 0);
  measure_level(bench, "memory.latency.l1", "L1", l1 / 2);
  measure_level(bench, "memory.latency.l2", "L2", std::max(l2 / 2, 2 * l1));
  if (l3 != 0)
    measure_level(bench, "memory.latency.l3", "L3", std::max(l3 / 4, 2 * l2));
  else
    bench.leave_out({"memory.latency.l3", "L3", ""}, "the machine reports no L3");
  const std::size_t ram =
      most_bytes(bench, std::max(4 * std::max(l2, l3), (bench.is_full() ? 256 : 64) * kMega));
  measure_level(bench, "memory.latency.ram", "memory", ram & ~(kMega - 1));
  measure_huge(bench, ram & ~(2 * kMega - 1));
}

void read_all(const std::byte* data, std::size_t bytes) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(data);
  std::uint64_t sums[4] = {};
  for (std::size_t at = 0; at < bytes / sizeof(*words); at += 8) {
    sums[0] += words[at] + words[at + 4];
    sums[1] += words[at + 1] + words[at + 5];
    sums[2] += words[at + 2] + words[at + 6];
    sums[3] += words[at + 3] + words[at + 7];
  }
  std::uint64_t sum = sums[0] + sums[1] + sums[2] + sums[3];
  keep(sum);
}

template <typename Run>
void measure_rate(Bench& bench, Row row, std::size_t bytes, Run run) {
  run();
  std::vector<double> samples;
  const std::uint64_t end = base::monotonic_ns() + 3 * bench.effort().most_ns;
  std::size_t disturbed = 0;
  while (samples.size() < kFewestSamples || base::monotonic_ns() < end) {
    const std::uint64_t preempted = times_preempted();
    const std::uint64_t before = base::monotonic_ns();
    run();
    const auto took = static_cast<double>(base::monotonic_ns() - before);
    const bool is_late = base::monotonic_ns() >= end;
    if (times_preempted() == preempted || is_late)
      samples.push_back(static_cast<double>(bytes) * 1e9 / took);
    else
      ++disturbed;
    if (samples.size() >= 400) break;
  }
  Measurement& one = bench.add(std::move(row), std::move(samples), Unit::kBytesPerSecond);
  if (disturbed != 0)
    one.note = fmt::format("{} samples were left out: another thread ran meanwhile", disturbed);
}

void measure_bandwidth(Bench& bench) {
  const auto caches = read_caches(bench.roots(), bench.cpuid());
  const std::size_t beyond_caches = 4 * cache_bytes(caches, 3, 8 * kMega);
  const std::size_t bytes =
      most_bytes(bench, std::max<std::size_t>(beyond_caches, 64 * kMega)) & ~(kMega - 1);
  const Pages from(bytes, false);
  const Pages to(bytes, false);
  const std::string of = fmt::format("of {} MiB, by one thread", bytes / kMega);
  const std::vector<Row> rows = {{"memory.read", "memory, reading", "8-byte loads " + of},
                                 {"memory.write", "memory, writing", "memset() " + of},
                                 {"memory.copy", "memory, copying", "memcpy() " + of}};
  if (!from || !to) return bench.leave_out_all(rows, "no memory for it");
  std::memset(from.data(), 1, bytes);
  std::memset(to.data(), 2, bytes);
  measure_rate(bench, rows[0], bytes,
               [&] { read_all(static_cast<const std::byte*>(from.data()), bytes); });
  measure_rate(bench, rows[1], bytes, [&] {
    std::memset(to.data(), 3, bytes);
    asm volatile("" : : "r"(to.data()) : "memory");
  });
  measure_rate(bench, rows[2], bytes, [&] {
    std::memcpy(to.data(), from.data(), bytes);
    asm volatile("" : : "r"(to.data()) : "memory");
  });
}

}  // namespace

void measure_memory(Bench& bench) {
  measure_levels(bench);
  measure_curve(bench, false);
  measure_curve(bench, true);
  measure_bandwidth(bench);
}

}  // namespace sojourn::host
