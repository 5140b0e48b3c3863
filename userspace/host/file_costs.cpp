// Files: sequential and random reads by size, cached and direct; the share of random reads that
// came from the disk; the size of the file cache; a second file system beside the first; several
// readers at once.
#include "userspace/host/file_costs.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "userspace/host/scratch_file.h"
#include "userspace/host/subjects.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::host {

namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kKilo = 1024;

// Aligned memory, as direct reads (O_DIRECT) need it.
struct Aligned {
  explicit Aligned(std::size_t bytes) : data(std::aligned_alloc(kBlock, bytes), std::free) {}
  std::unique_ptr<void, decltype(&std::free)> data;
};

// Bytes that the kernel has read from disks for this process; nothing if the kernel does not count
// them.
std::optional<std::uint64_t> bytes_from_disk(const Bench& bench) {
  const auto text = tracee::read_whole(bench.roots().proc + "/self/io");
  if (!text) return std::nullopt;
  for (const std::string_view line : tracee::split(*text, '\n'))
    if (line.starts_with("read_bytes: ")) return tracee::parse_number(line.substr(12));
  return std::nullopt;
}

// The offsets of all blocks, each once, in a fixed random order.
std::vector<off_t> random_blocks(std::size_t bytes, std::size_t block) {
  std::vector<off_t> offsets;
  for (std::size_t at = 0; at + block <= bytes; at += block)
    offsets.push_back(static_cast<off_t>(at));
  std::uint64_t state = 0x853c49e6748fea9b;
  for (std::size_t left = offsets.size(); left > 1; --left) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::swap(offsets[left - 1], offsets[state % left]);
  }
  return offsets;
}

std::vector<off_t> blocks_in_order(std::size_t bytes, std::size_t block) {
  std::vector<off_t> offsets = random_blocks(bytes, block);
  std::ranges::sort(offsets);
  return offsets;
}

// The time that each block's read took. The first failure ends it.
std::vector<double> read_blocks(int fd, std::span<const off_t> offsets, std::size_t block,
                                std::uint64_t most_ns) {
  const Aligned memory(block);
  std::vector<double> samples;
  const std::uint64_t end = base::monotonic_ns() + most_ns;
  for (const off_t offset : offsets) {
    const std::uint64_t before = base::monotonic_ns();
    if (pread(fd, memory.data.get(), block, offset) != static_cast<ssize_t>(block)) break;
    const std::uint64_t behind = base::monotonic_ns();
    samples.push_back(static_cast<double>(behind - before));
    if (behind >= end) break;
  }
  return samples;
}

void measure_cached(Bench& bench, const ScratchFile& file, const std::string& where) {
  const auto order = blocks_in_order(file.size(), kBlock);
  read_blocks(file.fd(), order, kBlock, UINT64_MAX / 2);
  const double share = file.cached_share();
  const auto measure = [&](Row row, std::span<const off_t> offsets) {
    const Aligned memory(kBlock);
    std::size_t next = 0;
    bench
        .measure(std::move(row),
                 [&](std::uint64_t times) {
                   for (std::uint64_t turn = 0; turn < times; ++turn) {
                     if (pread(file.fd(), memory.data.get(), kBlock, offsets[next]) < 0) return;
                     next = next + 1 == offsets.size() ? 0 : next + 1;
                   }
                 })
        .note = fmt::format("{:.0f} % of the file was cached", share * 100);
  };
  measure({"files.cached_sequential" + where, "4 KiB of a cached file, in order", "pread()"},
          order);
  measure({"files.cached_random" + where, "4 KiB of a cached file, at random", "pread()"},
          random_blocks(file.size(), kBlock));
}

// Direct reads. The kernel's own count of bytes from disks proves that they were not cached.
void measure_direct(Bench& bench, const ScratchFile& file, const std::string& where) {
  const std::array<std::pair<const char*, bool>, 2> kinds = {std::pair{"sequential", false},
                                                             std::pair{"random", true}};
  const auto direct = file.open_direct();
  for (const auto& [kind, is_random] : kinds) {
    for (const std::size_t block : {kBlock, 128 * kKilo, 1024 * kKilo}) {
      if (block == 1024 * kKilo && !bench.is_full()) continue;
      const Row row = {fmt::format("files.direct_{}.{}k{}", kind, block / kKilo, where),
                       fmt::format("{} KiB past the cache, {}", block / kKilo,
                                   is_random ? "at random" : "in order"),
                       "pread() with O_DIRECT, each block once"};
      if (!direct) {
        bench.leave_out(row, direct.error().text());
        continue;
      }
      const auto offsets =
          is_random ? random_blocks(file.size(), block) : blocks_in_order(file.size(), block);
      const auto before = bytes_from_disk(bench);
      auto samples = read_blocks(direct->get(), offsets, block, 3 * bench.effort().most_ns);
      const auto behind = bytes_from_disk(bench);
      const auto asked = samples.size() * block;
      Measurement& one = bench.add(row, std::move(samples));
      if (before && behind)
        one.note =
            fmt::format("{:.0f} % of what was read came from the disk, by the kernel's count",
                        100.0 * static_cast<double>(*behind - *before) /
                            static_cast<double>(std::max<std::size_t>(asked, 1)));
      else
        one.note = "whether it came from the disk is not told: no /proc/self/io";
    }
  }
}

// A random read through the cache, after the file was dropped from the cache. The kernel's count
// proves that it was.
void measure_uncached(Bench& bench, const ScratchFile& file) {
  const Row row = {"files.uncached_random", "4 KiB of a file that is not cached, at random",
                   "pread() after POSIX_FADV_DONTNEED, no reading ahead"};
  const double stayed = file.drop_from_cache();
  if (stayed > 0.01)
    return bench.leave_out(row,
                           fmt::format("{:.0f} % of the file stayed in the cache", stayed * 100));
  posix_fadvise(file.fd(), 0, 0, POSIX_FADV_RANDOM);
  auto samples = read_blocks(file.fd(), random_blocks(file.size(), kBlock), kBlock,
                             3 * bench.effort().most_ns);
  posix_fadvise(file.fd(), 0, 0, POSIX_FADV_NORMAL);
  bench.add(row, std::move(samples)).note =
      fmt::format("{:.1f} % of the file was cached before, each block was read once", stayed * 100);
}

void measure_cache_size(Bench& bench, const ScratchFile& file) {
  const auto text = tracee::read_whole(bench.roots().proc + "/meminfo");
  std::uint64_t cached = 0;
  std::uint64_t available = 0;
  if (text)
    for (const std::string_view line : tracee::split(*text, '\n')) {
      const auto digits = line.find_first_of("0123456789");
      if (digits == std::string_view::npos) continue;
      if (line.starts_with("Cached:")) cached = parse_size(line.substr(digits));
      if (line.starts_with("MemAvailable:")) available = parse_size(line.substr(digits));
    }
  const Row row = {"files.cache_size", "file cache, at most", "what the kernel says is available"};
  if (available == 0) return bench.leave_out(row, "not told in /proc/meminfo");
  read_blocks(file.fd(), blocks_in_order(file.size(), kBlock), kBlock, UINT64_MAX / 2);
  Measurement& one = bench.add_value(
      row, static_cast<double>(available), Unit::kBytes,
      fmt::format(
          "{:.0f} MiB of it is in use; of the {} MiB that were tried {:.0f} % stayed cached: "
          "filling it would take others' pages",
          static_cast<double>(cached) / (1 << 20), file.size() >> 20, file.cached_share() * 100));
  one.is_less_better = false;
}

void measure_sizes(Bench& bench, const ScratchFile& file) {
  Curve cached{.id = "files.cached",
               .group = bench.group(),
               .name = "reading a cached file",
               .x_name = "size",
               .x_unit = Unit::kBytes,
               .y_name = "time a 4 KiB block",
               .y_unit = Unit::kNs,
               .points = {},
               .knees = {},
               .note = {}};
  Curve direct = cached;
  direct.id = "files.direct";
  direct.name = "reading past the cache";
  const auto past = file.open_direct();
  for (std::size_t bytes = 128 * kKilo; bytes <= file.size(); bytes *= 2) {
    const auto point = [&](int fd, Curve& curve) {
      std::vector<double> samples;
      for (int run = 0; run < 5; ++run) {
        const auto times = read_blocks(fd, blocks_in_order(bytes, 128 * kKilo), 128 * kKilo,
                                       bench.effort().most_ns);
        for (const double ns : times) samples.push_back(ns / 32);
      }
      const SampleSummary all = summarise(std::move(samples));
      if (all.count != 0)
        curve.points.push_back(
            {.x = static_cast<double>(bytes), .y = all.median, .q1 = all.q1, .q3 = all.q3});
    };
    point(file.fd(), cached);
    if (past && (bench.is_full() || bytes <= 4096 * kKilo)) point(past->get(), direct);
  }
  bench.profile().curves.push_back(std::move(cached));
  if (past) bench.profile().curves.push_back(std::move(direct));
}

void measure_readers(Bench& bench, const ScratchFile& file) {
  Curve curve{.id = "files.readers",
              .group = bench.group(),
              .name = "several readers at once, past the cache",
              .x_name = "readers",
              .x_unit = Unit::kCount,
              .y_name = "time of one random read of 4 KiB",
              .y_unit = Unit::kNs,
              .points = {},
              .knees = {},
              .note = {}};
  const auto direct = file.open_direct();
  if (!direct)
    return bench.leave_out({"files.readers", curve.name, "1 to 16 threads"}, direct.error().text());
  const auto offsets = random_blocks(file.size(), kBlock);
  for (const std::size_t readers : {1U, 2U, 4U, 8U, 16U}) {
    std::vector<std::vector<double>> samples(readers);
    {
      std::vector<std::jthread> threads;
      for (std::size_t reader = 0; reader < readers; ++reader)
        threads.emplace_back([&, reader] {
          const std::size_t share = offsets.size() / readers;
          const auto own = std::span(offsets).subspan(reader * share, share);
          samples[reader] = read_blocks(direct->get(), own, kBlock, bench.effort().most_ns);
        });
    }
    std::vector<double> all;
    for (const auto& some : samples) all.insert(all.end(), some.begin(), some.end());
    const SampleSummary summary = summarise(std::move(all));
    if (summary.count != 0)
      curve.points.push_back({.x = static_cast<double>(readers),
                              .y = summary.median,
                              .q1 = summary.q1,
                              .q3 = summary.q3});
  }
  bench.profile().curves.push_back(std::move(curve));
}

}  // namespace

void measure_files(Bench& bench) {
  const std::size_t bytes = std::size_t{bench.is_full() ? 256U : 32U} << 20;
  const auto file = ScratchFile::make(bench.directory(), bytes);
  if (!file)
    return bench.leave_out({"files.cached_sequential", "reading a file", ""}, file.error().text());
  measure_cached(bench, *file, "");
  measure_uncached(bench, *file);
  measure_direct(bench, *file, "");
  measure_cache_size(bench, *file);
  measure_sizes(bench, *file);
  measure_readers(bench, *file);
}

void measure_other_directory(Bench& bench, const std::string& directory) {
  const auto file = ScratchFile::make(directory, std::size_t{32} << 20);
  const Row row = {"files.other_penalty", "penalty of " + directory,
                   "4 KiB past the cache at random there, less the same here"};
  if (!file) return bench.leave_out(row, file.error().text());
  struct stat here{};
  struct stat there{};
  if (stat(bench.directory().c_str(), &here) == 0 && fstat(file->fd(), &there) == 0 &&
      here.st_dev == there.st_dev)
    return bench.leave_out(row,
                           fmt::format("it is on the same file system as {}", bench.directory()));
  measure_cached(bench, *file, ".other");
  measure_direct(bench, *file, ".other");
  const double local = bench.before("files.direct_random.4k");
  const double other = bench.before("files.direct_random.4k.other");
  if (local <= 0 || other <= 0)
    return bench.leave_out(row, "one of the two was not measured past the cache");
  bench.add_value(row, other - local, Unit::kNs, "for each block of 4 KiB");
}

}  // namespace sojourn::host
