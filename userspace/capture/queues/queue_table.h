// Reads the queues that a process registered from its arena (sojourn/ring_abi.h), from outside: no
// code runs in the target, and it notices nothing. The arena is hostile until checked. Except for
// read_queues_of, these are pure functions over mapped memory that the target goes on writing; any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/tracee/process.h"

struct sj_queue;

namespace sojourn::capture {

struct QueueSide {
  std::string stage;           // empty: not known yet
  std::int32_t instance = -1;  // -1: not known yet
  std::int32_t pid = 0;        // 0: the process itself, or not known yet
};

struct QueueCounts {
  std::uint64_t in = 0;
  std::uint64_t out = 0;

  // An out that is not counted under a lock can be seen before its in.
  std::uint64_t depth() const { return in > out ? in - out : 0; }
};

struct Queue {
  std::uint64_t id = 0;
  const sj_queue* slot = nullptr;  // in the mapped arena
  std::string name;                // as the target wrote it: escape it before printing
  std::string_view kind;           // "stage", "pool", "bidirectional", "between processes"
  QueueSide producer;
  QueueSide consumer;
  std::uint32_t group = 0;     // or pool; 0: none
  std::uint64_t capacity = 0;  // 0: not bounded
  std::uint64_t address = 0;   // in the target; 0: not known
  QueueCounts counts;
};

struct Queues {
  std::vector<Queue> queues;  // in the order of their places
  std::uint64_t refused = 0;  // registrations that found no place
  std::size_t unsteady = 0;   // queues that changed at each attempt, left out
};

// `arena` is the mapped file from its beginning to the end of the tables at least, `pid` the
// process's id in its own namespace.
Result<Queues> read_queues(std::span<const std::byte> arena, std::int32_t pid);

// The slots that were ever used in the process's own table and in the joint one. For repeated
// reading: the queue in a slot changes, but the number of slots only grows.
struct QueueSlots {
  std::array<std::span<const sj_queue>, 2> tables;
  std::uint64_t refused = 0;
};
Result<QueueSlots> queue_slots(std::span<const std::byte> arena, std::int32_t pid);

// The queue in a slot. Nothing if it changed at each attempt.
std::optional<Queue> read_queue(const sj_queue& slot);

// A cheap comparison before read_queue(): equal marks mean the same queue and description.
struct QueueMark {
  std::uint64_t id = 0;  // 0: no queue is there
  std::uint32_t generation = 0;

  bool operator==(const QueueMark&) const = default;
};
QueueMark read_mark(const sj_queue& slot);

// The queues of all modules of a process, with their present counts; `slot` is null.
Result<Queues> read_queues_of(const tracee::Process& process);

// Nothing if the slot belongs to another queue by now. A queue that has ended keeps its last
// counts.
std::optional<QueueCounts> read_counts(const sj_queue& slot, std::uint64_t id);

}  // namespace sojourn::capture
