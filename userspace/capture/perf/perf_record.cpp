#include "userspace/capture/perf/perf_record.h"

#include <cstring>

namespace sojourn::capture {

namespace {

// Takes values off the front of a record. A value behind its end is 0, and whole() is false then.
class Taker {
 public:
  explicit Taker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    if (bytes_.size() < sizeof(T)) {
      is_whole_ = false;
      bytes_ = {};
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }

  std::span<const std::byte> rest() const { return bytes_; }
  bool is_whole() const { return is_whole_; }

 private:
  std::span<const std::byte> bytes_;
  bool is_whole_ = true;
};

// Takes the stack. In events without one nothing follows the period.
bool take_chain(Taker& taker, PerfSample& sample) {
  if (taker.rest().empty()) return true;
  const auto count = taker.take<std::uint64_t>();
  if (!taker.is_whole() || count > taker.rest().size() / sizeof(std::uint64_t)) return false;
  sample.chain = taker.rest().first(count * sizeof(std::uint64_t));
  return true;
}

PerfRecord read_sample(Taker& taker) {
  PerfSample sample;
  sample.event = taker.take<std::uint64_t>();
  sample.pid = taker.take<std::uint32_t>();
  sample.tid = taker.take<std::uint32_t>();
  sample.ts_ns = taker.take<std::uint64_t>();
  sample.period = taker.take<std::uint64_t>();
  if (!taker.is_whole() || !take_chain(taker, sample)) return PerfBroken{};
  return sample;
}

PerfRecord read_thread_name(Taker& taker) {
  taker.take<std::uint32_t>();  // pid
  const auto tid = taker.take<std::uint32_t>();
  const auto text = taker.rest();
  std::string_view name(reinterpret_cast<const char*>(text.data()), text.size());
  const auto end = name.find('\0');
  if (!taker.is_whole() || end == std::string_view::npos) return PerfBroken{};
  return PerfThreadName{tid, name.substr(0, end)};
}

PerfRecord read_thread_end(Taker& taker) {
  taker.take<std::uint32_t>();  // pid
  taker.take<std::uint32_t>();  // parent
  const auto tid = taker.take<std::uint32_t>();
  if (!taker.is_whole()) return PerfBroken{};
  return PerfThreadEnd{tid};
}

}  // namespace

PerfRecord read_perf_record(std::span<const std::byte> bytes) {
  Taker taker(bytes);
  const auto header = taker.take<perf_event_header>();
  if (!taker.is_whole() || header.size != bytes.size()) return PerfBroken{};
  switch (header.type) {
    case PERF_RECORD_SAMPLE:
      return read_sample(taker);
    case PERF_RECORD_LOST: {
      taker.take<std::uint64_t>();  // the id of any event that shares the ring
      const PerfLost lost{taker.take<std::uint64_t>()};
      if (!taker.is_whole()) return PerfBroken{};
      return lost;
    }
    case PERF_RECORD_COMM:
      return read_thread_name(taker);
    case PERF_RECORD_EXIT:
      return read_thread_end(taker);
    case PERF_RECORD_MMAP:
      return PerfMapping{};
    default:
      return PerfOther{};
  }
}

}  // namespace sojourn::capture
