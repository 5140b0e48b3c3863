// Packets of a Perfetto trace, as protos/perfetto/trace/trace_packet.proto has them: what tracks
// there are, and what happened on them, in the smallest form that the format has. Names are stored
// once, times as the distance to the one before, and packets are deflated together. One thread owns
// a PerfettoPackets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/exports/output.h"
#include "analysis/model/capture_info.h"

namespace sojourn::exports {

class PerfettoPackets {
 public:
  explicit PerfettoPackets(Write write);

  // Pairs of CLOCK_MONOTONIC, which all times of the trace are in, with the wall clock. With them
  // Perfetto places other traces of the machine beside this one. `begin_ns` is used if there is no
  // pair.
  void clocks(const std::vector<model::ClockPair>& pairs, std::uint64_t begin_ns);
  void attribute(std::string_view key, std::string_view value);
  void attribute(std::string_view key, std::int64_t value);

  // Tracks have numbers that their maker chooses, not 0.
  void process(std::uint64_t track, std::int32_t pid, std::string_view name,
               const std::vector<std::string>& command_line);
  void thread(std::uint64_t track, std::int32_t pid, std::uint32_t tid, std::string_view name);
  void track(std::uint64_t track, std::uint64_t parent, std::string_view name);
  void counter(std::uint64_t track, std::uint64_t parent, std::string_view name);

  enum class Kind : std::uint8_t { kBegin = 1, kEnd = 2, kInstant = 3, kCount = 4 };
  struct Event {
    std::uint64_t ts_ns = 0;
    std::uint64_t track = 0;
    std::uint64_t number = 0;  // kCount: the value; else the journey's number, 0: none
    std::uint32_t name = 0;    // of name(); 0: none
    Kind kind = Kind::kInstant;
    bool is_last = false;              // kInstant: of the flow
    std::uint32_t first_argument = 0;  // of the arguments of add()
    std::uint32_t arguments = 0;
  };
  // A value with a name of argument_name().
  struct ArgumentValue {
    std::uint32_t name = 0;
    std::int64_t value = 0;
  };
  // A number for a name that events have.
  std::uint32_t name(std::string_view text);
  // And for one of its arguments; before the first event.
  std::uint32_t argument_name(std::string_view text);
  // In any order. kInstant: a step of the flow of its number; kBegin: has the number as an
  // argument.
  void add(const Event& event);
  void add(Event event, std::span<const ArgumentValue> arguments);

  // The values of the format.
  enum class TaskState : std::uint8_t {
    kUnknown = 0,
    kCreated = 1,
    kRunnable = 2,
    kRunning = 3,
    kSleeping = 4,
    kDead = 7,
  };
  // A thread turns to do that. In any order.
  void task(std::uint64_t ts_ns, std::uint32_t tid, std::string_view name, TaskState state,
            std::int32_t cpu);

  bool is_good() const { return written_.has_value(); }
  Result<void> finish();

 private:
  void write_events();
  void write_event(const Event& event, std::uint64_t since_ns);
  void end_packet();
  void deflate_packets();

  Write write_;
  Result<void> written_;
  std::string packet_;   // under way
  std::string packets_;  // complete, not deflated yet
  std::string deflated_;
  std::vector<Event> events_;
  std::vector<ArgumentValue> arguments_;  // of these events
  std::uint32_t argument_names_ = 1;      // "journey" is the first
  std::unordered_map<std::string, std::uint32_t> names_;
  std::vector<std::string> new_names_;  // names that no packet has yet, the last ones of names_
};

}  // namespace sojourn::exports
