// The meaning of expressions for spans of threads.
#include <catch2/catch_test_macros.hpp>

#include "analysis/filter/thread_filter.h"
#include "tests/unit/filter/support.h"

namespace sojourn::filter_tests {
namespace {

using filter::ThreadFilter;

constexpr std::uint64_t kOrigin = 1'000;

Result<ThreadFilter> compiled(std::string_view expression) {
  filter::BindContext around;
  around.origin_ns = kOrigin;
  around.streams = {{.id = 7, .cpu = 0}, {.id = 8, .cpu = 3}, {.id = 9, .cpu = -1}};
  around.threads = thread_names();
  const auto parsed = filter::parse(expression);
  if (!parsed) FAIL(parsed.error().text());
  return ThreadFilter::compile(*parsed, around);
}

bool holds(std::string_view expression, std::uint32_t tid, std::int32_t cpu,
           std::uint64_t since_origin_ns) {
  CAPTURE(expression);
  const auto made = compiled(expression);
  REQUIRE(made);
  return (*made)(tid, cpu, kOrigin + since_origin_ns);
}

using Parts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// The parts of a span of thread 1 on CPU 3 from 0 to 10 us after the origin.
Parts parts(std::string_view expression) {
  CAPTURE(expression);
  const auto made = compiled(expression);
  REQUIRE(made);
  Parts all;
  made->cut(1, 3, kOrigin, kOrigin + 10'000, [&](std::uint64_t from_ns, std::uint64_t to_ns) {
    if (!all.empty() && all.back().second == from_ns - kOrigin)
      all.back().second = to_ns - kOrigin;
    else
      all.emplace_back(from_ns - kOrigin, to_ns - kOrigin);
  });
  return all;
}

std::uint64_t time_in(std::string_view expression) {
  const auto made = compiled(expression);
  REQUIRE(made);
  return made->time_in(kOrigin, kOrigin + 10'000);
}

TEST_CASE("a thread's moments are selected by thread, CPU and time") {
  CHECK(holds("thread == mac", 1, 3, 0));
  CHECK_FALSE(holds("thread == mac", 2, 3, 0));
  CHECK(holds("tid in 2..5 || cpu == 3", 1, 3, 0));
  CHECK(holds("cpu == 3 && time < 1us", 1, 3, 999));
  CHECK_FALSE(holds("cpu == 3 && time < 1us", 1, 3, 1'000));
  CHECK(holds("cpu != 3", 1, 0, 0));
  CHECK(holds("tid + cpu == 4", 1, 3, 0));
}

TEST_CASE("if the CPU is not known, conditions on it are neither true nor false") {
  CHECK_FALSE(holds("cpu == 3", 1, -1, 0));
  CHECK_FALSE(holds("cpu != 3", 1, -1, 0));
  CHECK(holds("cpu != 3 || tid == 1", 1, -1, 0));
}

TEST_CASE("a stretch is cut where the time makes a difference") {
  CHECK(parts("thread == mac") == Parts{{0, 10'000}});
  CHECK(parts("thread != mac").empty());
  CHECK(parts("time < 4us") == Parts{{0, 4'000}});
  CHECK(parts("time > 4us") == Parts{{4'001, 10'000}});
  CHECK(parts("time in {1us..2us, 8us..20us}") == Parts{{1'000, 2'001}, {8'000, 10'000}});
  CHECK(parts("!(time in 1us..2us) && cpu == 3") == Parts{{0, 1'000}, {2'001, 10'000}});
  CHECK(parts("time < 4us && tid == 1 || time >= 6us && tid == 2") == Parts{{0, 4'000}});
  CHECK(parts("time > -5us") == Parts{{0, 10'000}});
  CHECK(parts("time > 5s").empty());
}

TEST_CASE("the time in which anything may be so is that of all threads and CPUs") {
  CHECK(time_in("thread == mac") == 10'000);
  CHECK(time_in("time < 4us && thread == mac") == 4'000);
  CHECK(time_in("time < 4us && thread == mac || time in 6us..6999ns && cpu == 0") == 5'000);
  CHECK(time_in("!(time < 4us || thread == mac)") == 6'000);
  CHECK(time_in("time > 5s") == 0);
}

TEST_CASE("a filter of threads has no points, no fields and no journeys") {
  const auto error = [](std::string_view expression) {
    CAPTURE(expression);
    const auto made = compiled(expression);
    REQUIRE_FALSE(made);
    return made.error().text();
  };
  CHECK(error("rnti == 5")
            .starts_with("column 1: rnti is not known in a filter of threads, which has time, "
                         "thread, tid and cpu\n"));
  CHECK(error("tim > 5us").contains("did you mean time?"));
  CHECK(error("len + 1 > 5").starts_with("column 1: len is not known"));
  CHECK(error("point ~ rlc.*").starts_with("column 1: point is not known"));
  CHECK(error("time > 1s && complete").starts_with("column 14: complete is not known"));
  CHECK(error("latency > 1s").starts_with("column 1: latency is not known"));
  CHECK(error("stream == 1").starts_with("column 1: stream is not known"));
  CHECK(error("has(len)").starts_with("column 1: no such thing is known in a filter of threads"));
  CHECK(error("at(rlc.tx) > 5us").starts_with("column 1: no such thing is known"));
  CHECK(error("event(tid == 1)").starts_with("column 1: no such thing is known"));
  CHECK(error("time % 1us < 5ns")
            .starts_with("column 1: in a filter of threads, time can only be compared"));
  CHECK(error("thread == mca").contains("did you mean mac?"));
}

}  // namespace
}  // namespace sojourn::filter_tests
