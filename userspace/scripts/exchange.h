// The shared memory of a script's worker and its parent: the parent writes events in columns, the
// worker writes its results. The parent does not trust them: every count and number is checked
// before it is used. All of it begins as zeros.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/model/schema.h"

namespace sojourn::scripts {

constexpr std::size_t kRows = 4096;            // events that are passed on at once
constexpr std::size_t kMaxColumns = 8;         // columns that a script adds
constexpr std::size_t kMaxMade = 64;           // activities and markers of a script
constexpr std::size_t kMaxStreams = 4096;      // streams whose CPU a script can ask for
constexpr std::size_t kMaxMadeByEvent = 1000;  // activities and markers
constexpr std::size_t kMadeWords = std::size_t{1} << 17;
constexpr std::size_t kTextBytes = std::size_t{1} << 16;

// The byte that says what the exchange contains.
enum class Ask : char {
  kLoad = 'l',      // read the script; registered() is asked for
  kEvents = 'e',    // a batch of events
  kContinue = 'c',  // go on with it
  kJourney = 'j',   // a journey: keep it?
};
enum class Answer : char {
  kDone = 'd',
  kPaused = 'p',  // the results so far must be taken
  kFailed = 'f',  // `error`; nothing more can be asked
};

// The head of an activity or a marker; its values follow, `dur_ns` first for an activity.
struct MadeHead {
  std::uint32_t row = 0;  // the event that made it
  std::uint32_t which = 0;
};

// The figures of a journey that a script can ask for. Its steps are rows of events.
struct JourneyNumbers {
  std::uint64_t id = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t last_out_ns = 0;
  std::uint64_t latency_ns = 0;
  std::uint64_t segments = 0;
  std::uint64_t retransmissions = 0;
  std::uint64_t harq_retransmissions = 0;
  std::uint64_t drops = 0;
  std::uint8_t direction = 0;
  std::uint8_t outcome = 0;
  std::uint8_t ambiguous = 0;
};

// A stay, from the event by which a unit entered a place to the one by which it left.
struct JourneyStay {
  std::uint64_t ns = 0;
  model::PointId from = 0;
  model::PointId to = 0;
};

struct Exchange {
  // To the worker.
  std::uint32_t rows;
  std::uint64_t ts_ns[kRows];
  std::uint32_t tid[kRows];
  std::uint32_t stream[kRows];
  model::PointId point[kRows];
  std::uint32_t first_value[kRows + 1];
  std::uint64_t values[kRows * model::kMaxFields];
  std::int32_t cpu[kMaxStreams];
  JourneyNumbers journey;
  std::uint32_t stays;
  JourneyStay stay[kRows];

  // From the worker.
  std::uint8_t keep[kRows];  // a journey uses the first one
  std::uint64_t columns[kMaxColumns][kRows];
  std::uint32_t made_words;
  std::uint64_t made[kMadeWords];  // after kLoad the bytes of a Registration
  std::uint32_t text_bytes;        // of the script's output
  std::uint32_t text_lost;         // bytes for which there was no room
  char text[kTextBytes];
  char error[1024];    // the first error of all, a text that ends with a zero
  char notice[1024];   // an error that ended one function only
  std::uint32_t line;  // the begin of the running function; 0: none runs
  std::uint32_t turn;  // counts the requests
};

}  // namespace sojourn::scripts
