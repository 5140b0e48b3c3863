// `sojourn import` of recordings that perf, bpftrace and LTTng made of a small program, which hit
// two points of a packet and a scalar a dozen times (tests/golden/hits): alone, by a map, and
// beside a trace of sojourn's.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

struct Recording {
  std::string from;
  std::string path;
  std::string map;
};

const std::vector<Recording> kRecordings = {
    {"perf", SJ_GOLDEN "/hits/perf.txt",
     "sojourn:D_ip_in* D ip.in--pdcp.in len=arg1:rnti=arg2:psn=arg3\n"
     "sojourn:D_pdcp_in* D pdcp.in--phy.out len=arg1:rnti=arg2:psn=arg3\n"
     "sojourn:I_* I tick by%d=arg1\n"},
    {"bpftrace", SJ_GOLDEN "/hits/bpftrace.txt",
     "*:D_ip_in* D ip.in--pdcp.in len:rnti:psn\n*:D_pdcp_in* D pdcp.in--phy.out len:rnti:psn\n"
     "*:I_* I tick by%d\n"},
    {"bpftrace", SJ_GOLDEN "/hits/bpftrace.json",
     "*:D_ip_in* D ip.in--pdcp.in len:rnti:psn\n*:D_pdcp_in* D pdcp.in--phy.out len:rnti:psn\n"
     "*:I_* I tick by%d\n"},
    {"ctf", SJ_GOLDEN "/hits/lttng",
     "gnb:pdcp_in D ip.in--pdcp.in len:rnti:psn\ngnb:phy_out D pdcp.in--phy.out len:rnti:psn\n"
     "gnb:tick I tick by%d\n"}};

std::vector<json> json_lines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

std::vector<json> events_of(const std::string& trace, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"events", trace, "--json", "--time", "mono"});
  return json_lines(output_of(std::move(more)));
}

TEST_CASE("packets of a real recording are rebuilt, whichever tracer made it") {
  const Recording recording = GENERATE(from_range(kRecordings));
  CAPTURE(recording.path);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("hits.sjt");
  const std::string map = directory.path("hits.map");
  test::write_contents(map, recording.map);
  const test::Ended imported =
      sojourn({"import", "--from", recording.from, recording.path, "--map", map, "-o", trace});
  REQUIRE(imported.exit_code == 0);
  CHECK(imported.err.contains("36 events over 0."));
  CHECK(imported.err.contains(" 0 skipped\n"));
  CHECK(imported.err.contains("  times are taken for CLOCK_MONOTONIC of the machine\n"));
  const auto journeys = json_lines(output_of({"journeys", trace, "--json"}));
  REQUIRE(journeys.size() == 12);
  for (std::size_t at = 0; at < journeys.size(); ++at) {
    const json& journey = journeys[at];
    CHECK(journey["outcome"] == "complete");
    CHECK(journey["latency_ns"] > 300'000);  // the program slept this long in between
    CHECK(journey["ids"] == json({{"rnti", 0x4601 + at % 2}, {"psn", at}}));
    CHECK(journey["events"][0]["properties"]["len"] == 100 + at);
  }
  const auto ticks = events_of(trace, {"--where", "point ~ tick"});
  REQUIRE(ticks.size() == 12);
  for (std::size_t at = 0; at < ticks.size(); ++at) {
    CHECK(ticks[at]["fields"]["by"] == -static_cast<int>(at));
  }
  for (const json& event :
       json_lines(output_of({"export", trace, "--to", "jsonl", "--what", "events"})))
    CHECK(event["thread"] == "app");
  CHECK(output_of({"report", trace}).contains("losses unknown"));
}

TEST_CASE("without a map each kind of event is a scalar") {
  const Recording recording = GENERATE(from_range(kRecordings));
  CAPTURE(recording.path);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("hits.sjt");
  const auto told = json::parse(
      output_of({"import", "--from", recording.from, recording.path, "-o", trace, "--json"}));
  CHECK(told["events"] == 36);
  CHECK(told["points"] == 3);
  CHECK(told["files"][0]["lost"] == 0);
  CHECK(told["files"][0]["skipped"].empty());
  for (const json& event : events_of(trace)) CHECK(event["dir"] == "I");
}

TEST_CASE("times of the recording are those of the trace, and may be moved") {
  const test::TemporaryDirectory directory;
  const std::string text = directory.path("perf.txt");
  const std::string trace = directory.path("perf.sjt");
  test::write_contents(text,
                       "app 5 [000] 10.000000007: gnb:in: (1) a=1\n"
                       "app 5 [000] 9.5: gnb:in: (1) a=2\n");
  const auto times = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"import", "--from", "perf", text, "-o", trace});
    REQUIRE(sojourn(more).exit_code == 0);
    std::vector<std::uint64_t> found;
    for (const json& event : events_of(trace)) found.push_back(event["t_ns"]);
    return found;
  };
  CHECK(times({}) == std::vector<std::uint64_t>{9'500'000'000, 10'000'000'007});
  CHECK(times({"--shift", "1.5ms"}) == std::vector<std::uint64_t>{9'501'500'000, 10'001'500'007});
  CHECK(times({"--shift=-9s"}) == std::vector<std::uint64_t>{500'000'000, 1'000'000'007});
  const test::Ended gone =
      sojourn({"import", "--from", "perf", text, "-o", trace, "--shift=-9.6s"});
  CHECK(gone.exit_code == 0);
  CHECK(gone.err.contains("skipped 1: the time is outside of a trace's range, first in line 2\n"));
  CHECK(gone.err.contains("CLOCK_MONOTONIC of the machine, with -9.6s added\n"));
}

// A trace of sojourn's of the time of a recording, without a clock pair.
std::string beside_trace(const test::TemporaryDirectory& directory, const std::string& recording,
                         const std::string& from) {
  const std::string alone = directory.path("alone.sjt");
  REQUIRE(sojourn({"import", "--from", from, recording, "-o", alone}).exit_code == 0);
  return alone;
}

TEST_CASE("hits lie in the time line of a trace of the same machine") {
  const Recording recording = GENERATE(from_range(kRecordings));
  CAPTURE(recording.path);
  const test::TemporaryDirectory directory;
  const std::string run = beside_trace(directory, recording.path, recording.from);
  const std::string both = directory.path("both.sjt");
  const test::Ended done =
      sojourn({"import", "--from", recording.from, recording.path, "--onto", run, "-o", both});
  REQUIRE(done.exit_code == 0);
  CHECK(done.err.contains(", beside those of " + run));
  const auto own = events_of(run);
  const auto all = events_of(both);
  REQUIRE(all.size() == 2 * own.size());
  for (std::size_t at = 0; at < own.size(); ++at) {
    CHECK(all[2 * at]["t_ns"] == own[at]["t_ns"]);
    CHECK(all[2 * at + 1]["t_ns"] == own[at]["t_ns"]);
  }
  // Shifted by an hour, none of its events is in the trace's time.
  require_error(sojourn({"import", "--from", recording.from, recording.path, "--onto", run, "-o",
                         directory.path("no.sjt"), "--shift", "1h"}),
                "no event is from the time of ");
  CHECK(!std::filesystem::exists(directory.path("no.sjt")));
}

TEST_CASE("LTTng's clock is tied to the time of day, perf's is not") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("hits.sjt");
  REQUIRE(sojourn({"import", "--from", "ctf", SJ_GOLDEN "/hits/lttng", "-o", trace}).exit_code ==
          0);
  // The time that `babeltrace2` prints: 2026-11-26 11:35:00.573594772 UTC.
  const auto event =
      json_lines(output_of({"export", trace, "--to", "jsonl", "--what", "events"}))[0];
  CHECK(event["t_ns"] == 2'778'692'307'748);
  CHECK(event["unix_ns"] == 1'795'692'900'573'594'772);
  const test::Ended wall =
      sojourn({"import", "--from", "ctf", SJ_GOLDEN "/hits/lttng", "-o", trace, "--clock", "wall"});
  REQUIRE(wall.exit_code == 0);
  CHECK(events_of(trace)[0]["t_ns"] == 1'795'692'900'573'594'772);
  REQUIRE(
      sojourn({"import", "--from", "perf", SJ_GOLDEN "/hits/perf.txt", "-o", trace}).exit_code ==
      0);
  CHECK(!json_lines(output_of({"export", trace, "--to", "jsonl", "--what", "events"}))[0].contains(
      "unix_ns"));
}

TEST_CASE("an export in the Common Trace Format is read back") {
  const Traces traces;
  const std::string directory = traces.directory().path("radio.ctf");
  REQUIRE(sojourn({"export", traces.path("radio"), "--to", "ctf", "-o", directory}).exit_code == 0);
  const std::string again = traces.directory().path("again.sjt");
  REQUIRE(sojourn({"import", "--from", "ctf", directory, "-o", again}).exit_code == 0);
  const auto before = events_of(traces.path("radio"));
  const auto after = events_of(again);
  REQUIRE(after.size() == before.size());
  for (std::size_t at = 0; at < before.size(); ++at) {
    CHECK(after[at]["t_ns"] == before[at]["t_ns"]);
    CHECK(after[at]["tid"] == before[at]["tid"]);
    CHECK(after[at]["fields"] == before[at]["fields"]);
  }
}

TEST_CASE("invalid recordings give one line with file and line, and no trace") {
  const test::TemporaryDirectory directory;
  const std::string letter = directory.path("letter.txt");
  const std::string map = directory.path("bad.map");
  const std::string none = directory.path("none.sjt");
  test::write_contents(letter, "\ndear diary\n");
  test::write_contents(map, "# one\ngnb:in D in\n");
  require_error(sojourn({"import", "--from", "perf", letter, "-o", none}),
                letter +
                    ": no hit of perf script in 2 lines; it does not have the time, "
                    "thread and event of a hit (line 2)");
  require_error(sojourn({"import", "--from", "bpftrace", letter, "-o", none}), "(line 2)");
  require_error(
      sojourn({"import", "--from", "perf", SJ_GOLDEN "/hits/perf.txt", "-o", none, "--map", map}),
      map + ":2: point \"D in\": has no \"--\"");
  require_error(sojourn({"import", "--from", "ctf", letter, "-o", none}), "not a directory");
  require_error(sojourn({"import", "--from", "ctf", directory.path(), "-o", none}),
                "there is no file metadata in it");
  const std::string broken = directory.path("broken");
  std::filesystem::create_directory(broken);
  test::write_contents(broken + "/metadata", "/* CTF 1.8 */ trace { nonsense");
  test::write_contents(broken + "/channel", "x");
  require_error(sojourn({"import", "--from", "ctf", broken, "-o", none}), broken);
  CHECK(!std::filesystem::exists(none));
  CHECK(sojourn({"import", letter, "--map", map}).exit_code == 2);
  CHECK(sojourn({"import", "--from", "perf", letter, "--shift", "soon"}).exit_code == 2);
  CHECK(sojourn({"import", "--from", "perf", letter, "--clock", "sundial"}).exit_code == 2);
}

TEST_CASE("a line that is cut, broken or lacks a value is counted with its number") {
  const test::TemporaryDirectory directory;
  const std::string text = directory.path("perf.txt");
  const std::string map = directory.path("m");
  test::write_contents(text,
                       "app 5 [000] 1.5: gnb:in: (1) a=1\n"
                       "what is that\n"
                       "app 5 [000] 1.6: gnb:in: (1) b=1\n"
                       "app 5 [000] 1.7: gnb:tick:\n"
                       "app 5 [000] 1.8: PERF_RECORD_LOST lost 3\n"
                       "app 5 [000] 1.9: gnb:in: (1) a=1");
  test::write_contents(map, "gnb:in I in a\ngnb:tick -\n");
  const auto told = json::parse(output_of(
      {"import", "--from", "perf", text, "--map", map, "-o", directory.path("o.sjt"), "--json"}));
  CHECK(told["events"] == 1);
  const json& skipped = told["files"][0]["skipped"];
  CHECK(skipped["malformed"]["first_line"] == 2);
  CHECK(skipped["lacks_field"]["first_line"] == 3);
  CHECK(skipped["left_out"]["first_line"] == 4);
  CHECK(skipped["cut"]["first_line"] == 6);
  CHECK(told["files"][0]["lost"] == 3);
}

}  // namespace
}  // namespace sojourn::cli_tests
