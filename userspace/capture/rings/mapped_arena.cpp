#include "userspace/capture/rings/mapped_arena.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/privileged_helper.h"
#include "userspace/capture/records/shared.h"
#include "userspace/tracee/maps.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

// Returns whether `count` items of `each` bytes fit at `offset` of a file, without overflow.
bool fits(std::uint64_t offset, std::uint64_t count, std::uint64_t each, std::uint64_t file_bytes) {
  return offset <= file_bytes && (each == 0 || count <= (file_bytes - offset) / each);
}

bool is_page_aligned(std::uint64_t offset) {
  return offset % SJ_RING_PAGE == 0;
}

}  // namespace

Result<ArenaLayout> check_arena(const sj_arena& header, std::uint64_t file_bytes) {
  if (header.magic != SJ_ARENA_MAGIC) return fail("is no arena of rings");
  if (header.version != SJ_ARENA_VERSION)
    return fail(
        "has rings of version {}, but this program knows version {} only: use a sojourn of the "
        "version that the target was built with",
        header.version, SJ_ARENA_VERSION);
  if (header.page_bytes != SJ_RING_PAGE)
    return fail("counts in pages of {} bytes, not {}", header.page_bytes, SJ_RING_PAGE);
  if (header.total_bytes != file_bytes)
    return fail("says that it has {} bytes, but has {}", header.total_bytes, file_bytes);
  constexpr std::uint64_t kMaxSlots = 1 << 20;
  const bool sound =
      header.flags_bytes % sizeof(std::uint16_t) == 0 && header.flags_offset >= sizeof(sj_arena) &&
      is_page_aligned(header.flags_offset) && is_page_aligned(header.slots_offset) &&
      is_page_aligned(header.rings_offset) && is_page_aligned(header.ring_stride) &&
      header.ring_slots <= kMaxSlots && header.ring_stride >= SJ_RING_DATA + 2 * SJ_RING_PAGE &&
      fits(header.flags_offset, header.flags_bytes, 1, header.slots_offset) &&
      fits(header.slots_offset, header.ring_slots, sizeof(sj_ring_slot), header.rings_offset) &&
      fits(header.rings_offset, header.ring_slots, header.ring_stride, file_bytes);
  if (!sound) return fail("has a header that does not fit its {} bytes", file_bytes);
  return ArenaLayout{.total_bytes = file_bytes,
                     .code_address = header.code_address,
                     .flags_address = header.flags_address,
                     .flags_offset = header.flags_offset,
                     .flags = header.flags_bytes / sizeof(std::uint16_t),
                     .slots_offset = header.slots_offset,
                     .rings_offset = header.rings_offset,
                     .ring_slots = header.ring_slots,
                     .ring_stride = header.ring_stride,
                     .ring_bytes_default = header.ring_bytes_default};
}

Result<Arena> Arena::open(base::Fd file, std::string name, std::uint64_t address) {
  return open(std::move(file), std::move(name), address, Sharing::kShared);
}

Result<Arena> Arena::open_named(const std::string& path, std::string name) {
  base::Fd file = tracee::open_path(path, O_RDWR | O_NOFOLLOW);
  if (!file) return fail_errno("open {}", path);
  return open(std::move(file), std::move(name));
}

Result<Arena> Arena::open_orphaned(base::Fd file, std::string name) {
  return open(std::move(file), std::move(name), 0, Sharing::kPrivate);
}

Result<Arena> Arena::open(base::Fd file, std::string name, std::uint64_t address, Sharing sharing) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return fail_errno("look at {}", name);
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode)) return fail("{}: is no regular file", name);
  if (bytes < sizeof(sj_arena)) return fail("{}: is too short for an arena of rings", name);
  SJ_TRY(mapping, GuardedMapping::map(file.get(), bytes, name, sharing));
  sj_arena copy;
  std::copy_n(mapping.data(), sizeof(copy), reinterpret_cast<std::byte*>(&copy));
  auto layout = check_arena(copy, bytes);
  if (!layout) return std::unexpected(std::move(layout).error().within(name));
  return Arena(std::move(file), std::move(name), address, *layout, std::move(mapping));
}

Result<void> Arena::lock() {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(file_.get(), F_OFD_SETLK, &whole) == 0) return {};
  if (errno == EAGAIN || errno == EACCES)
    return fail("{}: another collector is attached to these rings: end it first", name_);
  return fail_errno("lock {}", name_);
}

sj_module Arena::module() const {
  sj_module module = header().module;
  module.path[sizeof(module.path) - 1] = '\0';
  module.build_id_bytes = std::min<std::uint32_t>(module.build_id_bytes, sizeof(module.build_id));
  return module;
}

std::optional<sj_clock_reading> Arena::newest_clocks() const {
  const sj_clock_reading newest = header().newest_clocks;
  const bool is_whole = load_acquire(header().clocks_writer) == 0;
  return is_whole && newest.stamp != 0 ? std::optional(newest) : std::nullopt;
}

std::uint64_t Arena::slots_used() const {
  return std::min(load_acquire(header().slots_used), layout_.ring_slots);
}
std::uint64_t Arena::memory_used() const {
  return load_relaxed(header().memory_used);
}
std::uint64_t Arena::memory_ceiling() const {
  const std::uint64_t asked = load_relaxed(control().memory_ceiling);
  return asked != 0 ? asked : load_relaxed(header().memory_ceiling_default);
}
bool Arena::gone() const {
  return load_acquire(header().gone) != 0;
}

std::span<std::uint16_t> Arena::flags() const {
  return {reinterpret_cast<std::uint16_t*>(base_ + layout_.flags_offset), layout_.flags};
}
void Arena::lower_flags() const {
  constexpr auto kRing = static_cast<std::uint16_t>(SJ_FLAG_RING);
  for (std::uint16_t& flag : flags())
    if ((load_relaxed(flag) & kRing) != 0)
      __atomic_fetch_and(&flag, static_cast<std::uint16_t>(~kRing), __ATOMIC_RELEASE);
}
std::span<sj_ring_slot> Arena::slots() const {
  return {reinterpret_cast<sj_ring_slot*>(base_ + layout_.slots_offset), layout_.ring_slots};
}
std::span<sj_ring_loss, SJ_RING_LOSSES> Arena::refused() const {
  return header().refused;
}

sj_ring& Arena::ring(std::uint64_t slot) const {
  return *reinterpret_cast<sj_ring*>(base_ + layout_.rings_offset + slot * layout_.ring_stride);
}
const std::byte* Arena::ring_data(std::uint64_t slot) const {
  return reinterpret_cast<const std::byte*>(&ring(slot)) + SJ_RING_DATA;
}

void* Arena::address_of_private(std::uint64_t slot) const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in another process
  return reinterpret_cast<void*>(address_ + layout_.rings_offset + slot * layout_.ring_stride +
                                 SJ_RING_PRIVATE);
}

namespace {

bool is_arena_name(std::string_view name) {
  if (name.starts_with("/memfd:" SJ_ARENA_NAME)) return true;
  const auto slash = name.rfind('/');
  return slash != std::string_view::npos && name.substr(slash + 1).starts_with(SJ_ARENA_NAME "-");
}

// The flags are mapped apart, and owners' pages lie between the rings, so an arena has several
// mappings.
void note(std::vector<FoundArena>& found, const tracee::Mapping& mapping) {
  auto known = std::ranges::find_if(found, [&](const FoundArena& arena) {
    return arena.inode == mapping.inode && arena.device == mapping.device;
  });
  if (known == found.end())
    known = found.insert(known, {.device = mapping.device,
                                 .inode = mapping.inode,
                                 .start = mapping.start,
                                 .end = mapping.end,
                                 .name = tracee::printable(mapping.name)});
  if (mapping.offset == 0) known->address = mapping.start;
  if (mapping.start == known->address + mapping.offset) known->upper = mapping.end;
}

// Opens the file through a descriptor that the process has of it.
base::Fd open_descriptor(const tracee::Process& process, const FoundArena& found) {
  std::error_code hidden;
  for (const auto& entry : std::filesystem::directory_iterator(process.proc("fd"), hidden)) {
    struct stat status{};
    if (stat(entry.path().c_str(), &status) != 0) continue;
    if (status.st_ino != found.inode || status.st_dev != found.device) continue;
    return base::Fd(open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
  }
  return {};
}

}  // namespace

Result<std::vector<FoundArena>> find_arenas(const tracee::Process& process) {
  auto text = tracee::read_whole(process.proc("maps"));
  if (!text) return std::unexpected(process.explain(std::move(text).error()));
  SJ_TRY(mappings, tracee::parse_maps(*text));
  std::vector<FoundArena> found;
  for (const tracee::Mapping& mapping : mappings)
    if (is_arena_name(mapping.name)) note(found, mapping);
  return found;
}

base::Fd open_arena_file(const tracee::Process& process, const FoundArena& found) {
  base::Fd file = open_descriptor(process, found);
  if (file) return file;
  const std::string path = process.proc(fmt::format("map_files/{:x}-{:x}", found.start, found.end));
  file = base::Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const bool lacks_rights = !file && (errno == EACCES || errno == EPERM);
  const auto* const helper = base::PrivilegedHelper::of_this_process();
  if (!lacks_rights || helper == nullptr) return file;
  base::Packer wanted;
  wanted.put(process.pid()).put(found.device).put(found.inode);
  auto answer = helper->ask(base::PrivilegedRequest::kOpenRings, std::move(wanted));
  if (!answer || answer->fds.size() != 1) return {};
  return std::move(answer->fds.front());
}

Result<Arena> open_arena(const tracee::Process& process, const FoundArena& found) {
  const std::string name = fmt::format("the rings of process {} ({})", process.title(), found.name);
  base::Fd file = open_arena_file(process, found);
  if (!file) return std::unexpected(process.explain(fail_errno("open {}", name).error()));
  return Arena::open(std::move(file), name, found.address);
}

}  // namespace sojourn::capture
