// The rules by which journeys are rebuilt: the words that have a meaning in the names of points and
// fields, the times after which units are forgotten, and the statements of a rule file about single
// points and pairs of points. The defaults fit targets that follow the names of docs/journeys.md.
// Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::journeys {

// The unit that makes a journey. kInput: a packet that entered, with everything that its bytes
// reached. kOutput: a packet that left, with everything that it was made from.
enum class Anchor : std::uint8_t { kInput, kOutput };

// A point as a rule names it.
struct PointName {
  model::Direction direction = model::Direction::kDownlink;
  std::string name;                   // "ip.in--pdcp.in"
  std::optional<std::string> fields;  // "len:rnti:drb.gsn"; none: any fields

  bool matches(const model::Point& point) const;
};

enum class PointKind : std::uint8_t { kInput, kOutput, kInner, kDrop, kAck, kControl };
std::string_view name(PointKind kind);

struct PointRule {
  PointName point;
  PointKind kind = PointKind::kInner;
  bool control = false;  // a drop or an acknowledgement of control
  std::string where;     // "FILE:LINE:COLUMN", for errors
};

// A rule about a pair of points. Parts that it leaves open are derived from the ids.
struct PairRule {
  PointName parent;
  PointName child;
  bool touches = true;  // false: units never go from the parent to the child
  std::optional<std::vector<std::string>> key;
  std::optional<bool> gathers;  // a child takes all units of its key
  std::optional<bool> cuts;     // children carry segments of the parent
  std::optional<bool> lengths;  // the lengths of both can be compared
  std::optional<std::uint64_t> expiry_ns;
  std::string where;
};

struct Rules {
  // Unset: the ids decide, see Topology::downlink.
  std::optional<Anchor> downlink;
  std::optional<Anchor> uplink;

  // Fields with a meaning. A value may be several names, divided by blanks; each of them will do.
  std::string length = "len";  // property: bytes of the unit
  std::string offset = "so";   // local id: where a segment begins in the unit that was cut
  // Property or local id: above 0, the unit repeats the latest one of its HARQ process. Of a word
  // that begins with "new" it is 0 that says so.
  std::string round = "round hqround rv rvidx rv_idx rv_index new_data";
  // Local id: the HARQ process.
  std::string process = "harq hqpid hpid harqid harq_id harq_pid";
  std::string sequence_suffix = "sn";  // local ids that number units and wrap: psn, rsn, gsn
  // Local ids that end like this, in upper or lower case, are addresses of buffers. An address has
  // one unit at a time, and is soon used again.
  std::string buffer = "buf ptr addr bb";
  std::string broadcast = "rnti";  // 0xffff and 0xfffe: system information and paging, control

  // Places with a meaning.
  std::string drop = "drop";  // `drop`, `drop.*`, `*.drop`: units end here
  std::string ack = "ack";    // `ack`, `*.ack`: units were acknowledged, and are not kept any more
  std::string control = "ctrl";  // as a part of a source or dest: units born inside, not packets

  std::uint64_t expiry_ns = 10'000'000'000;  // a unit that waits longer is not matched any more
  std::uint64_t linger_ns = 1'000'000'000;   // for a unit that HARQ may repeat
  std::uint64_t settle_ns = 100'000'000;     // for a unit that is finished
  // A parent's stamp may be later than its child's by this much.
  std::uint64_t late_ns = 20'000;
  std::size_t max_units = 4'000'000;  // in memory at once; the oldest ones are dropped first

  // If several rules are for one point or pair, the last one counts.
  std::vector<PointRule> points;
  std::vector<PairRule> pairs;

  bool is_drop(std::string_view place) const;
  // `retx_drop`, `discarded.late`: a drop, unless some point leaves the place.
  static bool sounds_like_drop(std::string_view place);
  bool is_ack(std::string_view place) const;
  bool is_control(std::string_view place) const;
  bool is_sequence(std::string_view field) const;
  bool is_buffer(std::string_view field) const;
  bool is_process(std::string_view field) const;
  bool is_round(std::string_view field) const;
  // The field of a round is a redundancy version.
  static bool is_version(std::string_view field) { return field.starts_with("rv"); }
  // The field of a round says whether it is the first one, and nothing else.
  static bool is_new_data(std::string_view field) { return field.starts_with("new"); }
  static bool is_bearer(std::string_view field);

  // Names of a bearer or of its channel.
  static constexpr std::array<std::string_view, 5> kBearers = {"drb", "srb", "rb", "bearer",
                                                               "lcid"};
};

}  // namespace sojourn::journeys
