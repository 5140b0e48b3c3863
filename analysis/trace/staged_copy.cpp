#include "analysis/trace/staged_copy.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/trace/completeness.h"
#include "analysis/trace/writer.h"

namespace sojourn::trace {

namespace {

constexpr std::size_t kWaitingEvents = 16'384;

// Takes events in time order apart into their streams. Activities and markers have the number of
// the event that made them, so they get a stream and numbers of their own.
class StreamWriter {
 public:
  StreamWriter(const model::Schema& schema, std::uint32_t made_stream, Writer& writer)
      : schema_(schema), made_stream_(made_stream), writer_(writer) {}

  Result<void> add(const model::EventBatch& events) {
    for (std::size_t row = 0; row < events.size(); ++row) {
      model::EventView event = events[row];
      if (schema_.points[event.point].direction == model::Direction::kScript) {
        event.stream = made_stream_;
        event.seq = next_made_++;
      }
      ++written_[event.stream];
      model::EventBatch& waiting = waiting_[event.stream];
      waiting.append(event);
      if (waiting.size() == kWaitingEvents) SJ_CHECK(writer_.write(std::exchange(waiting, {})));
    }
    return {};
  }

  Result<void> finish() {
    for (auto& [stream, waiting] : waiting_) SJ_CHECK(writer_.write(std::exchange(waiting, {})));
    return {};
  }

  std::uint64_t written(std::uint32_t stream) const {
    const auto found = written_.find(stream);
    return found == written_.end() ? 0 : found->second;
  }

 private:
  const model::Schema& schema_;
  std::uint32_t made_stream_;
  Writer& writer_;
  std::uint64_t next_made_ = 0;
  std::map<std::uint32_t, model::EventBatch> waiting_;
  std::map<std::uint32_t, std::uint64_t> written_;
};

// A trace that a script has made has one already.
model::Stream made_stream(const Reader& reader) {
  model::Stream made = {.id = 0, .engine = model::Engine::kScript};
  for (const model::Stream& stream : reader.streams()) {
    if (stream.engine == model::Engine::kScript) return stream;
    made.id = std::max(made.id, stream.id + 1);
  }
  return made;
}

Result<void> write_facts(const Reader& reader, const model::Capture& capture,
                         const model::Stream& made, Writer& writer) {
  SJ_CHECK(writer.write(reader.schema()));
  SJ_CHECK(writer.write(capture));
  for (const model::Target& target : reader.targets()) SJ_CHECK(writer.write(target));
  SJ_CHECK(writer.write(reader.host()));
  bool is_known = false;
  for (const model::Stream& stream : reader.streams()) {
    is_known = is_known || stream == made;
    SJ_CHECK(writer.write(stream));
  }
  if (!is_known) SJ_CHECK(writer.write(made));
  for (const model::ClockPair& clock : reader.clocks()) SJ_CHECK(writer.write(clock));
  if (!reader.context().empty()) SJ_CHECK(writer.write(reader.context()));
  if (!reader.queue_changes().empty()) SJ_CHECK(writer.write(reader.queue_changes()));
  if (!reader.profile().empty()) SJ_CHECK(writer.write(reader.profile()));
  if (reader.energy() != model::Energy()) SJ_CHECK(writer.write(reader.energy()));
  if (reader.sampling() != model::Sampling()) SJ_CHECK(writer.write(reader.sampling()));
  if (!reader.ledger().empty()) SJ_CHECK(writer.write(reader.ledger()));
  return {};
}

// Numbers have closed up where events were left out, so the number after the last hit is smaller.
std::vector<std::uint64_t> hits_of(const Reader& reader, const StreamWriter& streams) {
  std::vector<std::uint64_t> hits = reader.capture().stream_hits;
  const Completeness found = completeness_of(reader);
  for (const auto& [id, stream] : found.streams) {
    if (id >= hits.size()) continue;
    const std::uint64_t left_out = stream.events - std::min(stream.events, streams.written(id));
    hits[id] -= std::min(left_out, hits[id]);
  }
  return hits;
}

}  // namespace

Result<void> write_staged(Reader& reader, const std::string& script, const Put& put,
                          const CopyProgress& progress) {
  SJ_TRY(writer, Writer::create(std::make_unique<PutSink>(put)));
  const model::Stream made = made_stream(reader);
  model::Capture capture = reader.capture();
  capture.script = capture.script.empty() ? script : capture.script + ", " + script;
  capture.stream_hits.clear();
  SJ_CHECK(write_facts(reader, capture, made, writer));
  StreamWriter streams(reader.schema(), made.id, writer);
  Result<void> written;
  std::uint64_t done = 0;
  SJ_CHECK(reader.merge([&](const model::EventBatch& events) {
    written = streams.add(events);
    done += events.size();
    if (progress) progress(std::min(done, reader.events()), reader.events());
    return written.has_value();
  }));
  SJ_CHECK(std::move(written));
  SJ_CHECK(streams.finish());
  capture.stream_hits = hits_of(reader, streams);
  SJ_CHECK(writer.write(capture));
  return writer.finish();
}

}  // namespace sojourn::trace
