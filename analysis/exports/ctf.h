// A trace in the Common Trace Format 1.8: its description as text, and one stream of all events in
// the order of time, in packets. Each event has its point's fields; losses are counted in the
// packets. Feed it the events in the order of time. One thread owns a CtfStream; its arguments must
// outlive it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/exports/output.h"
#include "analysis/exports/trace_names.h"
#include "analysis/trace/reader.h"

namespace sojourn::exports {

class CtfStream {
 public:
  CtfStream(const trace::Reader& reader, const TraceNames& names, Write write);

  // The file `metadata` beside the stream.
  std::string metadata() const;

  void add(const model::EventView& event);
  // Call it after the last event: it counts the losses that are known then.
  Result<void> finish();
  bool is_good() const { return written_.has_value(); }

 private:
  std::string event_class(std::size_t point) const;
  void put(std::uint64_t value, std::size_t bytes);
  void end_packet();

  const trace::Reader& reader_;
  const TraceNames& names_;
  Write write_;
  Result<void> written_;
  std::array<std::uint8_t, 16> uuid_ = {};
  std::string events_;  // of the packet under way
  std::uint64_t begin_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t lost_ = 0;  // losses that were reported so far
  std::size_t gaps_seen_ = 0;
};

}  // namespace sojourn::exports
