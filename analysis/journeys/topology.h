// Which point feeds which, derived once from a schema and the rules: a point's dest feeds every
// source of the same direction that equals it or continues it after a dot. Each pair of points that
// so touch knows the ids both sides have (its key) and what the traffic over it may look like.
// Immutable after derive(); may be shared between threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/journeys/rules.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

using model::PointId;

// Some fields of a point, in some order. They are looked at several times for each event, so they
// lie where they belong.
class FieldIndexes {
 public:
  FieldIndexes() = default;
  FieldIndexes(std::initializer_list<std::uint8_t> fields) {
    for (const auto field : fields) push_back(field);
  }

  void push_back(std::uint8_t field) { fields_[size_++] = field; }
  std::size_t size() const { return size_; }
  const std::uint8_t* begin() const { return fields_.data(); }
  const std::uint8_t* end() const { return begin() + size_; }
  bool operator==(const FieldIndexes&) const = default;

 private:
  std::array<std::uint8_t, model::kMaxFields> fields_ = {};
  std::uint8_t size_ = 0;
};

// A table holds the units of one place under one set of ids. Points that enter the place insert,
// points that leave it look up, each with its own fields in the table's order. Every two of them
// are a pair with those ids as its key.
struct TableUse {
  std::uint16_t table = 0;
  FieldIndexes fields;
  bool gathers = false;  // somebody takes all units of a key here
  // There is one unit of a key at a time: a new one says that the old is gone.
  bool one_live_unit_per_key = false;
  bool key_is_per_sender = false;  // ... if there is one sender, or the key says which
};

// A parent point and a child point that touch.
struct Pair {
  PointId parent = 0;
  PointId child = 0;
  std::uint16_t place = 0;  // where the unit is between the two
  std::vector<std::string> key;
  std::vector<std::string> parent_extra;  // ids that only one side has
  std::vector<std::string> child_extra;
  bool gathers = false;      // a child takes all units of its key (n:1), not only the nearest
  bool cuts = false;         // children say which bytes [so, so + len) of the parent they carry
  bool reassembles = false;  // parents say which bytes of the child they carry
  // Children are numbered and taken out of a parent that is not, a block.
  bool unpacks_block = false;
  bool child_from_block = false;  // children without a number are taken out of a block of a process
  // The parent's number is said by its pieces only, in the order of arrival.
  bool numbered_by_pieces = false;
  // The key is an address or a process, which one unit at a time has.
  bool one_live_unit_per_key = false;
  // Of each sender: a process, of which the key may not say whose it is.
  bool key_is_per_sender = false;
  bool by_process = false;       // a HARQ process is in the key
  bool key_lacks_owner = false;  // nothing in the key says whose it is
  bool changes_ids = false;  // its process ties it, and for the rest it has other ids than before
  // A child's pieces are of one bearer, of which the key does not say.
  bool gathers_one_bearer = false;
  std::uint64_t expiry_ns = UINT64_MAX;  // a parent that waits longer is not this child's
};

struct Place {
  model::Direction direction = model::Direction::kDownlink;
  std::string name;
};

// An id that says which unit it is among others in a block.
struct UnitId {
  std::uint16_t name = 0;  // the same for points that call it the same
  std::uint8_t field = 0;
  bool number = false;  // a sequence number or an offset, not a bearer
};

// One of Topology::pairs, for its child.
struct FromParent {
  PointId parent = 0;
  std::uint32_t pair = 0;
};

struct PointPlan {
  model::Direction direction = model::Direction::kDownlink;
  bool of_target = true;           // not context, nor a sample: those are not looked at
  bool carries_units = false;      // D and U; not scalars
  bool anchored_at_input = false;  // journeys of its direction are packets that entered
  bool input = false;
  bool output = false;
  bool drop = false;
  bool ack = false;
  bool control = false;
  bool takes_unowned = false;       // ... units, of which nothing says whose they are
  bool container = false;           // it takes units that are numbered, and has no number itself
  bool waits_for_number = false;    // its units get one as they are cut,
  bool is_numbering_piece = false;  // of which these are the pieces
  bool block = false;  // has no number, and units with ids of their own are taken out of it
  // Where numbered units are put into a block and taken out of it again, both in this trace:
  bool fills_block = false;  // this is the block, when it was filled,
  bool in_block = false;     // or the block on its way, that included,
  bool from_block = false;   // or what is taken out
  // Where its units came from is asked for by journeys that are found from their end, by loops, and
  // by what is taken out of blocks.
  bool is_followed_back = false;
  // Of points that nothing else feeds, from 1: units come in at one of them.
  std::uint16_t loop = 0;
  bool circles = false;             // in a loop, fed or not: a unit may come to it again
  std::optional<PointKind> stated;  // by a rule
  bool awaits_ack = false;  // units that enter this point's dest are kept until acknowledged
  std::uint8_t values = 0;
  std::vector<bool> is_id;  // by field
  std::uint16_t rank = 0;   // inputs first: the order of events with equal stamps
  std::optional<std::uint8_t> length;
  std::optional<std::uint8_t> offset;
  std::optional<std::uint8_t> round;
  bool round_is_version = false;
  bool displaces = false;        // it is an input, and nothing says whose process its units take
  bool repeats_unowned = false;  // nothing says whose its process is
  bool parents_have_rounds = false;  // out of points that tell of rounds as well
  bool round_is_id = false;  // what waits for the unit by its ids comes before what it may repeat
  std::optional<std::uint8_t> number;  // the first that numbers units
  std::optional<std::uint8_t> bearer;
  std::size_t bearer_name = 0;            // which of Rules::kBearers that is
  std::optional<std::uint8_t> broadcast;  // whom it is for; to all, or for paging, is control
  std::optional<std::uint8_t> unread;     // bits of the values that could not be read
  std::uint64_t needed_bits = 0;          // of those values without which a unit is not known
  std::optional<std::uint16_t> place;     // that it enters, where something can leave it again
  std::vector<TableUse> lookups;          // nearest place first
  std::vector<TableUse> inserts;
  std::optional<TableUse> repeats;             // where the latest unit of each process is
  std::vector<TableUse> more_repeats;          // by other values of an id that it has several times
  std::vector<TableUse> processes;             // of other points with the same source, by process
  std::vector<TableUse> receptions;            // of inputs that it takes from, by process
  std::vector<std::uint32_t> pairs;            // as the child
  std::vector<FromParent> by_parent;           // the same
  std::uint64_t longest_expiry_ns = 0;         // of those
  std::vector<TableUse> number_queues_joined;  // lines in which its units wait for a number
  std::vector<TableUse> number_queues_read;    // those of what it gives a number to
  // Global ids that all keys of its direction have in common: units in which they differ never
  // meet.
  FieldIndexes owner_ids;

  bool ends() const { return output || drop || ack; }
  // There is a round, or a redundancy version: of those the first four rounds have 0, 2, 3, 1.
  std::uint64_t round_of(std::span<const std::uint64_t> of) const {
    constexpr std::array<std::uint8_t, 4> kRounds = {0, 3, 1, 2};
    const auto value = of[*round];
    return round_is_version && value < kRounds.size() ? kRounds[value] : value;
  }
  // With the parent, in Topology::pairs.
  std::uint32_t pair_with(PointId parent) const {
    for (const auto& each : by_parent)
      if (each.parent == parent) [[likely]]
        return each.pair;
    return 0;  // not reached: only pairs find each other
  }
};

struct Topology {
  std::vector<PointPlan> points;  // by PointId
  // By PointId, of what is put into blocks and of what is taken out; none where no point is
  // `from_block`.
  std::vector<std::vector<UnitId>> unit_ids;
  std::vector<Pair> pairs;
  std::vector<Place> places;
  std::uint16_t tables = 0;
  std::uint16_t loops = 0;    // with numbers up to this
  bool has_expiries = false;  // some pair has one of its own
  // What is sent is cut and put into blocks: one journey is one packet that enters. What is
  // received comes out of blocks and is put together: one that leaves. Where the ids say neither,
  // or both, the downlink is taken to be sent and the uplink to be received, as in a base station.
  Anchor downlink = Anchor::kInput;
  Anchor uplink = Anchor::kOutput;
  // "FILE:LINE:COLUMN: ..." of each rule that means no point of the schema.
  std::vector<std::string> unmatched_rules;

  static Result<Topology> derive(const model::Schema& schema, const Rules& rules);

  // Whether several can share the direction's units among them by their owner_ids.
  bool is_divisible(model::Direction direction) const;

  Anchor anchor(model::Direction direction) const {
    return direction == model::Direction::kUplink ? uplink : downlink;
  }
  const Pair& pair(PointId parent, PointId child) const { return pairs[pair_index(parent, child)]; }
  std::uint32_t pair_index(PointId parent, PointId child) const {
    return points[child].pair_with(parent);
  }
};

}  // namespace sojourn::journeys
