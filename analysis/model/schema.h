// The schema of a trace: the points of a target, their fields, and the streams of their events. A
// Schema is built once (from the target's ELF notes, or read from a trace), is immutable afterwards
// and may be shared between threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"

namespace sojourn::model {

// Stored in traces: values are explicit and never reused.
// The last three are not the target's own points: what the kernel did to it, samples of its queues,
// and activities and markers that a script made.
enum class Direction : std::uint8_t {
  kDownlink = 0,
  kUplink = 1,
  kScalar = 2,
  kSync = 3,
  kContext = 4,
  kSample = 5,
  kScript = 6,
};
enum class Role : std::uint8_t { kProperty = 0, kGlobal = 1, kLocal = 2 };

// The field by which points name the slot that they work for.
inline constexpr std::string_view kSlotField = "slot";

// The field of a point for work that ended then: how long it took.
inline constexpr std::string_view kDurationField = "dur_ns";

// The directions that packets have.
inline constexpr std::array kPacketDirections = {Direction::kDownlink, Direction::kUplink};

char letter(Direction direction);  // D U I S K Q A
constexpr bool is_of_target(Direction direction) {
  return direction != Direction::kContext && direction != Direction::kSample &&
         direction != Direction::kScript;
}
std::optional<Direction> direction_from_letter(char letter);
std::string_view name(Role role);  // property global local
std::optional<Role> role_from_name(std::string_view name);

struct Field {
  std::string name;
  Role role = Role::kProperty;
  std::uint8_t bytes = 8;
  bool is_signed = false;
  bool is_address = false;  // an address in the target's memory

  bool operator==(const Field&) const = default;
};

using PointId = std::uint16_t;

constexpr std::size_t kMaxPoints = 65'535;
constexpr PointId kNoPoint = 65'535;    // in a ledger: several points, which are not distinguished
constexpr std::size_t kMaxFields = 16;  // of one point

// The instant at which a data unit leaves `src` and enters `dest`.
struct Point {
  Direction direction = Direction::kDownlink;
  std::string src;
  std::string dest;
  std::vector<Field> fields;
  std::string file;  // the binary that contains it, by the target's maps

  std::string name() const;  // "src--dest"; "src" for a scalar or clock without a dest
  std::optional<std::size_t> field(std::string_view field_name) const;

  bool operator==(const Point&) const = default;
};

// Returns whether all commands print a field's values in hexadecimal: RNTIs and TEIDs (fields whose
// names end so, in any case: "crnti", "c-rnti", "tc_RNTI", "dl_teid"), addresses and the ids of
// registered queues. Everything else is decimal.
bool is_hexadecimal(const Point& point, std::size_t field);
// For a field of which only the name is known.
bool is_hexadecimal(std::string_view field_name);

// Two sites are the same point when direction, src, dest, fields and file are equal.
struct Schema {
  std::vector<Point> points;  // a PointId is an index into this

  bool operator==(const Schema&) const = default;
};

// Reads a point's own words, in LatSeq's grammar:
//   where  "D rlc.tx.am--rlc.seg.am"           direction, src, dest; I and S may do without a dest
//   format "len:rnti:drb.psn.so"               properties, global ids, local ids
// Field names may carry printf conversions ("len%d"), which are dropped; groups may be empty. A
// name may stand more than once ("psn.psn"): either value may be the one that others know the unit
// by. Field widths are not in the words: they come from the probe's arguments.
Result<Point> parse_point(std::string_view where, std::string_view format);

// Checks that a point from elsewhere has the properties that parse_point guarantees: plain words,
// at most kMaxFields fields of 1, 2, 4 or 8 bytes.
Result<void> check(const Point& point);

// "len:rnti:drb.psn.so", the inverse of what parse_point read.
std::string format_fields(const Point& point);

// The origin of a stream: a CPU's ring of hits, a thread's ring, an imported file, a CPU's ring of
// kernel context, the queue sampler, a script.
enum class Engine : std::uint8_t {
  kBpf = 0,
  kRing = 1,
  kImport = 2,
  kKernel = 3,
  kSampler = 4,
  kScript = 5,
};
constexpr bool carries_points(Engine engine) {
  return engine != Engine::kKernel && engine != Engine::kSampler && engine != Engine::kScript;
}
std::string_view name(Engine engine);

struct Stream {
  std::uint32_t id = 0;
  Engine engine = Engine::kBpf;
  std::int32_t cpu = -1;  // -1: not bound to a CPU
  std::int32_t tid = -1;  // -1: not bound to a thread
  std::int32_t pid = -1;  // the process of its events; -1: several, or not known

  bool operator==(const Stream&) const = default;
};

}  // namespace sojourn::model
