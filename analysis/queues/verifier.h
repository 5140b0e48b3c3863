// Compares the sampled counters of a queue with the events that its operations left (the points
// `I queue--enqueue` and `I queue--dequeue`), at every sample. An operation counts first and is
// stamped then, so counters may be ahead of the events while it is in between: a race that ends by
// itself. A difference that stays is a discrepancy; its cause is events that were lost meanwhile,
// or not known. Takes a trace's events in the order of time, then finish(). One thread owns a
// Verifier.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/model/queue_info.h"
#include "analysis/trace/reader.h"

namespace sojourn::queues {

struct Discrepancy {
  std::uint64_t queue = 0;
  std::uint64_t since_ns = 0;  // the last sample that agreed and could not have hidden a loss
  std::uint64_t ts_ns = 0;     // the first that did not agree
  std::uint64_t until_ns = 0;  // when all events of its operations had come, or were lost
  std::uint64_t samples = 0;   // samples that did not agree, before the comparison began anew
  std::uint64_t sampled_depth = 0;
  std::int64_t event_depth = 0;
  bool events_lost = false;  // events of any point were lost in that time
};

struct CounterComparison {
  std::uint64_t id = 0;
  std::uint64_t compared = 0;
  std::uint64_t equal = 0;
  std::uint64_t in_race = 0;  // samples that agree once an operation under way has left its event
  std::uint64_t different = 0;
  // Between the first and the last sample.
  std::uint64_t in_by_events = 0;
  std::uint64_t out_by_events = 0;
  std::uint64_t in_by_counters = 0;
  std::uint64_t out_by_counters = 0;

  bool totals_agree() const {
    return in_by_events == in_by_counters && out_by_events == out_by_counters;
  }
};

class Verifier {
 public:
  explicit Verifier(const trace::Reader& reader);

  void consume(const model::EventBatch& events);
  // To be called after all events, as the reader only then knows which are missing.
  void finish();

  const std::vector<CounterComparison>& comparisons() const {
    return comparisons_;
  }  // queues with both
  const std::vector<Discrepancy>& discrepancies() const { return discrepancies_; }
  std::uint64_t discrepancies_in_all() const { return found_; }  // more than are listed

  static constexpr std::size_t kMaxListed = 1000;

 private:
  // The bounds of a counter at the time when the count of events was 0.
  struct Base {
    std::int64_t low = INT64_MIN;
    std::int64_t high = INT64_MAX;

    bool is_empty() const { return low > high; }
    Base with(const Base& other) const;
  };

  struct Counted {
    std::uint64_t by_events = 0;
    std::deque<std::uint64_t> recent_ns;              // of the newest events
    std::uint64_t before(std::uint64_t ts_ns) const;  // events that are older
  };

  // A sample whose window is not over yet.
  struct Pending {
    std::uint64_t ts_ns = 0;
    model::QueueSample sample;
    std::uint64_t in_before = 0;  // events that certainly came before the sample
    std::uint64_t out_before = 0;
    std::uint64_t in_now = 0;  // up to its stamp
    std::uint64_t out_now = 0;
  };

  struct Queue {
    Counted in;
    Counted out;
    std::deque<Pending> pending;
    Base base_in;
    Base base_out;
    bool has_first = false;
    Pending first;
    Pending last;
    std::uint64_t agreed_ns = 0;  // as Discrepancy::since_ns
    Pending suspect;              // the first of those in a row that do not agree
    std::uint64_t suspected = 0;  // their number
    CounterComparison comparison;
  };

  enum class Kind : std::uint8_t { kOther, kEnqueue, kDequeue, kSample };
  struct Plan {
    Kind kind = Kind::kOther;
    std::size_t queue_field = 0;
  };

  static Plan plan_of(const model::Point& point);
  static void note_operation(Counted& counted, std::uint64_t ts_ns);
  static void note_sample(Queue& queue, std::uint64_t ts_ns, const model::QueueSample& sample);
  void resolve(Queue& queue, std::uint64_t now_ns);
  void judge(Queue& queue, const Pending& pending);
  void give_up(Queue& queue);
  bool lost_between(std::uint64_t from_ns, std::uint64_t to_ns) const;

  const trace::Reader* reader_;
  std::vector<Plan> plans_;  // by point
  std::unordered_map<std::uint64_t, Queue> queues_;
  std::vector<CounterComparison> comparisons_;
  std::vector<Discrepancy> discrepancies_;
  std::uint64_t found_ = 0;
};

}  // namespace sojourn::queues
