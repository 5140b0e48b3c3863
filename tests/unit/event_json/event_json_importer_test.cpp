// The times of events, and their form in a trace.
#include "analysis/event_json/event_json_importer.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "analysis/trace/reader.h"
#include "tests/support/child.h"
#include "userspace/files/file_stream.h"
#include "userspace/files/trace_file.h"

namespace sojourn::event_json {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
// 2026-11-20 10:00:00 UTC.
constexpr std::uint64_t kTen = 1'795'168'800 * kSecond;

std::string span_at(std::uint64_t ts_us, const std::string& thread = "worker#0") {
  return fmt::format(
      R"({{"args": {{}}, "pid": 1, "tid": "{}", "dur": 5, "ts": {}, "ph": "X", "name": "tti"}})",
      thread, ts_us);
}

std::string instant_at(std::uint64_t ts_us, const std::string& day) {
  return fmt::format(
      R"({{"args": {{"tstamp": "{}"}}, "pid": 1, "tid": "main", "ts": {}, "ph": "i", "name": "late"}})",
      day, ts_us);
}

class Imports {
 public:
  Result<Summary> import(const std::string& text, std::uint64_t changed_ns,
                         std::optional<std::uint64_t> began_ns = std::nullopt) const {
    const std::string path = directory_.path("trace.json");
    test::write_contents(path, text);
    std::filesystem::last_write_time(
        path, std::chrono::file_clock::from_sys(std::chrono::sys_time<std::chrono::nanoseconds>(
                  std::chrono::nanoseconds(changed_ns))));
    auto writer = files::create_trace(directory_.path("t.sjt"));
    REQUIRE(writer.has_value());
    auto into = imports::Destination::alone(*writer, "recording");
    REQUIRE(into.has_value());
    const std::string paths[] = {path};
    auto summary = import_files(paths, began_ns, files::open_stream, *into, [](auto, auto) {});
    if (summary)
      REQUIRE(writer->finish());
    else
      writer->abandon();
    return summary;
  }

  trace::Reader trace() const {
    auto reader = files::open_trace(directory_.path("t.sjt"));
    REQUIRE(reader.has_value());
    return std::move(*reader);
  }

 private:
  test::TemporaryDirectory directory_;
};

TEST_CASE("one event with the time of day dates them all") {
  const Imports imports;
  const auto summary =
      imports.import("[" + span_at(100) + "," + instant_at(2'000'100, "10:00:02.000000") + "]",
                     kTen + 60 * kSecond);
  REQUIRE(summary.has_value());
  const FileSummary& file = summary->files.at(0);
  CHECK(file.events == 2);
  CHECK(file.dated_by_file);
  CHECK(file.began_ns == kTen - 100'000);
  CHECK(file.first_ns == kTen);
  CHECK(file.last_ns == kTen + 2 * kSecond);

  trace::Reader trace = imports.trace();
  CHECK(trace.capture().open_ns == kTen);
  CHECK(trace.capture().tracer == "srsRAN event tracer");
  REQUIRE(trace.schema().points.size() == 2);
  CHECK(trace.schema().points[0].src == "tti");
  CHECK(trace.schema().points[0].fields[1].name == "dur_ns");
  REQUIRE(trace.context().names.size() == 2);
  CHECK(trace.context().names[1].name == "worker#0");
  model::EventBatch events;
  REQUIRE(trace.read(trace.blocks().at(0), events));
  REQUIRE(events.size() == 2);
  CHECK(events[0].tid == trace.context().names[1].id);
  CHECK(std::vector(events[0].values.begin(), events[0].values.end()) ==
        std::vector<std::uint64_t>{1, 5'000});
}

TEST_CASE("a recording over midnight began the day before its file was changed") {
  const Imports imports;
  const std::uint64_t midnight = kTen + 14 * 3600 * kSecond;
  const auto summary =
      imports.import("[" + instant_at(0, "23:59:59.000000") + "," + span_at(3'000'000) + "]",
                     midnight + 3 * kSecond);
  REQUIRE(summary.has_value());
  CHECK(summary->files[0].first_ns == midnight - kSecond);
  CHECK(summary->files[0].last_ns == midnight + 2 * kSecond);
}

TEST_CASE("if no event has the time of day, the user must give it") {
  const Imports imports;
  const auto undated = imports.import("[" + span_at(1) + "]", kTen);
  REQUIRE(!undated.has_value());
  CHECK(undated.error().text().contains("no event has the time of day: give --began"));
  const auto told = imports.import("[" + span_at(1) + "]", kTen, 7 * kSecond);
  REQUIRE(told.has_value());
  CHECK(told->files[0].first_ns == 7 * kSecond + 1'000);
  CHECK(!told->files[0].dated_by_file);
}

TEST_CASE("spans are in the order of their beginnings, however they were written") {
  const Imports imports;
  const auto summary =
      imports.import("[" + span_at(9) + "," + span_at(3) + "," + span_at(6) + "]", kTen, kTen);
  REQUIRE(summary.has_value());
  CHECK(summary->files[0].disordered == 2);
  trace::Reader trace = imports.trace();
  model::EventBatch events;
  REQUIRE(trace.read(trace.blocks().at(0), events));
  REQUIRE(events.size() == 3);
  CHECK(events[0].ts_ns == kTen + 3'000);
  CHECK(events[2].ts_ns == kTen + 9'000);
}

TEST_CASE("every object is an event, or is counted by its kind") {
  const Imports imports;
  const auto summary = imports.import(
      "[" + span_at(1) + R"(,{"ph": "M", "name": "x"},{"ph": "X"},)" + span_at(2), kTen, kTen);
  REQUIRE(summary.has_value());
  const FileSummary& file = summary->files[0];
  CHECK(file.objects == 4);
  CHECK(file.events == 2);
  CHECK(file.other == 1);
  CHECK(file.malformed == 1);
  CHECK(!file.failure.empty());
}

TEST_CASE("a file without an event is no recording") {
  const Imports imports;
  CHECK(imports.import("[]", kTen).error().text().contains("no event; its list is empty"));
  CHECK(imports.import("dear diary", kTen).error().text().contains("no event; no JSON at byte 1"));
  CHECK(imports.import("[{}]", kTen, kTen).error().text().contains("no event in 1 objects"));
}

}  // namespace
}  // namespace sojourn::event_json
