#include "tests/live/truth_pairing.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/live/programs.h"

namespace sojourn::live {

namespace {

constexpr std::size_t kDifferences = 10;

// Stamps may be wrong by `error_ns`.
bool surely_between(const truth::Hit& hit, const model::Capture& capture, std::uint64_t error_ns) {
  return hit.before_ns >= capture.open_ns + error_ns && hit.after_ns + error_ns < capture.close_ns;
}

bool possibly_between(const truth::Hit& hit, const model::Capture& capture,
                      std::uint64_t error_ns) {
  return hit.after_ns + error_ns >= capture.open_ns && hit.before_ns < capture.close_ns + error_ns;
}

// Trace points and truth points are matched by their words, as a user reads them.
std::vector<std::size_t> truth_points(const model::Schema& schema, const truth::Truth& truth) {
  std::vector<std::size_t> indices;
  for (const model::Point& point : schema.points) {
    const std::string where = fmt::format("{} {}", letter(point.direction), point.name());
    const auto found = std::ranges::find_if(truth.points, [&](const truth::PointName& name) {
      return name.where == where && name.fields == format_fields(point);
    });
    indices.push_back(static_cast<std::size_t>(found - truth.points.begin()));
  }
  return indices;
}

class Pairer {
 public:
  Pairer(const trace::Reader& reader, const truth::Truth& truth, std::uint64_t stamp_error_ns)
      : truth_(truth),
        error_ns_(stamp_error_ns),
        schema_(reader.schema()),
        capture_(reader.capture()),
        points_(truth_points(schema_, truth)) {
    for (std::size_t index = 0; index < truth.hits.size(); ++index)
      if (possibly_between(truth.hits[index], capture_, error_ns_))
        threads_[truth.hits[index].tid].hits.push_back(index);
    for (auto& [tid, thread] : threads_)
      for (const std::size_t index : thread.hits)
        ++(surely_between(truth.hits[index], capture_, error_ns_) ? pairing_.hits_between_marks
                                                                  : pairing_.hits_on_a_mark);
  }

  void add(const model::EventView& event) {
    Thread& thread = threads_[event.tid];
    // Hits at the opening mark may have been too early: the error of stamps is larger than the
    // distance of hits.
    while (thread.next < thread.hits.size() && !thread.has_begun && !matches(event, hit(thread)) &&
           !surely_between(hit(thread), capture_, error_ns_))
      ++thread.next;
    if (thread.next == thread.hits.size())
      return differ(
          fmt::format("thread {}: {} at {} ns is no hit", event.tid, words(event), event.ts_ns));
    if (!matches(event, hit(thread))) {
      const truth::Hit& expected = hit(thread);
      differ(fmt::format("thread {}: {} at {} ns, the truth has {} [{}] between {} and {}",
                         event.tid, words(event), event.ts_ns, truth_.points[expected.point].where,
                         fmt::join(expected.values, " "), expected.before_ns, expected.after_ns));
    }
    thread.has_begun = true;
    pairing_.observations.push_back({event.ts_ns, thread.hits[thread.next]});
    ++thread.next;
  }

  Pairing finish() {
    for (auto& [tid, thread] : threads_)
      for (; thread.next < thread.hits.size(); ++thread.next)
        if (surely_between(hit(thread), capture_, error_ns_))
          differ(fmt::format("thread {}: {} between {} and {} ns is not in the trace", tid,
                             truth_.points[hit(thread).point].where, hit(thread).before_ns,
                             hit(thread).after_ns));
    return std::move(pairing_);
  }

 private:
  struct Thread {
    std::vector<std::size_t> hits;
    std::size_t next = 0;
    bool has_begun = false;  // the trace has an event of it
  };

  const truth::Hit& hit(const Thread& thread) const {
    return truth_.hits[thread.hits[thread.next]];
  }

  bool matches(const model::EventView& event, const truth::Hit& hit) const {
    return points_[event.point] == hit.point && std::ranges::equal(event.values, hit.values) &&
           event.ts_ns + error_ns_ >= hit.before_ns && event.ts_ns <= hit.after_ns + error_ns_;
  }

  std::string words(const model::EventView& event) const {
    const model::Point& point = schema_.points[event.point];
    return fmt::format("{} {} [{}]", letter(point.direction), point.name(),
                       fmt::join(event.values, " "));
  }

  void differ(std::string text) {
    if (pairing_.differences.size() < kDifferences) pairing_.differences.push_back(std::move(text));
  }

  const truth::Truth& truth_;
  std::uint64_t error_ns_;
  const model::Schema& schema_;
  const model::Capture& capture_;
  std::vector<std::size_t> points_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  Pairing pairing_;
};

}  // namespace

Result<Pairing> pair_with_truth(trace::Reader& reader, const truth::Truth& truth,
                                std::uint64_t stamp_error_ns) {
  Pairer pairer(reader, truth, stamp_error_ns);
  SJ_CHECK(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) pairer.add(batch[row]);
    return true;
  }));
  return pairer.finish();
}

std::vector<HitCount> count_hits(const truth::Truth& truth, const model::Capture& capture,
                                 std::uint64_t stamp_error_ns) {
  std::vector<HitCount> counts(truth.points.size());
  for (const truth::Hit& hit : truth.hits) {
    if (surely_between(hit, capture, stamp_error_ns)) ++counts[hit.point].least;
    if (possibly_between(hit, capture, stamp_error_ns)) ++counts[hit.point].most;
  }
  return counts;
}

journeys::Comparison require_equal(const std::string& trace, const truth::Truth& truth) {
  trace::Reader reader = open_trace(trace);
  REQUIRE(reader.ledger().empty());
  auto pairing = pair_with_truth(reader, truth, reader.capture().stamp_error_ns);
  if (!pairing) FAIL(pairing.error().text());
  CHECK(reader.gaps().empty());
  for (const auto& difference : pairing->differences) UNSCOPED_INFO(difference);
  REQUIRE(pairing->differences.empty());
  CHECK(pairing->observations.size() >= pairing->hits_between_marks);
  CHECK(pairing->observations.size() <= pairing->hits_between_marks + pairing->hits_on_a_mark);

  const journeys::CaptureMarks marks{reader.capture().open_ns, reader.capture().close_ns, {}};
  auto compared = journeys::compare_with_truth(truth, pairing->observations, marks);
  if (!compared) FAIL(compared.error().text());
  for (const auto& difference : compared->differences) UNSCOPED_INFO(difference);
  CHECK(compared->different == 0);
  CHECK(compared->equal == compared->expected);
  for (const auto& point : compared->totals.points) CHECK(point.orphans == 0);
  return *compared;
}

}  // namespace sojourn::live
