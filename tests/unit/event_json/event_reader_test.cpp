// Events in such a file, and JSON that is no event.
#include "analysis/event_json/event_reader.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/child.h"
#include "userspace/files/file_stream.h"

namespace sojourn::event_json {
namespace {

struct Read {
  std::vector<Event> events;
  std::string failure;
};

Read read(const std::string& text) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("trace.json");
  test::write_contents(path, text);
  Read all;
  const auto stream = *files::open_stream(path);
  auto failure = read_events(*stream, [&](const Event& event, std::uint64_t) -> Result<bool> {
    all.events.push_back(event);
    return true;
  });
  REQUIRE(failure.has_value());
  all.failure = *failure;
  return all;
}

constexpr const char* kSpan =
    R"({"args": {}, "pid": 3, "tid": "up_phy_dl#1", "dur": 41, "ts": 1002, "cat": "process",)"
    R"( "ph": "X", "name": "mac_dl_tti"})";
constexpr const char* kUsage =
    R"({"args": {"start_tstamp": "23:59:58.000007", "vol_ctxt_switch": 1, "invol_ctxt_switch": 2},)"
    R"( "pid": 0, "tid": "du_cell#0", "dur": 900, "ts": 500, "cat": "process", "ph": "X",)"
    R"( "name": "slot"})";
constexpr const char* kInstant =
    R"({"args": {"tstamp": "00:00:01.250000"}, "pid": 1, "tid": "main", "ts": 7, "cat": "process",)"
    R"( "ph": "i", "s": "g", "name": "trace_overflow"})";

TEST_CASE("a span, a span with its switches and an instant are read as they were written") {
  const Read all = read(std::string("[\n") + kSpan + ",\n" + kUsage + ",\n" + kInstant + "\n]");
  CHECK(all.failure.empty());
  REQUIRE(all.events.size() == 3);
  const Event& span = all.events[0];
  CHECK(span.kind == Event::Kind::kSpan);
  CHECK(span.name == "mac_dl_tti");
  CHECK(span.thread == "up_phy_dl#1");
  CHECK(span.cpu == 3);
  CHECK(span.ts_ns == 1'002'000);
  CHECK(span.dur_ns == 41'000);
  CHECK(!span.day_ns.has_value());
  CHECK(span.numbers.empty());

  const Event& usage = all.events[1];
  CHECK(usage.day_ns == (86'398ull * 1'000'000 + 7) * 1'000);
  CHECK(usage.numbers == std::vector<std::pair<std::string, std::int64_t>>{
                             {"vol_ctxt_switch", 1}, {"invol_ctxt_switch", 2}});

  CHECK(all.events[2].kind == Event::Kind::kInstant);
  CHECK(all.events[2].day_ns == 1'250'000'000ull);
  CHECK(all.events[2].thread == "main");
}

TEST_CASE("a trace viewer's object has its events in traceEvents, and fractions of microseconds") {
  const Read all =
      read(R"({"displayTimeUnit": "ns", "other": [{"name": "no event"}], "traceEvents": [)"
           R"({"name": "a", "ph": "X", "ts": 1.5, "dur": 0.25, "pid": 1, "tid": 77},)"
           R"({"name": "thread_name", "ph": "M", "ts": 0, "args": {"name": "x"}}]})");
  CHECK(all.failure.empty());
  REQUIRE(all.events.size() == 2);
  CHECK(all.events[0].ts_ns == 1'500);
  CHECK(all.events[0].dur_ns == 250);
  CHECK(all.events[0].thread == "77");
  CHECK(all.events[1].kind == Event::Kind::kOther);
}

TEST_CASE("text behind the list of events is no event") {
  const Read all = read(R"({"traceEvents": [{"name": "a", "ph": "i", "ts": 1}],)"
                        R"( "stackFrames": {"5": {"name": "b", "ph": "i", "ts": 2}},)"
                        R"( "samples": [{"name": "c", "ph": "X", "ts": 3, "dur": 1}]})");
  CHECK(all.failure.empty());
  REQUIRE(all.events.size() == 1);
  CHECK(all.events[0].name == "a");
}

TEST_CASE("an event's numbers are those of its args that have a name, and no others") {
  const Read all =
      read(R"([{"name": "a", "ph": "i", "ts": 1, "args": {"x": 1, "": 2,)"
           R"( "inner": {"y": 3}, "list": [4], "z": 5}, "beside": [6], "o": {"v": 7}}])");
  REQUIRE(all.events.size() == 1);
  CHECK(all.events[0].numbers ==
        std::vector<std::pair<std::string, std::int64_t>>{{"x", 1}, {"z", 5}});
}

TEST_CASE("an object that lacks a member of an event is counted apart") {
  for (const char* text :
       {R"([{"ph": "X", "ts": 1, "dur": 2}])", R"([{"name": "a", "ph": "X", "ts": 1}])",
        R"([{"name": "a", "ph": "X", "dur": 1}])", R"([{"name": "a", "ts": 1, "dur": 2}])",
        R"([{"name": "a", "ph": "X", "ts": -1, "dur": 2}])",
        R"([{"name": "a", "ph": "X", "ts": 1e300, "dur": 2}])",
        R"([{"name": "a", "ph": "X", "ts": 2.1e14, "dur": 2}])",
        R"([{"name": "a", "ph": "X", "ts": "1", "dur": 2}])", R"([{}])"}) {
    CAPTURE(text);
    const Read all = read(text);
    REQUIRE(all.events.size() == 1);
    CHECK(all.events[0].kind == Event::Kind::kMalformed);
  }
}

TEST_CASE("values of an event do not appear in the next one") {
  const Read all = read(std::string("[") + kUsage + R"(, {"name": "b", "ph": "i", "ts": 3}])");
  REQUIRE(all.events.size() == 2);
  CHECK(all.events[1].numbers.empty());
  CHECK(all.events[1].thread.empty());
  CHECK(!all.events[1].day_ns.has_value());
}

TEST_CASE("a file that is cut anywhere gives the events before, and says where it ends") {
  const std::string whole = std::string("[\n") + kSpan + ",\n" + kUsage + "\n]";
  const std::size_t first_ends = 2 + std::string(kSpan).size();
  const std::size_t second_ends = whole.size() - 2;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    const Read all = read(whole.substr(0, length));
    CHECK(all.events.size() ==
          static_cast<std::size_t>(length >= first_ends) + (length >= second_ends));
    CHECK(!all.failure.empty());
  }
}

TEST_CASE("a file of another format is refused") {
  CHECK(read("dear diary").failure == "no JSON at byte 1");
  CHECK(read("{\"a\": 1}").failure == "it has no list of events");
  CHECK(read("7").failure == "it has no list of events");
  CHECK(read(std::string(1000, '[')).failure.contains("deep"));
}

TEST_CASE("a file that cannot be read ends there") {
  const auto take = [](const Event&, std::uint64_t) -> Result<bool> { return true; };
  CHECK(read_events(**files::open_stream("/proc/self/mem"), take).value() == "Input/output error");
}

TEST_CASE("the byte behind an event is reported, however much is read ahead") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("trace.json");
  std::string text = "[";
  std::vector<std::uint64_t> ends;
  for (int event = 0; event < 2'000; ++event) {
    text += std::string(event == 0 ? "" : ", ") + kSpan;
    ends.push_back(text.size());
  }
  test::write_contents(path, text + "]");
  const auto stream = *files::open_stream(path);
  std::vector<std::uint64_t> told;
  REQUIRE(read_events(*stream, [&](const Event&, std::uint64_t end) -> Result<bool> {
    told.push_back(end);
    return true;
  }));
  CHECK(told == ends);
}

}  // namespace
}  // namespace sojourn::event_json
