// The ground truth of a run of the base station under test: its format and its reader. It is
// written by the station's own bookkeeping (see truth_log.h), never from what the probes saw.
//
// File, little endian. A string is u16 length and its bytes.
//   "SJTRUTH2"
//   u16 points, each: string "D a--b", string "len:rnti:drb.psn"
//   u16 queues, each: string name, u32 capacity
//   u16 places, each: string (where a packet can end)
//   blocks, each: u32 bytes, u16 thread, u32 tid, then that many bytes of records of this thread
//   last block: thread 0xffff, five u64: how many hits, queue operations, packets, fates and
//   preemptions there are
// Records start with a u8 kind:
//   1 hit    u64 id, u16 point, u64 before_ns, u64 after_ns, u64 repeat_of, u8 values, u16 parents,
//            u16 pieces, then u32 values[], u64 parents[], {u64 packet, u32 lo, u32 hi} pieces[]
//   2 queue  u16 queue, u8 operation, u64 order, u64 ts_ns, u32 depth, u64 item
//   3 packet u64 id, u8 direction, u16 rnti, u8 drb, u32 bytes, u64 created_ns
//   4 fate   u64 packet, u64 ts_ns, u8 place (0 delivered, else 1 + index of the place)
//   5 preemption  u32 victim tid, u32 cpu, u8 precedence, u64 begin_ns, u64 end_ns
// A packet that has no fate was in flight at the end; delivered beats dropped, the first drop
// counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/base/result.h"

namespace sojourn::truth {

using HitId = std::uint64_t;     // thread index in the top 16 bits; 0 is none
using PacketId = std::uint64_t;  // direction in the top byte, then counted from 1

enum class Direction : std::uint8_t { kDown = 0, kUp = 1 };
enum class QueueAction : std::uint8_t { kEnqueue = 0, kDequeue = 1 };
enum class Fate : std::uint8_t { kInFlight = 0, kDelivered = 1, kDropped = 2 };

struct PointName {
  std::string where;   // "D rlc.tx.am--rlc.seg.am"
  std::string fields;  // "len:rnti:drb.psn.rsn.so"
};

struct QueueName {
  std::string name;
  std::uint32_t capacity = 0;
};

// Bytes [lo, hi) of a user packet; empty where only a header of ours is carried.
struct Piece {
  PacketId packet = 0;
  std::uint32_t lo = 0;
  std::uint32_t hi = 0;

  bool operator==(const Piece&) const = default;
};

// A point was hit somewhere between the two stamps, taken by the same thread.
struct Hit {
  HitId id = 0;
  std::uint16_t point = 0;  // index into Truth::points
  std::uint32_t tid = 0;
  std::uint64_t before_ns = 0;
  std::uint64_t after_ns = 0;
  HitId repeat_of = 0;                    // the earlier transmission that this one repeats
  std::span<const std::uint64_t> values;  // one for each field of the point
  std::span<const HitId> parents;
  std::span<const Piece> pieces;
};

struct QueueOp {
  std::uint16_t queue = 0;  // index into Truth::queues
  QueueAction action = QueueAction::kEnqueue;
  std::uint32_t depth = 0;  // after the operation
  std::uint32_t tid = 0;
  std::uint64_t order = 0;  // counts the queue's operations from 0
  std::uint64_t ts_ns = 0;
  std::uint64_t item = 0;  // packet id; for a transport block the id of its latest hit; else 0
};

struct PacketTruth {
  PacketId id = 0;
  Direction direction = Direction::kDown;
  std::uint16_t rnti = 0;
  std::uint8_t drb = 0;
  std::uint32_t bytes = 0;
  std::uint64_t created_ns = 0;
  Fate fate = Fate::kInFlight;
  std::uint16_t place = 0;  // of the drop: index into Truth::places
  std::uint64_t ended_ns = 0;
};

// The planted neighbour `tid` kept a CPU busy. If it has precedence over the victim, which is
// pinned there, the victim did not run in between.
struct Preemption {
  std::uint32_t victim_tid = 0;
  std::uint32_t tid = 0;
  std::uint32_t cpu = 0;
  bool has_precedence = false;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

// The hits' spans look into the arenas, so a Truth moves but is not copied.
struct Truth {
  std::vector<PointName> points;
  std::vector<QueueName> queues;
  std::vector<std::string> places;
  std::vector<Hit> hits;                // by before_ns
  std::vector<QueueOp> queue_ops;       // by queue, then order
  std::vector<PacketTruth> packets;     // by id
  std::vector<Preemption> preemptions;  // as they are in the file

  Truth() = default;
  Truth(Truth&&) = default;
  Truth& operator=(Truth&&) = default;
  Truth(const Truth&) = delete;
  Truth& operator=(const Truth&) = delete;

  const Hit* find_hit(HitId id) const;
  const PacketTruth* find_packet(PacketId id) const;

  std::vector<std::uint64_t> values;
  std::vector<HitId> parents;
  std::vector<Piece> pieces;
  std::unordered_map<HitId, std::size_t> hit_by_id;
};

// Fails on a file that was not written to its end.
Result<Truth> read_truth(const std::string& path);

}  // namespace sojourn::truth
