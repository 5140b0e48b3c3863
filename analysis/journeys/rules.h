// How journeys are rebuilt: the words that points may use and be understood without being told, the
// times after which an identifier is forgotten, and what somebody stated about single points and
// pairs of them. The defaults fit targets that follow the names of docs/journeys.md. Plain data.
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

// What one journey stands for: a packet that entered, with everything its bytes reached; or a
// packet that left, with everything it was made from.
enum class Anchor : std::uint8_t { kInput, kOutput };

// A point as a rule names it.
struct PointName {
  model::Direction direction = model::Direction::kDownlink;
  std::string name;                   // "ip.in--pdcp.in"
  std::optional<std::string> fields;  // "len:rnti:drb.gsn"; none: whatever fields it has

  bool matches(const model::Point& point) const;
};

enum class PointKind : std::uint8_t { kInput, kOutput, kInner, kDrop, kAck, kControl };
std::string_view name(PointKind kind);

struct PointRule {
  PointName point;
  PointKind kind = PointKind::kInner;
  bool control = false;  // as well, where the kind is another
  std::string where;     // "FILE:LINE:COLUMN", for what is wrong with it
};

// What is not stated is derived.
struct PairRule {
  PointName parent;
  PointName child;
  bool touches = true;  // false: units never go from one to the other
  std::optional<std::vector<std::string>> key;
  std::optional<bool> gathers;  // a child takes all units of its key
  std::optional<bool> cuts;     // children carry parts of the parent
  std::optional<bool> lengths;  // bytes of both can be compared
  std::optional<std::uint64_t> expiry_ns;
  std::string where;
};

struct Rules {
  // Not stated: as the ids say, see Topology::anchor.
  std::optional<Anchor> downlink;
  std::optional<Anchor> uplink;

  // Fields with a meaning. Where several names stand, divided by blanks, each is as good.
  std::string length = "len";  // property: bytes of the unit
  std::string offset = "so";   // local id: where a piece begins in the unit that was cut
  // Property or local id: above 0, this repeats the last one of its process.
  std::string round = "round hqround rv rvidx rv_idx rv_index";
  // Local id: which process repeats.
  std::string process = "harq hqpid hpid harqid harq_id harq_pid";
  std::string sequence_suffix = "sn";  // local ids that number units and wrap: psn, rsn, gsn
  // Local ids that end so, in whatever case, are addresses: of one unit at a time, soon used again.
  std::string buffer = "buf ptr addr bb";
  std::string broadcast = "rnti";  // to all or for paging, where it is 0xffff or 0xfffe: control

  // Places with a meaning.
  std::string drop = "drop";  // `drop`, `drop.*`, `*.drop`: the unit ends here
  std::string ack = "ack";    // `ack`, `*.ack`: the unit was acknowledged, nothing is kept for it
  std::string control = "ctrl";  // a part of a source or dest: a unit born inside, not a packet

  std::uint64_t expiry_ns = 10'000'000'000;  // a unit that waits longer is not matched any more
  std::uint64_t linger_ns = 1'000'000'000;   // what ended is kept so long where HARQ may repeat it,
  std::uint64_t settle_ns = 100'000'000;     // and so long where nothing is expected any more
  std::uint64_t late_ns = 20'000;            // a parent may be stamped so much after its child
  std::size_t max_units = 4'000'000;         // in memory at once; the oldest give way

  // The last that means a point or a pair counts.
  std::vector<PointRule> points;
  std::vector<PairRule> pairs;

  bool is_drop(std::string_view place) const;
  // `retx_drop`, `discarded.late`: units end here unless something leaves the place.
  static bool sounds_like_drop(std::string_view place);
  bool is_ack(std::string_view place) const;
  bool is_control(std::string_view place) const;
  bool is_sequence(std::string_view field) const;
  bool is_buffer(std::string_view field) const;
  bool is_process(std::string_view field) const;
  bool is_round(std::string_view field) const;
  // Of those that are rounds: it numbers them as redundancy versions are sent.
  static bool is_version(std::string_view field) { return field.starts_with("rv"); }
  static bool is_bearer(std::string_view field);

  // What a bearer or its channel is called.
  static constexpr std::array<std::string_view, 5> kBearers = {"drb", "srb", "rb", "bearer",
                                                               "lcid"};
};

}  // namespace sojourn::journeys
