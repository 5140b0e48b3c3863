#include "userspace/capture/post_mortem/orphaned_arenas.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "userspace/base/fail_errno.h"
#include "userspace/tracee/core_file.h"
#include "userspace/tracee/file_bytes.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

using tracee::CoreFile;
using tracee::CoreSegment;

template <typename T>
bool read_at(const CoreFile& core, std::uint64_t offset, T& into) {
  return core.read(offset, std::as_writable_bytes(std::span(&into, 1))).has_value();
}

bool begins_as_arena(int file) {
  std::uint64_t magic = 0;
  return tracee::read_fully(file, 0, std::as_writable_bytes(std::span(&magic, 1))) &&
         magic == SJ_ARENA_MAGIC;
}

// ---- from a core file ----

// Skips memory that was never written: its zeros need no memory in a new file.
bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

Result<void> copy_part(const CoreFile& core, std::uint64_t from, std::uint64_t bytes, int file,
                       std::uint64_t to) {
  std::vector<std::byte> block(std::size_t{64} << 10);
  while (bytes != 0) {
    const auto part = std::span(block).first(std::min<std::uint64_t>(bytes, block.size()));
    SJ_CHECK(core.read(from, part));
    if (!is_zero(part) && pwrite(file, part.data(), part.size(), static_cast<off_t>(to)) !=
                              static_cast<ssize_t>(part.size()))
      return fail_errno("{}: copy its rings", core.name());
    from += part.size();
    to += part.size();
    bytes -= part.size();
  }
  return {};
}

// `budget`: bytes of the core that were not copied yet. Honest segments do not overlap.
Result<OrphanedArena> copy_arena(const CoreFile& core, std::uint64_t base,
                                 std::uint64_t total_bytes, std::uint64_t& budget) {
  base::Fd file(memfd_create("rings of a core file", MFD_CLOEXEC));
  if (!file || ftruncate(file.get(), static_cast<off_t>(total_bytes)) != 0)
    return fail_errno("{}: make room for its rings", core.name());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> present;
  for (const CoreSegment& segment : core.segments()) {
    const std::uint64_t begin = std::max(segment.address, base);
    const std::uint64_t end = std::min(segment.address + segment.bytes, base + total_bytes);
    if (begin >= end) continue;
    if (end - begin > budget) return fail("{}: its segments overlap", core.name());
    budget -= end - begin;
    SJ_CHECK(copy_part(core, segment.offset + (begin - segment.address), end - begin, file.get(),
                       begin - base));
    present.emplace_back(begin - base, end - begin);
  }
  std::ranges::sort(present);
  SJ_TRY(arena, Arena::open_orphaned(std::move(file), core.name()));
  OrphanedArena left{.arena = std::move(arena),
                     .is_from_core = true,
                     .present = std::move(present),
                     .has_private_pages = true};
  const ArenaLayout& layout = left.arena.layout();
  if (!left.holds(layout.slots_offset, layout.ring_slots * sizeof(sj_ring_slot)))
    return fail("{}: was cut short: the table of its rings is missing", core.name());
  return left;
}

Result<OrphanedProcess> open_core(CoreFile core, std::uint64_t file_bytes) {
  OrphanedProcess left{.pid = core.pid(),
                       .comm = core.comm(),
                       .arguments = core.arguments(),
                       .signal = core.signal(),
                       .missing_bytes = core.missing_bytes(),
                       .instructions = {},
                       .arenas = {}};
  for (const tracee::CoreThread& thread : core.threads())
    left.instructions.emplace(static_cast<std::uint32_t>(thread.tid), thread.instruction);
  std::uint64_t budget = file_bytes;
  for (const CoreSegment& segment : core.segments()) {
    // A header of an arena is only at the beginning of a segment: the file is mapped from its
    // start.
    sj_arena header{};
    if (segment.bytes < sizeof(header) || !read_at(core, segment.offset, header.magic) ||
        header.magic != SJ_ARENA_MAGIC || !read_at(core, segment.offset, header))
      continue;
    if (auto sound = check_arena(header, header.total_bytes); !sound)
      return std::unexpected(std::move(sound).error().within(core.name()));
    if (segment.address + header.total_bytes < segment.address)
      return fail("{}: rings of {} bytes at {:#x}", core.name(), header.total_bytes,
                  segment.address);
    SJ_TRY(arena, copy_arena(core, segment.address, header.total_bytes, budget));
    left.arenas.push_back(std::move(arena));
  }
  if (left.arenas.empty())
    return fail(
        "{}: holds no rings: {}", core.name(),
        core.missing_bytes() != 0
            ? "it was cut short (ulimit -c, or a full disk)"
            : "the program has none, or its coredump_filter leaves shared memory out (bit 1)");
  return left;
}

// ---- from ring files ----

struct RingFile {
  std::string path;
  Arena arena;
};

Result<RingFile> open_ring_file(const std::string& path) {
  base::Fd file;
  SJ_CHECK(tracee::open_regular(path, file));
  SJ_TRY(arena, Arena::open_orphaned(std::move(file), path));
  return RingFile{path, std::move(arena)};
}

// Returns whether the process that made the file seems to run still.
bool is_in_use(const RingFile& file) {
  struct stat status{};
  const auto process = tracee::Process::open(file.arena.pid());
  if (!process || stat(file.path.c_str(), &status) != 0) return false;
  const auto arenas = find_arenas(*process);
  return arenas && std::ranges::any_of(*arenas, [&](const FoundArena& found) {
           return found.inode == status.st_ino && found.device == status.st_dev;
         });
}

Result<OrphanedProcess> of_process(std::vector<RingFile> files, pid_t pid) {
  OrphanedProcess left{.pid = pid, .comm = {}, .arguments = {}, .arenas = {}};
  for (RingFile& file : files) {
    if (is_in_use(file))
      return fail(
          "{}: process {} still runs: record -p {} --snapshot writes what its rings hold now",
          file.path, file.arena.pid(), file.arena.pid());
    left.arenas.push_back({.arena = std::move(file.arena), .present = {}});
  }
  return left;
}

bool has_ring_of(const Arena& arena, pid_t pid) {
  const auto slots = arena.slots().first(arena.slots_used());
  return std::ranges::any_of(slots, [&](const sj_ring_slot& slot) {
    return slot.taken >> 32 == static_cast<std::uint32_t>(pid);
  });
}

// File names in a directory are ignored, as the files may have been copied from elsewhere.
Result<OrphanedProcess> open_directory(const std::string& path, pid_t pid) {
  std::vector<RingFile> files;
  std::map<pid_t, std::string> makers;
  std::error_code failed;
  std::set<std::string> names;  // sorted
  for (const auto& entry : std::filesystem::directory_iterator(path, failed))
    names.insert(entry.path().string());
  for (const std::string& name : names) {
    base::Fd file;
    if (!tracee::open_regular(name, file) || !begins_as_arena(file.get())) continue;
    SJ_TRY(ring_file, open_ring_file(name));
    const sj_module module = ring_file.arena.module();
    const auto maker = ring_file.arena.pid();
    if (pid != 0 && maker != pid && !has_ring_of(ring_file.arena, pid)) continue;
    makers.emplace(maker, std::filesystem::path(module.path).filename().string());
    files.push_back(std::move(ring_file));
  }
  if (failed) return fail("open {}: {}", path, failed.message());
  if (files.empty() && pid != 0) return fail("{}: no ring files of process {}", path, pid);
  if (files.empty()) return fail("{}: no ring files are in it", path);
  if (makers.size() > 1) {
    std::string list;
    for (const auto& [maker, name] : makers)
      list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", maker, tracee::printable(name));
    return fail("{}: rings of several processes, choose one by -p PID: {}", path, list);
  }
  return of_process(std::move(files), pid != 0 ? pid : makers.begin()->first);
}

}  // namespace

bool OrphanedArena::holds(std::uint64_t offset, std::uint64_t bytes) const {
  if (!is_from_core) return true;  // a file's size was checked before
  // Neighbours may join: a ring is in several segments.
  for (const auto& [begin, length] : present) {
    if (begin > offset) return false;
    const std::uint64_t end = begin + length;
    if (end <= offset) continue;
    if (bytes <= end - offset) return true;
    bytes -= end - offset;
    offset = end;
  }
  return bytes == 0;
}

Result<OrphanedProcess> open_orphaned_process(const std::string& path, pid_t pid) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return fail_errno("open {}", path);
  if (S_ISDIR(status.st_mode)) return open_directory(path, pid);
  base::Fd file;
  SJ_TRY(bytes, tracee::open_regular(path, file));
  if (CoreFile::is_core(file.get())) {
    SJ_TRY(core, CoreFile::open(std::move(file), bytes, path));
    SJ_TRY(left, open_core(std::move(core), bytes));
    if (pid != 0) left.pid = pid;
    return std::move(left);
  }
  if (!begins_as_arena(file.get()))
    return fail(
        "{}: neither a ring file nor a core file of a 64-bit program (one that is compressed is to "
        "be unpacked first)",
        tracee::printable(path));
  SJ_TRY(ring_file, open_ring_file(path));
  std::vector<RingFile> files;
  files.push_back(std::move(ring_file));
  const pid_t whose = pid != 0 ? pid : files.front().arena.pid();
  return of_process(std::move(files), whose);
}

}  // namespace sojourn::capture
