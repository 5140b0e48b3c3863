// Events in the form of srsRAN's and OCUDU's tracers: JSON objects in one array (the format of
// Chrome's trace viewer). Their `pid` is a CPU and their `tid` a thread's name. Read piece by
// piece: memory is that of one event.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/imports/byte_stream.h"

namespace sojourn::event_json {

struct Event {
  enum class Kind : std::uint8_t {
    kSpan,       // ph "X": began at ts, lasted dur
    kInstant,    // ph "i" or "I"
    kOther,      // of another ph
    kMalformed,  // without a name, a time or a span's duration, or these are of the wrong kind
  };
  Kind kind = Kind::kMalformed;
  std::string name;
  std::string thread;
  std::uint64_t cpu = 0;
  std::uint64_t ts_ns = 0;  // since the recorded program began
  std::uint64_t dur_ns = 0;
  std::optional<std::uint64_t> day_ns;                        // its time of day, UTC, if it has one
  std::vector<std::pair<std::string, std::int64_t>> numbers;  // its other numbers
};

// Calls `consume` for every event, in the recording's order, with the offset behind it; false
// stops. Returns why reading ended early; empty: it did not. Fails if `consume` fails.
Result<std::string> read_events(
    imports::ByteStream& stream,
    const std::function<Result<bool>(const Event&, std::uint64_t end_byte)>& consume);

}  // namespace sojourn::event_json
