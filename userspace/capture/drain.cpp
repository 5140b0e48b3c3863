#include "userspace/capture/drain.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <deque>
#include <system_error>
#include <utility>

#include <bpf/libbpf.h>

#include "bpf/events.h"
#include "userspace/capture/sink.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kBatchEvents = 16384;

// Makes libbpf go on after a batch: a ring that fills as fast as it is read must not starve the
// others.
constexpr int kEnoughOfThisRing = -EAGAIN;

struct CpuStream {
  Sink* sink = nullptr;
  std::uint32_t id = 0;
  std::uint64_t events = 0;
  model::EventBatch batch;
};

void hand_over(CpuStream& stream) {
  if (stream.batch.empty()) return;
  stream.sink->push(std::exchange(stream.batch, stream.sink->empty_batch()));
}

// libbpf's callback for one record. It never fails the drain.
int take(void* context, void* data, std::size_t bytes) {
  auto& stream = *static_cast<CpuStream*>(context);
  const auto& hit = *static_cast<const sj_hit*>(data);
  if (bytes < SJ_HIT_HEADER_BYTES || hit.args > SJ_MAX_ARGS ||
      bytes != SJ_HIT_HEADER_BYTES + sizeof(hit.value[0]) * hit.args)
    return 0;
  // The kernel's __u64 is another type than uint64_t, of the same width.
  static_assert(sizeof(__u64) == sizeof(std::uint64_t));
  std::array<std::uint64_t, SJ_MAX_ARGS> values{};
  std::copy_n(hit.value, hit.args, values.begin());
  stream.batch.append({.ts_ns = hit.ts_ns,
                       .seq = hit.seq,
                       .stream = stream.id,
                       .tid = hit.tid,
                       .point = hit.point,
                       .values = std::span(values).first(hit.args)});
  ++stream.events;
  if (stream.batch.size() < kBatchEvents) return 0;
  hand_over(stream);
  return kEnoughOfThisRing;
}

struct FreeRingBuffer {
  void operator()(ring_buffer* buffer) const { ring_buffer__free(buffer); }
};

}  // namespace

struct Drain::State {
  Sink* sink = nullptr;
  std::deque<CpuStream> streams;  // libbpf keeps pointers to them
  std::unique_ptr<ring_buffer, FreeRingBuffer> rings;
};

Drain::Drain(std::unique_ptr<State> state) : state_(std::move(state)) {}
Drain::Drain(Drain&&) noexcept = default;
Drain& Drain::operator=(Drain&&) noexcept = default;
Drain::~Drain() = default;

Result<Drain> Drain::create(const std::vector<int>& ring_fds, Sink& sink) {
  auto state = std::make_unique<State>();
  state->sink = &sink;
  for (std::uint32_t cpu = 0; cpu < ring_fds.size(); ++cpu) {
    state->streams.push_back({.sink = &sink, .id = cpu, .events = 0, .batch = sink.empty_batch()});
    if (!state->rings)
      state->rings.reset(ring_buffer__new(ring_fds[cpu], take, &state->streams.back(), nullptr));
    else if (ring_buffer__add(state->rings.get(), ring_fds[cpu], take, &state->streams.back()) != 0)
      return fail_errno("map the ring buffer of CPU {}", cpu);
    if (!state->rings) return fail_errno("map the ring buffer of CPU {}", cpu);
  }
  return Drain(std::move(state));
}

Result<bool> Drain::poll() {
  bool more = false;
  if (!state_->sink->has_room()) return more;
  for (std::uint32_t cpu = 0; cpu < state_->streams.size(); ++cpu) {
    const int taken = ring__consume(ring_buffer__ring(state_->rings.get(), cpu));
    if (taken == kEnoughOfThisRing)
      more = true;
    else if (taken < 0)
      return fail("drain the ring buffer of CPU {}: {}", cpu,
                  std::generic_category().message(-taken));
  }
  return more;
}

void Drain::flush() {
  for (CpuStream& stream : state_->streams) hand_over(stream);
}

std::uint64_t Drain::events() const {
  std::uint64_t events = 0;
  for (const CpuStream& stream : state_->streams) events += stream.events;
  return events;
}

}  // namespace sojourn::capture
