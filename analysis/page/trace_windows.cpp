#include "analysis/page/trace_windows.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/context/thread_states.h"
#include "analysis/model/event.h"
#include "analysis/trace/byte_sink.h"
#include "analysis/trace/writer.h"

namespace sojourn::page {
namespace {

constexpr std::size_t kBatch = 4096;

class BytesSink : public trace::ByteSink {
 public:
  explicit BytesSink(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

  Result<void> append(std::span<const std::uint8_t> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::uint64_t size() const override { return bytes_.size(); }
  Result<void> finish() override { return {}; }
  void abandon() override {}
  const std::string& put_aside() const override { return put_aside_; }

 private:
  std::vector<std::uint8_t>& bytes_;
  std::string put_aside_;
};

// Sorts the windows, and makes one of those that touch or overlap.
std::vector<Window> joined(std::vector<Window> windows) {
  std::ranges::sort(windows, {}, &Window::from_ns);
  std::vector<Window> apart;
  for (const Window& window : windows)
    if (!apart.empty() && window.from_ns <= apart.back().to_ns)
      apart.back().to_ns = std::max(apart.back().to_ns, window.to_ns);
    else
      apart.push_back(window);
  return apart;
}

// Returns the first window that ends at this time or later.
auto window_at(const std::vector<Window>& windows, std::uint64_t ns) {
  return std::ranges::lower_bound(windows, ns, {}, &Window::to_ns);
}

bool is_in(const std::vector<Window>& windows, std::uint64_t ns) {
  const auto window = window_at(windows, ns);
  return window != windows.end() && window->from_ns <= ns;
}

// Finds the events that determine each thread's state at the beginning of a window: its last
// switch, and the first wakeup after that.
class LastOfThreads {
 public:
  using Numbers = std::map<std::uint32_t, std::vector<std::uint64_t>>;  // by stream

  LastOfThreads(const model::Schema& schema, const std::vector<Window>& windows)
      : points_(schema), windows_(windows), next_(windows.begin()) {}

  // Takes events in the order of time. Returns false when no window begins any more.
  bool consume(const model::EventView& event) {
    while (next_ != windows_.end() && event.ts_ns >= next_->from_ns) {
      note();
      ++next_;
    }
    if (next_ == windows_.end()) return false;
    const EventKey key = {.stream = event.stream, .seq = event.seq};
    if (points_.on_switch.is(event)) {
      for (const std::size_t thread : {std::size_t{0}, std::size_t{3}})
        threads_[static_cast<std::uint32_t>(points_.on_switch.value(event, thread))] = {key, {}};
    } else if (points_.wakeup.is(event)) {
      auto& woken = threads_[event.tid].wakeup;
      if (!woken) woken = key;
    }
    return true;
  }
  Numbers finish() && {
    if (next_ != windows_.end()) note();
    for (auto& [stream, numbers] : found_) {
      std::ranges::sort(numbers);
      numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
    }
    return std::move(found_);
  }

 private:
  struct EventKey {
    std::uint32_t stream = 0;
    std::uint64_t seq = 0;
  };
  struct Thread {
    std::optional<EventKey> change;
    std::optional<EventKey> wakeup;
  };

  // Adds the newest events of all threads to the windows. An event that was added once is also the
  // state at the start of later windows, until its thread has a newer one.
  void note() {
    for (const auto& [tid, thread] : threads_)
      for (const auto& event : {thread.change, thread.wakeup})
        if (event) found_[event->stream].push_back(event->seq);
    threads_.clear();
  }

  context::ContextPoints points_;
  const std::vector<Window>& windows_;
  std::vector<Window>::const_iterator next_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  Numbers found_;
};

Result<LastOfThreads::Numbers> last_of_threads(trace::Reader& reader,
                                               const std::vector<Window>& windows,
                                               const pipeline::Progress& progress) {
  LastOfThreads last(reader.schema(), windows);
  if (!context::ContextPoints(reader.schema()).on_switch.point) return LastOfThreads::Numbers();
  std::uint64_t done = 0;
  SJ_CHECK(reader.merge([&](const model::EventBatch& events) {
    progress(done += events.size(), reader.events());
    for (std::size_t row = 0; row < events.size(); ++row)
      if (!last.consume(events[row])) return false;
    return true;
  }));
  return std::move(last).finish();
}

Result<void> write_beside_events(const trace::Reader& reader, trace::Writer& writer) {
  SJ_CHECK(writer.write(reader.schema()));
  for (const model::Target& target : reader.targets()) SJ_CHECK(writer.write(target));
  model::Host host = reader.host();
  host.measured.clear();
  SJ_CHECK(writer.write(host));
  for (const model::Stream& stream : reader.streams()) SJ_CHECK(writer.write(stream));
  if (!reader.context().empty()) SJ_CHECK(writer.write(reader.context()));
  return writer.write(reader.capture());
}

bool has_any(const trace::BlockInfo& block, std::span<const std::uint64_t> numbers) {
  const auto first = std::ranges::lower_bound(numbers, block.first_seq);
  return first != numbers.end() && *first <= block.last_seq;
}

bool has_any(const trace::BlockInfo& block, const std::vector<Window>& windows) {
  const auto window = window_at(windows, block.min_ts_ns);
  return window != windows.end() && window->from_ns <= block.max_ts_ns;
}

}  // namespace

Result<std::vector<std::uint8_t>> trace_of_windows(trace::Reader& reader,
                                                   std::vector<Window> windows,
                                                   const pipeline::Progress& progress) {
  const std::vector<Window> apart = joined(std::move(windows));
  SJ_TRY(last, last_of_threads(reader, apart, progress));
  std::vector<std::uint8_t> bytes;
  SJ_TRY(writer, trace::Writer::create(std::make_unique<BytesSink>(bytes)));
  SJ_CHECK(write_beside_events(reader, writer));
  std::map<std::uint32_t, model::EventBatch> waiting;  // by stream
  const auto write = [&](model::EventBatch& events) -> Result<void> {
    SJ_CHECK(writer.write(events));
    events.clear();
    return {};
  };
  model::EventBatch events;
  for (const trace::BlockInfo& block : reader.blocks()) {
    const auto& numbers = last[block.stream];
    if (!has_any(block, apart) && !has_any(block, numbers)) continue;
    if (!reader.read(block, events)) continue;
    model::EventBatch& of_stream = waiting[block.stream];
    for (std::size_t row = 0; row < events.size(); ++row) {
      if (!is_in(apart, events.ts_ns()[row]) &&
          !std::ranges::binary_search(numbers, events.seq()[row]))
        continue;
      of_stream.append(events[row]);
      if (of_stream.size() >= kBatch) SJ_CHECK(write(of_stream));
    }
  }
  for (auto& [stream, rest] : waiting)
    if (!rest.empty()) SJ_CHECK(write(rest));
  SJ_CHECK(writer.finish());
  return bytes;
}

}  // namespace sojourn::page
