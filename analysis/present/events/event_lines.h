// Events of a trace as lines, for people or for programs (`sojourn events`). Constant parts of a
// line are made once a point. One thread owns an EventLines; the reader must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/model/value_text.h"
#include "analysis/model/wall_clock.h"
#include "analysis/trace/metadata.h"
#include "analysis/trace/reader.h"

namespace sojourn::present {

class EventLines {
 public:
  enum class Time : std::uint8_t { kSinceOrigin, kMonotonic, kWall };

  // `origin_ns`: what times of the first kind count from.
  EventLines(const trace::Reader& reader, Time time, std::uint64_t origin_ns, bool json);
  // Reads a trace that is still written, as `about` describes it so far. `about` must outlive this,
  // and must not change.
  EventLines(const trace::Metadata& about, Time time, std::uint64_t origin_ns, bool json);

  // Appends the event's line.
  void append(const model::EventView& event, fmt::memory_buffer& out) const;

 private:
  // A name that a point has several times is one member of the object, an array.
  struct Member {
    std::string name;
    std::vector<std::size_t> fields;
  };

  struct Described {
    const std::vector<model::ClockPair>& clocks;
    const model::Schema& schema;
    const std::vector<model::Stream>& streams;
    std::size_t targets = 0;
  };

  EventLines(const Described& trace, Time time, std::uint64_t origin_ns, bool json);
  std::string head_of(const model::Point& point) const;
  static std::vector<Member> members_of(const model::Point& point);
  // Nanoseconds since the chosen origin; negative for the few before the capture's first mark.
  std::int64_t shown_ns(std::uint64_t ts_ns) const;
  void append_text(const model::EventView& event, fmt::memory_buffer& out) const;
  void append_json(const model::EventView& event, fmt::memory_buffer& out) const;

  bool json_;
  model::WallClock wall_clock_;
  bool is_wall_;
  std::uint64_t origin_ns_;
  const model::Schema& schema_;
  std::map<std::uint32_t, std::int32_t> cpus_;
  std::map<std::uint32_t, std::int32_t> pids_;  // if known
  bool has_several_;                            // processes
  std::vector<std::string> heads_;
  std::vector<std::optional<std::size_t>> unread_;  // the field that marks unread values
  std::vector<std::uint32_t> helpers_;              // fields that are not shown
  std::vector<std::vector<model::ValueForm>> forms_;
  std::vector<std::vector<Member>> members_;  // of each point, in JSON
};

}  // namespace sojourn::present
