// Which point feeds which, derived once from a schema and the rules (plan/). The dest of a point
// feeds each source of the same direction that equals it or continues it after a dot. Two points
// that touch in this way are a pair. A pair knows the ids that both of its points have, its key,
// and what may become of a unit on the way. Immutable after derive(), so threads may share it.
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

// Some fields of a point, in some order. Each event needs them several times, so they are stored in
// place and not behind a pointer.
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

// How many units may live under one key at a time. The order matters: a table that several pairs
// share takes the least.
enum class LiveUnits : std::uint8_t {
  kMany,
  kOne,           // the key is a buffer's address: a new unit says that the old one is gone
  kOnePerSender,  // the key is a HARQ process: the same, but several senders may use the process
};

// Which of the units that wait under a key a child takes.
enum class TakenParents : std::uint8_t {
  kNearest,         // the newest one (1:1)
  kAll,             // all of them (n:1)
  kAllOfOneBearer,  // all of one bearer, where the key does not say which
};

// Which side of a pair says which bytes of the other one it carries: [so, so + len).
enum class Segmentation : std::uint8_t {
  kNone,         // neither, or the lengths cannot be compared
  kCuts,         // children carry bytes of the parent
  kReassembles,  // parents carry bytes of the child
};

// The kind of children that are taken out of a block.
enum class BlockContent : std::uint8_t {
  kNone,        // they are not taken out of a block
  kNumbered,    // they have numbers, which the block has not
  kAddressed,   // they have a buffer's address, but no number
  kUnnumbered,  // they have neither; the block is known by its HARQ process
};

// The units that a HARQ process in a key ties.
enum class ProcessKey : std::uint8_t {
  kNone,      // there is no process in the key
  kSameIds,   // parents and children with the same ids
  kOtherIds,  // parents and children that have other ids than each other, but for the key
};

// A table holds the units of one place under one set of ids. The points that enter the place insert
// units, and the points that leave it look them up, each with its own fields in the order of the
// table. Each two such points are a pair with these ids as its key.
struct TableUse {
  std::uint16_t table = 0;
  FieldIndexes fields;
  bool gathers = false;  // some child takes all units of a key here
  LiveUnits live_units = LiveUnits::kMany;

  bool has_one_live_unit() const { return live_units != LiveUnits::kMany; }
  bool is_per_sender() const { return live_units == LiveUnits::kOnePerSender; }
};

// A parent point and a child point that touch.
struct Pair {
  PointId parent = 0;
  PointId child = 0;
  std::uint16_t place = 0;  // the place of the unit between the two
  std::vector<std::string> key;
  std::vector<std::string> parent_extra;  // ids that only the parent has
  std::vector<std::string> child_extra;   // ids that only the child has
  LiveUnits live_units = LiveUnits::kMany;
  ProcessKey process_key = ProcessKey::kNone;
  TakenParents taken_parents = TakenParents::kNearest;
  Segmentation segmentation = Segmentation::kNone;
  BlockContent block_content = BlockContent::kNone;
  bool key_lacks_owner = false;  // no id in the key identifies the owner
  // The key has an address that identifies the parent's unit until a point says that it begins or
  // ends. So a unit that has left still has it, and several children may come out of it (1:n).
  bool key_outlasts_unit = false;
  // The parent gets its number when it is cut, in the order of arrival; only its segments have it.
  bool numbered_by_segments = false;
  std::uint64_t expiry_ns = UINT64_MAX;  // a parent that waits longer is not this child's

  bool has_one_live_unit() const { return live_units != LiveUnits::kMany; }
  bool is_by_process() const { return process_key != ProcessKey::kNone; }
  bool gathers() const { return taken_parents != TakenParents::kNearest; }
  bool cuts() const { return segmentation == Segmentation::kCuts; }
  bool reassembles() const { return segmentation == Segmentation::kReassembles; }
  // Children have ids that tell the units of a block apart.
  bool unpacks_block() const {
    return block_content == BlockContent::kNumbered || block_content == BlockContent::kAddressed;
  }
  // Children have no number, and are taken out of the block of a HARQ process.
  bool child_from_block() const {
    return block_content == BlockContent::kAddressed || block_content == BlockContent::kUnnumbered;
  }
};

struct Place {
  model::Direction direction = model::Direction::kDownlink;
  std::string name;
};

// An id that tells the units of a block apart.
struct UnitId {
  std::uint16_t name = 0;  // equal for all points with this id
  std::uint8_t field = 0;
  bool number = false;  // a sequence number or an offset, not a bearer
};

// One of Topology::pairs, as its child finds it.
struct FromParent {
  PointId parent = 0;
  std::uint32_t pair = 0;
};

// How a field tells of HARQ rounds. The order matters: what comes first says more.
enum class RoundField : std::uint8_t {
  kNumber,   // the round, from 0
  kNewData,  // 0 in all rounds but the first
  kVersion,  // a redundancy version: 0, 2, 3 and 1 in the first four rounds
};

// The HARQ rounds of a point's units.
struct HarqPlan {
  std::optional<std::uint8_t> round;  // the field
  RoundField round_field = RoundField::kNumber;
  bool round_is_id = false;  // a parent with the same ids, round included, comes before a repeat
  bool lacks_owner = false;  // no id identifies the owner of the process
  // The point is an input, and no id says which sender the process of a unit belongs to.
  bool displaces = false;
  bool parents_have_rounds = false;  // some parents have rounds as well
  // The table of the latest unit of each process, and the same by other values of an id that the
  // point has several times.
  std::optional<TableUse> latest;
  std::vector<TableUse> more_latest;
  // Set for a drop: the tables of the latest units of other points with the same source, and of the
  // inputs that feed it.
  std::vector<TableUse> siblings_latest;
  std::vector<TableUse> inputs_latest;

  // These are asked where there is a round, of the values of the point's units.
  using Values = std::span<const std::uint64_t>;

  // The unit is not the first round of its block.
  bool repeats(Values of) const {
    return (of[*round] != 0) != (round_field == RoundField::kNewData);
  }
  bool knows_number() const { return round_field != RoundField::kNewData; }
  // At least this round, where the number is not known.
  std::uint64_t round_of(Values of) const {
    constexpr std::array<std::uint8_t, 4> kRounds = {0, 3, 1, 2};
    const auto value = of[*round];
    if (!knows_number()) return repeats(of) ? 1 : 0;
    return round_field == RoundField::kVersion && value < kRounds.size() ? kRounds[value] : value;
  }
  // The later one may be another round of the earlier one, or the next one.
  bool may_follow(Values earlier, Values later) const {
    return knows_number() ? round_of(earlier) < round_of(later) : repeats(later);
  }
  bool may_be_next(Values earlier, Values later) const {
    return knows_number() ? round_of(earlier) + 1 == round_of(later) : repeats(later);
  }
};

// The path of a block from the point that fills it with numbered units to the point that takes them
// out again. It is known if both ends are in one trace.
enum class BlockWay : std::uint8_t {
  kOutside,
  kInside,  // the block is on its way
  kFilled,  // the block is on its way, and was filled here
};

struct BlockPlan {
  bool takes_numbered =
      false;                 // the units have no number, and only numbered units are put into them
  bool is_unpacked = false;  // the units have no number, and others are taken out of them
  BlockWay way = BlockWay::kOutside;
  bool comes_out = false;  // the units are taken out of a block whose way is known
};

// Sequence numbers that units get as they are cut.
struct NumberingPlan {
  bool waits = false;              // the units wait for a number
  bool is_segment = false;         // the units are segments that say the number of their SDU
  std::vector<TableUse> joined;    // the queues in which the units wait
  std::vector<TableUse> answered;  // the queues of the SDUs that the segments number
};

struct BearerField {
  std::uint8_t field = 0;
  std::size_t name = 0;  // in Rules::kBearers
};

// The field that says which other fields could not be read, and its bits for those that identify a
// unit.
struct UnreadField {
  std::uint8_t field = 0;
  std::uint64_t needed_bits = 0;
};

// Several functions find the plan of each event's point. A size that is a power of two makes that a
// shift, where another size takes three instructions or a multiplication.
inline constexpr std::size_t kPlanBytes = 512;

struct alignas(kPlanBytes) PointPlan {
  // The kind of the point.
  model::Direction direction = model::Direction::kDownlink;
  bool of_target = true;           // not kernel context, nor a sample: journeys leave those out
  bool carries_units = false;      // of direction D or U, not a scalar
  bool anchored_at_input = false;  // journeys of its direction are packets that entered
  bool input = false;
  bool output = false;
  bool drop = false;
  bool ack = false;
  bool control = false;
  std::optional<PointKind> stated;  // by a rule
  // The number, from 1, of a loop of points without an input; units enter it at one of them.
  std::uint16_t loop = 0;
  bool circles = false;    // in a loop, fed or not: a unit may come to it again
  std::uint16_t rank = 0;  // inputs first: the order of events with equal stamps

  // Its fields.
  std::uint8_t values = 0;  // their number
  std::vector<bool> is_id;  // by field
  std::optional<std::uint8_t> length;
  std::optional<std::uint8_t> offset;
  std::optional<std::uint8_t> number;  // the first that numbers units
  // The receiver of a unit. A unit to all, or for paging, is control.
  std::optional<std::uint8_t> broadcast;
  std::optional<BearerField> bearer;
  std::optional<UnreadField> unread;
  // Global ids that all keys of its direction have in common. Units that differ in them never meet.
  FieldIndexes owner_ids;

  // The pairs of the point: where its units come from and where they go.
  std::vector<std::uint32_t> pairs;     // with the point as the child
  std::vector<FromParent> by_parent;    // the same pairs
  std::uint64_t longest_expiry_ns = 0;  // of these pairs
  std::vector<TableUse> lookups;        // nearest place first
  std::optional<std::uint16_t> place;   // the place that units enter, if a point leaves it
  std::vector<TableUse> inserts;
  bool awaits_ack = false;     // units that enter the place are kept until they are acknowledged
  bool takes_unowned = false;  // some key does not name the unit's owner
  // The parents of its units are kept: journeys that are found from their end, loops, and units
  // that are taken out of blocks ask for them.
  bool is_followed_back = false;

  HarqPlan harq;
  BlockPlan block;
  NumberingPlan numbering;

  bool ends() const { return output || drop || ack; }
  // The pair with this parent, in Topology::pairs.
  std::uint32_t pair_with(PointId parent) const {
    for (const auto& each : by_parent)
      if (each.parent == parent) [[likely]]
        return each.pair;
    return 0;  // not reached: units find each other only by pairs
  }
};

static_assert(sizeof(PointPlan) == kPlanBytes);

struct Topology {
  std::vector<PointPlan> points;  // by PointId
  // By PointId, the ids of units that are put into blocks or taken out of them. Empty if no point
  // takes units out of a block whose path is known.
  std::vector<std::vector<UnitId>> unit_ids;
  std::vector<Pair> pairs;
  std::vector<Place> places;
  std::uint16_t tables = 0;
  std::uint16_t loops = 0;    // the highest number of one
  bool has_expiries = false;  // some pair has an expiry of its own
  // A direction that is sent cuts packets and puts them into blocks, so its journey is a packet
  // that enters. A direction that is received takes packets out of blocks and reassembles them, so
  // its journey is a packet that leaves. If the ids show neither, or both, downlink is taken as
  // sent and uplink as received, as in a base station.
  Anchor downlink = Anchor::kInput;
  Anchor uplink = Anchor::kOutput;
  // "FILE:LINE:COLUMN: ..." of each rule that means no point of the schema.
  std::vector<std::string> unmatched_rules;

  static Result<Topology> derive(const model::Schema& schema, const Rules& rules);

  // Returns whether several rebuilders can share the units of the direction by their owner_ids.
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
