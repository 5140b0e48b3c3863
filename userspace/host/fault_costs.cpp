// Page faults: of new anonymous memory, of a file's page in the cache, of a page that comes from
// the disk. A file's pages are touched in reverse at large strides, so that neither read-ahead nor
// fault-around brings in several at once. The time is divided by the kernel's own count of faults.
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "userspace/host/pages.h"
#include "userspace/host/scratch_file.h"
#include "userspace/host/subjects.h"

namespace sojourn::host {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAround = 64 * 1024;    // that one fault may map beside its page
constexpr std::size_t kStride = 1024 * 1024;  // beyond what is read ahead

struct FaultCounts {
  std::uint64_t minor = 0;
  std::uint64_t major = 0;
};

FaultCounts faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt)};
}

double anonymous_ns() {
  constexpr std::size_t kPages = 256;
  const Pages pages(kPages * kPage, false);
  if (!pages) return 0;
  auto* const bytes = static_cast<volatile char*>(pages.data());
  const FaultCounts before = faults();
  const std::uint64_t from = base::monotonic_ns();
  for (std::size_t at = 0; at < kPages; ++at) bytes[at * kPage] = 1;
  const std::uint64_t took = base::monotonic_ns() - from;
  return static_cast<double>(took) /
         static_cast<double>(std::max<std::uint64_t>(faults().minor - before.minor, 1));
}

// Maps the file again and touches its pages in reverse.
struct Touched {
  std::uint64_t ns = 0;
  FaultCounts faults;
  std::size_t touches = 0;
};
Touched touch(const ScratchFile& file, std::size_t stride) {
  void* const at = mmap(nullptr, file.size(), PROT_READ, MAP_SHARED, file.fd(), 0);
  Touched touched;
  if (at == MAP_FAILED) return touched;
  madvise(at, file.size(), MADV_RANDOM);
  const auto* const bytes = static_cast<const volatile char*>(at);
  const FaultCounts before = faults();
  const std::uint64_t from = base::monotonic_ns();
  for (std::size_t end = file.size(); end >= stride; end -= stride) {
    (void)bytes[end - stride];
    ++touched.touches;
  }
  touched.ns = base::monotonic_ns() - from;
  const FaultCounts behind = faults();
  touched.faults = {behind.minor - before.minor, behind.major - before.major};
  munmap(at, file.size());
  return touched;
}

void measure_major(Bench& bench, const ScratchFile& file, const Row& row) {
  std::vector<double> samples;
  double cached = 0;
  std::uint64_t found = 0;
  std::uint64_t wanted = 0;
  const std::uint64_t end = base::monotonic_ns() + 4 * bench.effort().most_ns;
  while (samples.size() < kFewestSamples || base::monotonic_ns() < end) {
    cached = std::max(cached, file.drop_from_cache());
    const Touched touched = touch(file, kStride);
    wanted += touched.touches;
    found += touched.faults.major;
    if (touched.faults.major != 0)
      samples.push_back(static_cast<double>(touched.ns) /
                        static_cast<double>(touched.faults.major));
    if (samples.size() >= bench.effort().most || base::monotonic_ns() >= end) break;
  }
  if (samples.empty())
    return bench.leave_out(row,
                           fmt::format("no fault went to the disk: {:.0f} % of the file stayed in "
                                       "the cache",
                                       cached * 100));
  bench.add(row, std::move(samples)).note =
      fmt::format("{} of {} touches were major faults", found, wanted);
}

void compare_byte(Bench& bench) {
  const double memory = bench.before("memory.latency.ram");
  const double disk = bench.before("faults.major");
  const Row row = {"faults.byte_ratio", "a byte from disk against one from memory",
                   "a major fault divided by the latency of memory"};
  if (memory > 0 && disk > 0)
    bench.add_value(row, disk / memory, Unit::kCount);
  else
    bench.leave_out(row, memory > 0 ? "no major fault was measured"
                                    : "the latency of memory was not measured: --only memory");
}

}  // namespace

void measure_faults(Bench& bench) {
  bench.measure_samples(
      {"faults.minor", "minor page fault", "the first write to each of 256 pages"}, anonymous_ns);
  const Row cached = {"faults.minor_file", "minor page fault of a file",
                      "a cached file mapped, touched in reverse every 64 KiB"};
  const Row major = {"faults.major", "major page fault",
                     "a file that is not cached mapped, touched in reverse every MiB"};
  const std::size_t bytes = std::size_t{bench.is_full() ? 256U : 32U} << 20;
  const auto file = ScratchFile::make(bench.directory(), bytes);
  if (!file) {
    bench.leave_out_all({cached, major}, file.error().text());
    return compare_byte(bench);
  }
  bench.measure_samples(cached, [&] {
    const Touched touched = touch(*file, kAround);
    return static_cast<double>(touched.ns) /
           static_cast<double>(std::max<std::uint64_t>(touched.faults.minor, 1));
  });
  measure_major(bench, *file, major);
  compare_byte(bench);
}

}  // namespace sojourn::host
