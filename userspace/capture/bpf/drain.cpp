#include "userspace/capture/bpf/drain.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "userspace/capture/output/sink.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kBatchEvents = 16384;

}  // namespace

Drain::Drain(std::span<const Ring> rings, Sink& sink, std::uint32_t first_stream,
             std::uint64_t stamp_delay_ns, HandOver hand_over)
    : sink_(&sink), stamp_delay_ns_(stamp_delay_ns), hand_over_(std::move(hand_over)) {
  if (!hand_over_)
    hand_over_ = [to = sink_](model::EventBatch batch) { to->push(std::move(batch)); };
  for (std::uint32_t cpu = 0; cpu < rings.size(); ++cpu)
    streams_.push_back({.reader = RingReader(rings[cpu]),
                        .id = first_stream + cpu,
                        .events = 0,
                        .batch = sink.empty_batch()});
}

void Drain::hand_over(CpuStream& stream) {
  if (stream.batch.empty()) return;
  hand_over_(std::exchange(stream.batch, sink_->empty_batch()));
}

// Goes on to the next ring after a batch, so that a ring that fills as fast as it is read does not
// starve the others.
bool Drain::take_batch(CpuStream& stream) {
  const auto take = [&stream, delay_ns = stamp_delay_ns_](const sj_hit& hit, std::uint64_t number) {
    // The kernel's __u64 is another type than uint64_t, of the same width.
    static_assert(sizeof(__u64) == sizeof(std::uint64_t));
    std::array<std::uint64_t, SJ_MAX_ARGS> values{};
    std::copy_n(hit.value, hit.args, values.begin());
    stream.batch.append({.ts_ns = hit.ts_ns - delay_ns,
                         .seq = number,
                         .stream = stream.id,
                         .tid = hit.tid,
                         .point = hit.point,
                         .values = std::span(values).first(hit.args)});
    ++stream.events;
  };
  const bool more = stream.reader.consume(kBatchEvents - stream.batch.size(), take);
  if (stream.batch.size() >= kBatchEvents) hand_over(stream);
  return more;
}

bool Drain::poll() {
  bool more = false;
  if (!sink_->has_room()) return more;
  for (CpuStream& stream : streams_) more |= take_batch(stream);
  return more;
}

void Drain::mark() {
  for (CpuStream& stream : streams_) stream.reader.mark();
}

bool Drain::is_past_mark() const {
  return std::ranges::all_of(streams_,
                             [](const CpuStream& stream) { return stream.reader.is_past_mark(); });
}

void Drain::flush() {
  for (CpuStream& stream : streams_) hand_over(stream);
}

std::uint64_t Drain::events() const {
  std::uint64_t events = 0;
  for (const CpuStream& stream : streams_) events += stream.events;
  return events;
}

}  // namespace sojourn::capture
