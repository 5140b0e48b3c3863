#include "userspace/capture/post_mortem/live_arenas.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <thread>
#include <utility>

#include <linux/memfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "userspace/base/clock.h"
#include "userspace/base/fail_errno.h"
#include "userspace/capture/records/ring_clock.h"
#include "userspace/capture/records/shared.h"
#include "userspace/capture/rings/owner_page.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kTimeoutNs = 1'000'000'000;

// If the copying thread loses its processor for a moment, an owner may fill its ring anew.
constexpr int kTries = 16;
// The limit for copying all rings: those that are copied last hold less from before the instant.
constexpr std::uint64_t kMaxPassNs = 5'000'000;
constexpr int kPasses = 5;

bool is_used(const Arena& arena, std::uint64_t slot) {
  return load_acquire(arena.slots()[slot].taken) != 0;
}

// ---- copying ----

void copy_words(const std::byte* from, std::span<std::uint64_t> into) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(from);
  for (std::size_t word = 0; word < into.size(); ++word) into[word] = load_relaxed(words[word]);
}

// Bytes of a ring as they lie in its file, from its beginning on.
class Image {
 public:
  explicit Image(std::uint64_t bytes) : words_(bytes / sizeof(std::uint64_t)) {}

  sj_ring& ring() { return *reinterpret_cast<sj_ring*>(words_.data()); }
  std::span<std::uint64_t> at(std::uint64_t offset, std::uint64_t bytes) {
    return std::span(words_).subspan(offset / sizeof(std::uint64_t), bytes / sizeof(std::uint64_t));
  }
  void set_owner_page(const sj_ring_private& own) {
    *reinterpret_cast<sj_ring_private*>(at(SJ_RING_PRIVATE, sizeof(own)).data()) = own;
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

 private:
  std::vector<std::uint64_t> words_;
};

// The owner raises `limit` before it writes beyond the old one, and every machine shows both in
// this order (ring_write.h). So bytes beyond the limit, as read after the copy, were not
// overwritten while they were copied.
bool copy_once(const sj_ring& ring, std::uint64_t capacity, Image& image) {
  const std::uint64_t owner = load_acquire(ring.owner);
  const std::uint64_t claimed = load_relaxed(ring.claimed_stamp);
  const std::int64_t cursor = load_acquire(ring.cursor);
  const std::int64_t limit_before = load_relaxed(ring.limit);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&ring);
  copy_words(bytes, image.at(0, sizeof(sj_ring)));
  copy_words(bytes + SJ_RING_DATA, image.at(SJ_RING_DATA, capacity + SJ_RECORD_MAX_BYTES));
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::int64_t limit = load_relaxed(ring.limit);
  image.ring().cursor = cursor;
  image.ring().limit = limit;
  // At most a quarter of the ring may be lost to overwriting.
  return load_relaxed(ring.owner) == owner && load_relaxed(ring.claimed_stamp) == claimed &&
         limit >= limit_before &&
         static_cast<std::uint64_t>(limit) - static_cast<std::uint64_t>(limit_before) <=
             capacity / 4;
}

Result<void> put(int file, const Arena& arena, std::uint64_t offset,
                 std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done <= 0) return fail_errno("copy {}", arena.name());
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return {};
}

// Hits before `until` that are not in a copy of the ring that ends at `position`.
struct Missing {
  bool is_whole = false;             // a complete record that the copy was too early for
  std::int64_t under_way_until = 0;  // a hit is under way; 0: none is
};

Missing missing_in(const Arena& arena, std::uint64_t slot, std::uint64_t mask,
                   std::int64_t position, std::uint64_t until, const tracee::Process& process,
                   bool& knows_owners) {
  const sj_ring& ring = arena.ring(slot);
  if (load_acquire(ring.cursor) == position) {
    if (load_acquire(ring.owner) >> 32 != static_cast<std::uint32_t>(process.namespace_pid()))
      return {};
    if (!process.alive()) return {};  // the copy has everything, and the process's memory is gone
    const auto own = read_owner_page(arena, slot, process.pid());
    knows_owners = knows_owners && own.has_value();
    const bool is_under_way = own && own->alive != 0 && own->reserved > position;
    return {.under_way_until = is_under_way ? own->reserved : 0};
  }
  // Stamps rise in the order of records, so the next record's stamp decides.
  const std::byte* const record =
      arena.ring_data(slot) + (static_cast<std::uint64_t>(position) & mask);
  const auto& header = *reinterpret_cast<const sj_ring_record*>(record);
  const std::uint64_t stamp =
      std::uint64_t{load_relaxed(header.stamp_high)} << 32 | load_relaxed(header.stamp_low);
  return {.is_whole = stamp < until};
}

// Copies one arena into a file.
class Copier {
 public:
  Copier(const Arena& arena, const tracee::Process& process, int file)
      : arena_(&arena), process_(&process), file_(file) {}

  Result<void> copy_all(std::uint64_t until) {
    until_ = until;
    under_way_.clear();
    SJ_CHECK(put(file_, *arena_, 0, arena_->bytes().first(arena_->layout().rings_offset)));
    for (std::uint64_t slot = 0; slot < arena_->slots_used(); ++slot)
      if (is_used(*arena_, slot)) SJ_CHECK(copy(slot));
    return {};
  }

  // Adds hits that were under way when the arena was copied, once they are whole. True: none are
  // left.
  Result<bool> copy_rest() {
    for (const std::uint64_t slot : std::exchange(under_way_, {})) SJ_CHECK(copy(slot));
    return under_way_.empty();
  }

  bool is_alive() const { return process_->alive(); }
  bool knows_owners() const { return knows_owners_ && is_alive(); }

 private:
  Result<void> copy(std::uint64_t slot) {
    const sj_ring& ring = arena_->ring(slot);
    const std::uint64_t mask = load_relaxed(ring.mask);
    // The reader of the copy reports a ring that is not sound.
    const bool is_sound = std::has_single_bit(mask + 1) && mask >= SJ_RING_PAGE - 1 &&
                          mask < arena_->layout().max_ring_bytes();
    const std::uint64_t capacity = is_sound ? mask + 1 : 0;
    Image image(SJ_RING_DATA + capacity + SJ_RECORD_MAX_BYTES);
    Missing missing;
    for (int tries = 0; tries < kTries; ++tries) {
      const bool is_good = copy_once(ring, capacity, image);
      if (until_ != UINT64_MAX && is_sound)
        missing =
            missing_in(*arena_, slot, mask, image.ring().cursor, until_, *process_, knows_owners_);
      if (is_good && !missing.is_whole) break;
    }
    image.ring().mask = mask;
    const bool is_under_way = missing.under_way_until != 0;
    image.set_owner_page(
        {.alive = is_under_way ? 1U : 0U, .pad = 0, .reserved = missing.under_way_until});
    if (is_under_way) under_way_.push_back(slot);
    const ArenaLayout& layout = arena_->layout();
    return put(file_, *arena_, layout.rings_offset + slot * layout.ring_stride, image.bytes());
  }

  const Arena* arena_;
  const tracee::Process* process_;
  int file_;
  std::uint64_t until_ = UINT64_MAX;
  std::vector<std::uint64_t> under_way_;
  bool knows_owners_ = true;
};

Result<base::Fd> make_file(const Arena& arena) {
  base::Fd file(memfd_create("copy of rings", MFD_CLOEXEC));
  if (!file || ftruncate(file.get(), static_cast<off_t>(arena.layout().total_bytes)) != 0)
    return fail_errno("make room for {}", arena.name());
  return file;
}

bool any_alive(const std::vector<Copier>& copiers) {
  return std::ranges::any_of(copiers, &Copier::is_alive);
}

// Chooses one instant for all arenas, and copies each as soon after it as possible.
Result<std::uint64_t> copy_together(std::vector<Copier>& copiers) {
  for (int pass = 1;; ++pass) {
    const std::uint64_t begin_ns = base::monotonic_ns();
    const std::uint64_t until = any_alive(copiers) ? read_cycle_counter() : UINT64_MAX;
    for (Copier& copier : copiers) SJ_CHECK(copier.copy_all(until));
    if (base::monotonic_ns() - begin_ns <= kMaxPassNs || pass == kPasses) return until;
  }
}

Result<void> settle(std::vector<Copier>& copiers) {
  const std::uint64_t timeout = base::monotonic_ns() + kTimeoutNs;
  for (bool is_whole = false; !is_whole;) {
    is_whole = true;
    for (Copier& copier : copiers) {
      SJ_TRY(whole, copier.copy_rest());
      is_whole = is_whole && whole;
    }
    if (!any_alive(copiers) || base::monotonic_ns() >= timeout) return {};
    if (!is_whole) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

}  // namespace

Result<LiveCopy> copy_live_arenas(std::span<const LiveArena> arenas) {
  std::vector<base::Fd> files;
  std::vector<Copier> copiers;
  for (const LiveArena& one : arenas) {
    SJ_TRY(file, make_file(*one.arena));
    copiers.emplace_back(*one.arena, *one.process, file.get());
    files.push_back(std::move(file));
  }
  LiveCopy copy;
  SJ_TRY(until, copy_together(copiers));
  copy.until_stamp = until;
  if (until != UINT64_MAX) SJ_CHECK(settle(copiers));
  for (std::size_t index = 0; index < arenas.size(); ++index) {
    const Arena& arena = *arenas[index].arena;
    if (arena.was_cut()) return fail("{}: was cut while it was read", arena.name());
    SJ_TRY(left, Arena::open_orphaned(std::move(files[index]), arena.name()));
    copy.arenas.push_back(
        {.arena = std::move(left),
         .present = {},
         .has_private_pages = until != UINT64_MAX && copiers[index].knows_owners()});
  }
  return copy;
}

}  // namespace sojourn::capture
