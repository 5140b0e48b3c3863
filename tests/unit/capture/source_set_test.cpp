// All sources of a capture as one: the calls of the set, and its calls of each source.
#include "userspace/capture/session/source_set.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

using std::chrono::microseconds;

struct Seen {
  std::vector<std::uint64_t> opens;
  std::uint64_t close_ns = 0;
  int started_over = 0;
  bool is_gone = false;
};

// A source that only counts its calls.
class CountingSource final : public Source {
 public:
  CountingSource(Seen& seen, std::uint64_t events) : seen_(&seen), events_(events) {}
  ~CountingSource() override { seen_->is_gone = true; }
  CountingSource(const CountingSource&) = delete;
  CountingSource& operator=(const CountingSource&) = delete;

  Result<void> connect(CaptureOutput&) override { return {}; }
  Result<void> arm() override { return {}; }
  void open_at(std::uint64_t monotonic_ns) override { seen_->opens.push_back(monotonic_ns); }
  void close_at(std::uint64_t monotonic_ns) override { seen_->close_ns = monotonic_ns; }
  Result<void> start_over() override {
    ++seen_->started_over;
    return {};
  }
  Result<void> settle() override { return {}; }
  Result<bool> poll() override { return has_more; }
  void mark() override { is_past = false; }
  bool is_past_mark() const override { return is_past; }
  void flush() override {}
  microseconds poll_period() const override { return period; }
  void disarm() override {}
  bool is_armed() const override { return true; }
  Result<void> add_losses(model::Ledger& ledger) const override {
    ledger.push_back({.point = 1, .count = 2});
    return {};
  }
  Result<void> add_hits(std::vector<std::uint64_t>& hits) const override {
    hits.push_back(events_);
    return {};
  }
  std::uint64_t events() const override { return events_; }
  Description description() const override { return description_; }

  bool has_more = false;
  bool is_past = true;
  microseconds period{5'000};
  Description description_;

 private:
  Seen* seen_;
  std::uint64_t events_;
};

// A set of two, and a hand on each.
struct Two {
  Two() {
    auto first = std::make_unique<CountingSource>(seen[0], 30);
    auto second = std::make_unique<CountingSource>(seen[1], 12);
    one = first.get();
    other = second.get();
    SourceEntries made;
    made.push_back(SourceEntry::of(std::move(first), 0));
    made.push_back(SourceEntry::of(std::move(second), 1));
    set.add(std::move(made));
  }

  Seen seen[2];
  SourceSet set;
  CountingSource* one;
  CountingSource* other;
};

TEST_CASE("an empty set is polled now and then, and has nothing") {
  SourceSet set;
  CHECK(set.poll_period() == microseconds(20'000));
  CHECK_FALSE(set.has_engines());
  CHECK_FALSE(set.ring_advice());
  CHECK(set.are_past_mark());
  const auto more = set.poll();
  REQUIRE(more);
  CHECK_FALSE(*more);
}

TEST_CASE("the source that wants to be polled most often decides, and any may have more") {
  Two two;
  two.other->period = microseconds(700);
  CHECK(two.set.poll_period() == microseconds(700));
  CHECK_FALSE(*two.set.poll());
  two.one->has_more = true;
  CHECK(*two.set.poll());
}

TEST_CASE("all sources open at the same instant, ahead of time") {
  Two two;
  const auto opened = two.set.open();
  REQUIRE(opened);
  REQUIRE_FALSE(two.seen[0].opens.empty());
  CHECK(two.seen[0].opens.back() == *opened);
  CHECK(two.seen[1].opens.back() == *opened);
  // Each instant that had passed too soon was forgotten again.
  CHECK(two.seen[0].started_over == static_cast<int>(two.seen[0].opens.size()) - 1);
  two.set.close_at(77);
  CHECK(two.seen[0].close_ns == 77);
  CHECK(two.seen[1].close_ns == 77);
}

TEST_CASE("an instant that has passed is kept if it is the latest allowed one") {
  Two two;
  const auto opened = open_together(two.set.entries(), 5);
  REQUIRE(opened);
  CHECK(*opened == 5);
  CHECK(two.seen[1].opens == std::vector<std::uint64_t>{5});
  CHECK(two.seen[1].started_over == 0);
}

TEST_CASE("the set is past its mark when each source is") {
  Two two;
  CHECK(two.set.are_past_mark());
  two.set.mark();
  two.one->is_past = true;
  CHECK_FALSE(two.set.are_past_mark());
  two.other->is_past = true;
  CHECK(two.set.are_past_mark());
}

TEST_CASE("counts of all sources are added up, and those of no engine are the other events") {
  Two two;
  model::Ledger ledger;
  REQUIRE(two.set.add_losses(ledger));
  CHECK(ledger.size() == 2);
  const auto hits = two.set.hits();
  REQUIRE(hits);
  CHECK(*hits == std::vector<std::uint64_t>{30, 12});
  CHECK(two.set.other_events() == 42);
  CHECK(two.set.engine_events() == 0);
}

TEST_CASE("only sources that have something to describe are asked for it later") {
  Two two;
  two.other->description_ = [] { return std::vector<model::Profile>(3); };
  const auto descriptions = two.set.descriptions();
  REQUIRE(descriptions.size() == 1);
  CHECK(descriptions.front()().size() == 3);
}

TEST_CASE("a set that is cleared takes its sources with it") {
  Two two;
  two.set.clear();
  CHECK(two.seen[0].is_gone);
  CHECK(two.seen[1].is_gone);
}

}  // namespace
}  // namespace sojourn::capture
