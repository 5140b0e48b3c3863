#include "userspace/capture/queues/queue_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include <sojourn/ring_abi.h>

#include "userspace/capture/rings/mapped_arena.h"

namespace sojourn::capture {

namespace {

constexpr int kTimeout = 100;
constexpr std::uint64_t kMaxSlots = 65536;
constexpr std::array<std::string_view, 4> kKinds = {"stage", "pool", "bidirectional",
                                                    "between processes"};
constexpr std::size_t kAboutWords = sizeof(sj_queue_about) / sizeof(std::uint64_t);

template <typename T>
T acquire(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

// The tables, at the place that the header names, if that is inside of the mapping.
class Tables {
 public:
  static Result<Tables> find(std::span<const std::byte> arena) {
    if (arena.size() < sizeof(sj_arena) ||
        reinterpret_cast<std::uintptr_t>(arena.data()) % alignof(sj_arena) != 0)
      return fail("no ring arena: {} bytes", arena.size());
    const auto& header = *reinterpret_cast<const sj_arena*>(arena.data());
    if (acquire(header.magic) != SJ_ARENA_MAGIC) return fail("no ring arena: no mark of one");
    if (const auto version = acquire(header.version); version != SJ_ARENA_VERSION)
      return fail("a ring arena of version {}, this is for {}", version, SJ_ARENA_VERSION);
    const std::uint64_t offset = acquire(header.queues_offset);
    const std::uint64_t slots = acquire(header.queue_slots);
    const std::uint64_t stride = acquire(header.queue_table_stride);
    if (slots > kMaxSlots || stride < slots * sizeof(sj_queue) || stride > arena.size() ||
        offset > arena.size() || arena.size() - offset < SJ_QUEUE_TABLES * stride ||
        offset % alignof(sj_queue) != 0 || stride % alignof(sj_queue) != 0)
      return fail("a damaged ring arena: {} queues at {} of {} bytes", slots, offset, arena.size());
    return Tables(header, arena.data() + offset, slots, stride);
  }

  const sj_arena& header() const { return *header_; }

  std::span<const sj_queue> used(std::size_t table) const {
    const std::uint64_t used = acquire(header_->queue_table[table].used);
    return {reinterpret_cast<const sj_queue*>(first_ + table * stride_), std::min(used, slots_)};
  }

  // The index of the process's own table.
  std::optional<std::size_t> of(std::int32_t pid) const {
    for (std::size_t table = SJ_QUEUE_TABLE_FIRST; table < SJ_QUEUE_TABLES; ++table)
      if (acquire(header_->queue_table[table].pid) == pid) return table;
    return std::nullopt;
  }

 private:
  Tables(const sj_arena& header, const std::byte* first, std::uint64_t slots, std::uint64_t stride)
      : header_(&header), first_(first), slots_(slots), stride_(stride) {}

  const sj_arena* header_;
  const std::byte* first_;
  std::uint64_t slots_;
  std::uint64_t stride_;
};

std::string text_of(std::span<const char> bytes) {
  return {bytes.begin(), std::ranges::find(bytes, '\0')};
}

QueueSide side_of(const sj_queue_side& side) {
  return {text_of(side.stage), side.instance, side.pid};
}

// Returns the description, or nothing if it is being written at each attempt.
std::optional<sj_queue_about> read_about(const sj_queue& slot) {
  const auto* const from = reinterpret_cast<const std::uint64_t*>(&slot.about);
  for (int tries = 0; tries < kTimeout; ++tries) {
    const std::uint32_t generation = acquire(slot.generation);
    std::array<std::uint64_t, kAboutWords> words{};
    for (std::size_t i = 0; i < kAboutWords; ++i) words[i] = acquire(from[i]);
    if (generation % 2 == 0 && acquire(slot.generation) == generation)
      return std::bit_cast<sj_queue_about>(words);
  }
  return std::nullopt;
}

void read_table(std::span<const sj_queue> slots, Queues& queues) {
  for (const sj_queue& slot : slots) {
    if (acquire(slot.state) != SJ_QUEUE_LIVE) continue;
    auto queue = read_queue(slot);
    if (acquire(slot.state) != SJ_QUEUE_LIVE) continue;  // the queue ended meanwhile
    if (queue)
      queues.queues.push_back(*std::move(queue));
    else
      ++queues.unsteady;
  }
}

}  // namespace

std::optional<Queue> read_queue(const sj_queue& slot) {
  for (int tries = 0; tries < kTimeout; ++tries) {
    const std::uint64_t id = acquire(slot.id);
    const auto about = read_about(slot);
    const auto counts = read_counts(slot, id);
    if (!about) return std::nullopt;
    if (!counts) continue;
    return Queue{.id = id,
                 .slot = &slot,
                 .name = text_of(about->name),
                 .kind = about->kind < kKinds.size() ? kKinds[about->kind] : "unknown",
                 .producer = side_of(about->producer),
                 .consumer = side_of(about->consumer),
                 .group = about->group,
                 .capacity = about->capacity,
                 .address = about->address,
                 .counts = *counts};
  }
  return std::nullopt;
}

QueueMark read_mark(const sj_queue& slot) {
  if (acquire(slot.state) != SJ_QUEUE_LIVE) return {};
  return {.id = acquire(slot.id), .generation = acquire(slot.generation)};
}

std::optional<QueueCounts> read_counts(const sj_queue& slot, std::uint64_t id) {
  if (acquire(slot.id) != id || id == 0) return std::nullopt;
  std::uint64_t out = acquire(slot.out);
  QueueCounts counts;
  // Reads out twice, so that in and out are of one moment; of nearly one if the queue never rests.
  for (int tries = 0; tries < kTimeout; ++tries) {
    counts = {.in = acquire(slot.in), .out = out};
    out = acquire(slot.out);
    if (out == counts.out) break;
  }
  if (acquire(slot.id) != id) return std::nullopt;
  return counts;
}

Result<QueueSlots> queue_slots(std::span<const std::byte> arena, std::int32_t pid) {
  SJ_TRY(tables, Tables::find(arena));
  QueueSlots slots;
  slots.refused = acquire(tables.header().queues_refused);
  if (const auto own = tables.of(pid)) slots.tables[0] = tables.used(*own);
  slots.tables[1] = tables.used(SJ_QUEUE_TABLE_JOINT);
  return slots;
}

Result<Queues> read_queues(std::span<const std::byte> arena, std::int32_t pid) {
  SJ_TRY(slots, queue_slots(arena, pid));
  Queues queues;
  queues.refused = slots.refused;
  for (const auto table : slots.tables) read_table(table, queues);
  return queues;
}

Result<Queues> read_queues_of(const tracee::Process& process) {
  SJ_TRY(found, find_arenas(process));
  Queues all;
  for (const FoundArena& one : found) {
    SJ_TRY(arena, open_arena(process, one));
    SJ_TRY(queues, read_queues(arena.bytes(), process.namespace_pid()));
    for (Queue& queue : queues.queues) {
      queue.slot = nullptr;
      all.queues.push_back(std::move(queue));
    }
    all.refused += queues.refused;
    all.unsteady += queues.unsteady;
  }
  return all;
}

}  // namespace sojourn::capture
