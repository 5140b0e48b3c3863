// Why a packet took as long as it did: its time, cut into parts, each with its cause and the
// evidence for it. Plain data. docs/explain.md defines the causes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/model/known_id.h"
#include "analysis/model/schema.h"

namespace sojourn::causes {

// The reason for a part of the packet's time: what it waited for, or which work was done.
enum class CauseKind : std::uint8_t {
  kWork,            // its thread ran: the stage itself took that long
  kQueue,           // its thread ran for others
  kSlot,            // its turn had come, and the next slot or a grant had not
  kCpu,             // its thread wanted a CPU that somebody else had
  kBlocked,         // its thread waited: slept, for a lock, for a device
  kInterrupted,     // an interrupt ran on its thread's CPU
  kHandover,        // the previous thread had not handed it over yet
  kBatching,        // its thread had it, and waited for more to come
  kReordering,      // a later unit of its flow had to leave first
  kReassembly,      // its other segments had not come yet
  kRetransmission,  // it was sent again
  kUnknown,         // the trace does not show which of these
};
constexpr std::size_t kCauseKinds = 12;
std::string_view name(CauseKind kind);  // work queue slot cpu blocked ...

struct Stretch {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;

  bool operator==(const Stretch&) const = default;
};

struct LatencyPart {
  CauseKind kind = CauseKind::kUnknown;
  std::uint16_t place = 0;  // in Topology::places
  std::uint64_t ns = 0;     // in all, of the time between the two:
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t tid = 0;        // the thread that worked or had to wait; 0: not known
  std::uint32_t by = 0;         // kCpu: who had the CPU; kBlocked: who woke it. 0: not known
  std::int32_t cpu = -1;        // kCpu
  bool was_running = false;     // kCpu: it had the CPU and lost it
  bool by_interrupt = false;    // kBlocked: an interrupt woke it
  std::int64_t number = -1;     // kBlocked: the system call; kInterrupted: the interrupt;
                                // kSlot: the slot; kRetransmission: the round. -1: not known
  bool is_softirq = false;      // kInterrupted
  std::uint64_t count = 0;      // kQueue, kReordering: units; kSlot: slots; kInterrupted: times
  bool of_flow = false;         // kQueue: the units are those of its own flow
  bool is_lower_bound = false;  // kQueue: there may be more, which came before the trace began
  // KCpu: the thread that had the CPU; kBlocked: the one that woke it. 0: not known.
  bool is_paced = false;
  std::int64_t sampled = -1;  // kQueue: the most that samples of the queue saw meanwhile
  std::uint64_t faults = 0;   // kWork: page faults
  // When it was, in the order of time: together as long as `ns`. Empty unless asked for.
  std::vector<Stretch> stretches = {};
};

struct Verdict {
  std::uint64_t journey = 0;
  model::Direction direction = model::Direction::kDownlink;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t segments = 1;
  std::uint32_t retransmissions = 0;
  bool is_ambiguous = false;    // some of its steps may be another packet's
  model::PointId namesake = 0;  // the event whose ids name it, and its values
  std::vector<std::uint64_t> values;
  std::vector<model::KnownId> ids;  // its ids for people
  std::vector<LatencyPart> parts;   // the longest first; they add up to the latency

  std::uint64_t latency_ns() const { return end_ns - start_ns; }
};

}  // namespace sojourn::causes
