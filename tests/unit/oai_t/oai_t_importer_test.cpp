// T's recordings, made here byte by byte, whole and broken in every place.
#include "analysis/oai_t/oai_t_importer.h"

#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/reader.h"
#include "tests/support/child.h"
#include "tests/support/t_recording.h"
#include "userspace/files/file_stream.h"
#include "userspace/files/trace_file.h"

namespace sojourn::oai_t {
namespace {

using test::t_buffer;
using test::t_list;
using test::t_number;
using test::t_record;

constexpr const char* kList =
    "ID = TICK\n    FORMAT = int,frame : int,subframe\n"
    "ID = MAC_SDU\n    FORMAT = int,rnti : ulong,when : string,log : buffer,data : int,length\n";

std::string tick(std::int64_t seconds, std::int64_t ns, std::int32_t frame, std::int32_t subframe) {
  return t_record(0, seconds, ns, t_number(frame) + t_number(subframe));
}

std::string sdu(std::int64_t seconds, std::int64_t ns, const std::string& log,
                const std::string& data) {
  return t_record(1, seconds, ns,
                  t_number(std::int32_t{-5}) + t_number(std::uint64_t{1} << 40) + log + '\0' +
                      t_buffer(data) + t_number(std::int32_t{77}));
}

struct Event {
  std::uint64_t ts_ns = 0;
  std::string point;
  std::vector<std::uint64_t> values;

  bool operator==(const Event&) const = default;
};

class Imports {
 public:
  Result<Summary> import(const std::string& bytes) const {
    test::write_contents(directory_.path("record.raw"), bytes);
    auto writer = files::create_trace(directory_.path("t.sjt"));
    REQUIRE(writer.has_value());
    auto into = imports::Destination::alone(*writer, "recording");
    REQUIRE(into.has_value());
    const std::string paths[] = {directory_.path("record.raw")};
    auto summary = import_files(paths, files::open_stream, *into, [](auto, auto) {});
    if (summary)
      REQUIRE(writer->finish());
    else
      writer->abandon();
    return summary;
  }

  std::vector<Event> events() const {
    auto reader = files::open_trace(directory_.path("t.sjt"));
    REQUIRE(reader.has_value());
    std::vector<Event> events;
    REQUIRE(reader->merge([&](const model::EventBatch& batch) {
      for (std::size_t row = 0; row < batch.size(); ++row) {
        const auto event = batch[row];
        events.push_back({event.ts_ns,
                          reader->schema().points[event.point].name(),
                          {event.values.begin(), event.values.end()}});
      }
      return true;
    }));
    return events;
  }

 private:
  test::TemporaryDirectory directory_;
};

TEST_CASE("a recording explains itself, and its messages become scalars in order of time") {
  const Imports imports;
  const auto summary = imports.import(t_list(kList) + sdu(1'700'000'000, 30, "hello", "abc") +
                                      tick(1'700'000'000, 20, 1023, 9));
  REQUIRE(summary.has_value());
  CHECK(summary->points == 2);
  const FileSummary& file = summary->files.front();
  CHECK(file.records == file.list_records + 2);
  CHECK(file.events == 2);
  CHECK(file.disordered == 1);
  CHECK(file.unlisted + file.malformed == 0);
  CHECK(file.failure.empty());
  CHECK(imports.events() == std::vector<Event>{{1'700'000'000'000'000'020, "TICK", {1023, 9}},
                                               {1'700'000'000'000'000'030,
                                                "MAC_SDU",
                                                {static_cast<std::uint64_t>(std::int64_t{-5}),
                                                 std::uint64_t{1} << 40, 5, 3, 77}}});
}

TEST_CASE("a base station that sends its list again is read by the new one") {
  const Imports imports;
  const auto summary =
      imports.import(t_list(kList) + tick(10, 0, 1, 2) + t_list("ID = OTHER\nFORMAT = int,x\n") +
                     t_record(0, 11, 0, t_number(std::int32_t{7})) + sdu(12, 0, "", ""));
  REQUIRE(summary.has_value());
  CHECK(summary->files.front().unlisted == 1);
  CHECK(imports.events() ==
        std::vector<Event>{{10'000'000'000, "TICK", {1, 2}}, {11'000'000'000, "OTHER", {7}}});
}

TEST_CASE("an impossible list ends the reading, and earlier events stay") {
  const Imports imports;
  const auto summary = imports.import(t_list(kList) + tick(10, 0, 1, 2) +
                                      t_list("ID = OTHER\nFORMAT = rune,x\n") + tick(11, 0, 1, 2));
  REQUIRE(summary.has_value());
  CHECK(summary->files.front().failure == "line 2 of its list of messages: not a format of T's");
  CHECK(imports.events() == std::vector<Event>{{10'000'000'000, "TICK", {1, 2}}});
}

TEST_CASE("records that cannot be are skipped by reason") {
  const Imports imports;
  const auto summary = imports.import(
      tick(1, 0, 1, 1) +  // before the list
      t_list(kList) + t_record(7, 2, 0, "") + t_record(-3, 2, 0, "") +
      t_record(0, 2, 0, t_number(5)) + t_record(0, 2, 0, t_number(5) + t_number(6) + t_number(7)) +
      tick(2, 1'000'000'000, 1, 1) + tick(-1, 0, 1, 1) +
      t_record(1, 2, 0, t_number(1) + t_number(std::uint64_t{2}) + "no end") +
      t_record(1, 2, 0,
               t_number(1) + t_number(std::uint64_t{2}) + '\0' + t_number(std::int32_t{-8})) +
      tick(3, 0, 1, 2));
  REQUIRE(summary.has_value());
  const FileSummary& file = summary->files.front();
  CHECK(file.unlisted == 3);
  CHECK(file.malformed == 6);
  CHECK(file.events == 1);
  CHECK(file.records == file.events + file.list_records + file.unlisted + file.malformed);
}

TEST_CASE("a file that is no recording, or has no event, is an error with the place") {
  const Imports imports;
  const auto error = [&](const std::string& bytes) {
    const auto summary = imports.import(bytes);
    REQUIRE(!summary.has_value());
    return summary.error().text();
  };
  CHECK(error("").contains("no event"));
  CHECK(error("xx").contains("byte 0 is cut"));
  CHECK(
      error("1592409293.000001 D mac--phy len10:rnti7:drb1\n").contains("at byte 0 is no record"));
  CHECK(error(t_list(kList)).contains("no event"));
  CHECK(error(t_list("ID = A\nFORMAT = rune,a\n")).contains("line 2 of its list of messages"));
  CHECK(error(t_record(-1, 0, 0, t_number(std::int32_t{100}) + "short")).contains("is cut"));
  CHECK(error(t_record(-2, 0, 0, "")).contains("empty"));
}

TEST_CASE("a recording that is cut anywhere gives the earlier events, and the place of the cut") {
  const Imports imports;
  const std::string whole = t_list(kList) + tick(10, 0, 1, 2) + sdu(11, 0, "log", "data");
  const std::size_t first = (t_list(kList) + tick(10, 0, 1, 2)).size();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const auto summary = imports.import(whole.substr(0, size));
    REQUIRE(summary.has_value() == (size >= first));
    if (!summary) continue;
    CHECK(summary->files.front().events == 1);
    CHECK(summary->files.front().failure.empty() == (size == first));
  }
}

TEST_CASE("a recording with bytes turned over is read or refused, and nothing else happens") {
  const Imports imports;
  std::string whole = t_list(kList);
  for (int i = 0; i < 20; ++i) whole += tick(10 + i, 0, i, i) + sdu(10 + i, 5, "log", "data");
  std::mt19937 random(1);
  std::size_t read = 0;
  for (int turn = 0; turn < 300; ++turn) {
    std::string broken = whole;
    for (int i = 0; i < 3; ++i) broken[random() % broken.size()] = static_cast<char>(random());
    const auto summary = imports.import(broken);
    if (!summary) continue;
    ++read;
    const FileSummary& file = summary->files.front();
    CHECK(file.records == file.events + file.list_records + file.unlisted + file.malformed);
    CHECK(imports.events().size() == file.events);
  }
  CHECK(read > 50);
}

}  // namespace
}  // namespace sojourn::oai_t
