// `sojourn import`: a recording from elsewhere becomes a trace that every command reads. The
// grammar and its hostile cases are tested in tests/unit/latseq.
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"
#include "tests/support/t_recording.h"

namespace sojourn::cli_tests {
namespace {

constexpr const char* kRaw = SJ_GOLDEN "/latseq/raw.lseq";

TEST_CASE("an imported recording is a trace for every command") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("raw.sjt");
  const test::Ended imported = sojourn({"import", kRaw, "-o", trace});
  REQUIRE(imported.exit_code == 0);
  CHECK(imported.out.empty());
  CHECK(imported.err.contains("next: sojourn report " + trace + "\n"));
  compare("raw.events.txt", output_of({"events", trace, "--time", "wall"}));
  compare("raw.journeys.txt", output_of({"journeys", trace}));
  CHECK(output_of({"check", trace}).ends_with("what its tracer lost is not known\n"));
  CHECK(output_of({"report", trace}).contains("losses unknown"));
  for (const std::string command : {"report", "explain"})
    CHECK_FALSE(output_of({command, trace}).contains("pid 0"));
}

TEST_CASE("a recording is imported from standard input as from its file") {
  const test::TemporaryDirectory directory;
  const std::string piped = directory.path("piped.sjt");
  const std::string trace = directory.path("raw.sjt");
  REQUIRE(sojourn({"import", kRaw, "-o", trace}).exit_code == 0);
  for (const std::string pack : {"cat", "gzip -c"}) {
    const test::Ended imported = test::run(
        {"sh", "-c", pack + " '" + kRaw + "' | '" SJ_SOJOURN "' import - -o '" + piped + "'"});
    CAPTURE(pack, imported.err);
    REQUIRE(imported.exit_code == 0);
    CHECK(output_of({"events", piped}) == output_of({"events", trace}));
  }
  const test::Ended unnamed = sojourn({"import", "-"});
  CHECK(unnamed.exit_code == 2);
  CHECK(unnamed.err.contains("say with -o what to write"));
  CHECK(sojourn({"import", "-", "-", "-o", piped}).exit_code == 2);
}

TEST_CASE("a field that a point has several times is an array in JSON") {
  const test::TemporaryDirectory directory;
  const std::string recording = directory.path("several.lseq");
  test::write_contents(recording,
                       "1592409293.000001 D mac--phy len10:rnti7:drb1.lcid3.lcid4.lcid5\n");
  REQUIRE(sojourn({"import", recording}).exit_code == 0);
  const auto event =
      nlohmann::json::parse(output_of({"events", directory.path("several.sjt"), "--json"}));
  CHECK(event["fields"] ==
        nlohmann::json{{"len", 10}, {"rnti", 7}, {"drb", 1}, {"lcid", {3, 4, 5}}});
}

TEST_CASE("read and skipped lines are reported as text and as JSON") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("raw.sjt");
  const auto told = nlohmann::json::parse(output_of({"import", kRaw, "-o", trace, "--json"}));
  CHECK(told["trace"] == trace);
  CHECK(told["bytes"] == test::contents(trace).size());
  const auto& file = told["files"][0];
  CHECK(file["lines"] == 21);
  CHECK(file["events"] == 13);
  CHECK(file["headers"] == 2);
  CHECK(file["blank"] == 1);
  CHECK(file["clock_lines"] == 3);
  CHECK(file["skipped"]["stamp_zero"]["first_line"] == 11);
  CHECK(file["skipped"]["cut"]["count"] == 1);

  const test::Ended text = sojourn({"import", kRaw, "-o", trace});
  CHECK(text.err.contains("21 lines: 13 events over 1.000 s, 2 skipped\n"));
  CHECK(text.err.contains("skipped 1: the time stamp is 0, first in line 11\n"));
  CHECK(text.err.contains("13 times by the cycle counter, read by 3 clock lines"));
}

TEST_CASE("the trace is called as the recording is") {
  const test::TemporaryDirectory directory;
  const std::string recording = directory.path("run.1.lseq");
  test::write_contents(recording, test::contents(kRaw));
  REQUIRE(sojourn({"import", recording}).exit_code == 0);
  CHECK(std::filesystem::exists(directory.path("run.1.sjt")));
}

TEST_CASE("an import that fails says why in one line and leaves nothing") {
  const test::TemporaryDirectory directory;
  const std::string letter = directory.path("letter.sjt");
  test::write_contents(letter, "dear diary\n");
  require_error(sojourn({"import", letter}), "it is the file to import");
  require_error(sojourn({"import", letter, "-o", directory.path("x.sjt")}),
                "no LatSeq event in 1 line; does not begin with a time stamp (line 1)");
  require_error(sojourn({"import", directory.path("absent")}), "absent: No such file");
  CHECK(sojourn({"import"}).exit_code == 2);
  CHECK(sojourn({"import", letter, "--from", "runes"}).exit_code == 2);
  CHECK(test::contents(letter) == "dear diary\n");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    files += entry.exists();
  CHECK(files == 1);
}

TEST_CASE("a trace is not imported, and the command that reads it is named") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const std::string bytes = test::contents(trace);
  for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                               {"-o", traces.directory().path("other.sjt")},
                                               {"--from", "perf"}}) {
    std::vector<std::string> arguments = {"import", trace};
    arguments.insert(arguments.end(), more.begin(), more.end());
    require_error(sojourn(arguments), trace +
                                          ": is a trace of sojourn already, which every command "
                                          "reads: sojourn report " +
                                          trace);
  }
  CHECK(test::contents(trace) == bytes);
  CHECK_FALSE(std::filesystem::exists(traces.directory().path("other.sjt")));
}

TEST_CASE("a recording of the T tracer is a trace for every command") {
  const test::TemporaryDirectory directory;
  const std::string recording = directory.path("record.raw");
  std::string bytes = test::t_list("ID = MAC_SDU\nFORMAT = int,rnti : int,frame : buffer,data\n");
  for (int i = 0; i < 5; ++i)
    bytes += test::t_record(0, 1'700'000'000, 1000 * i,
                            test::t_number(0x4601 + i % 2) + test::t_number(i) +
                                test::t_buffer(std::string(static_cast<std::size_t>(i), 'x')));
  test::write_contents(recording, bytes + test::t_record(9, 1, 1, "") + "cut");
  const test::Ended imported = sojourn({"import", "--from", "t", recording});
  REQUIRE(imported.exit_code == 0);
  CHECK(imported.err.contains("5 events over 0.000 s, 1 skipped\n"));
  CHECK(imported.err.contains("skipped 1: of no message of the recording's list\n"));
  CHECK(imported.err.contains("reading ended early: the record at byte "));
  const std::string trace = directory.path("record.sjt");
  CHECK(output_of({"events", trace, "--where", "rnti == 0x4602 && data_len == 3"}) ==
        "0.000003000 I MAC_SDU rnti 0x4602 frame 3 data_len 3 tid 0\n");
  CHECK(output_of({"report", trace}).contains("losses unknown"));
  CHECK(output_of({"check", trace}).ends_with("what its tracer lost is not known\n"));
  const auto told =
      nlohmann::json::parse(output_of({"import", "--from", "t", recording, "--json"}));
  CHECK(told["events"] == 5);
  CHECK(told["files"][0]["skipped"]["unlisted"] == 1);
  CHECK(!told["files"][0]["failure"].get<std::string>().empty());

  require_error(sojourn({"import", "--from", "t", kRaw, "-o", directory.path("no.sjt")}),
                "is no record of T's");
  CHECK(!std::filesystem::exists(directory.path("no.sjt")));
  CHECK(sojourn({"import", "--from", "runes", recording}).exit_code == 2);
}

TEST_CASE("srsRAN's events are a trace, alone and beside one of the same time") {
  const test::TemporaryDirectory directory;
  const std::string recording = directory.path("gnb_trace.json");
  // Began at 1'700'000'000 s, which was 2023-11-14 22:13:20 UTC.
  test::write_contents(recording,
                       R"([
{"args": {"tstamp": "22:13:21.000000"}, "pid": 0, "tid": "main", "ts": 1000000, "ph": "i", "name": "late"},
{"args": {}, "pid": 3, "tid": "du_cell#0", "dur": 41, "ts": 1000007, "ph": "X", "name": "mac tti"})");
  const test::Ended undated =
      sojourn({"import", "--from", "srsran", recording, "--began", "1700000000s"});
  REQUIRE(undated.exit_code == 0);
  CHECK(undated.err.contains("2 objects: 2 events over 0.000 s, 0 skipped\n"));
  CHECK(undated.err.contains("reading ended early: no JSON at byte "));
  CHECK(output_of({"events", directory.path("gnb_trace.sjt")}) ==
        "0.000000000 I late cpu 0 tid 1\n0.000007000 I mac_tti cpu 3 dur_ns 41000 tid 2\n");

  const std::string report = output_of({"report", directory.path("gnb_trace.sjt")});
  CHECK(report.contains("what it timed itself  count  share of time     mean      p50"));
  CHECK(report.contains("  mac_tti                 1 "));
  const auto spans = nlohmann::json::parse(
      output_of({"report", directory.path("gnb_trace.sjt"), "--json"}))["spans"];
  REQUIRE(spans.size() == 1);
  CHECK(spans[0]["name"] == "mac_tti");
  CHECK(spans[0]["count"] == 1);
  CHECK(spans[0]["duration_us"]["max"] == 41.0);

  const std::string raw = directory.path("record.raw");
  test::write_contents(raw, test::t_list("ID = TICK\nFORMAT = int,frame\n") +
                                test::t_record(0, 1'700'000'001, 5000, test::t_number(1)) +
                                test::t_record(0, 1'700'000'001, 9000, test::t_number(2)) +
                                test::t_record(0, 1'700'000'002, 0, test::t_number(3)));
  const std::string both = directory.path("both.sjt");
  const std::vector<std::string> onto = {
      "import", "--from", "t", raw, "--onto", directory.path("gnb_trace.sjt"), "-o", both};
  const test::Ended beside = sojourn(onto);
  REQUIRE(beside.exit_code == 0);
  CHECK(beside.err.contains("  2 events left out: before or after what was recorded\n"));
  CHECK(output_of({"events", both, "--where", "point ~ TICK || point ~ mac*"}) ==
        "0.000005000 I TICK frame 1 tid 0\n0.000007000 I mac_tti cpu 3 dur_ns 41000 tid 2\n");
  CHECK(output_of({"check", directory.path("gnb_trace.sjt")}).contains("2 events"));

  require_error(sojourn({"import", "--from", "srsran", recording, "--began", "5s", "--onto",
                         directory.path("gnb_trace.sjt"), "-o", directory.path("no.sjt")}),
                "no event is from the time of ");
  CHECK(!std::filesystem::exists(directory.path("no.sjt")));
  require_error(sojourn({"import", "--from", "t", raw, "--onto", both, "-o", both}),
                "it is the trace to import onto");
  for (const std::string beyond : {"-3s", "1e10s", "99999999999s", "nan"})
    CHECK(sojourn({"import", "--from", "srsran", recording, "--began", beyond}).exit_code == 2);
  CHECK(sojourn({"import", "--from", "t", raw, "--began", "3s"}).exit_code == 2);
}

// A recording through a pipe, as from `cat FILE |`, which can be read once.
test::Ended import_from_pipe(const std::string& from, const std::string& file,
                             const std::vector<std::string>& more) {
  std::vector<std::string> command = {"sh", "-c", R"(cat "$0" | "$@")", file, SJ_SOJOURN};
  command.insert(command.end(), {"import", "--from", from, "/dev/stdin"});
  command.insert(command.end(), more.begin(), more.end());
  return test::run(command);
}

TEST_CASE("a recording may come out of a pipe where one reading is enough") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("p.sjt");
  const std::string raw = directory.path("record.raw");
  test::write_contents(raw, test::t_list("ID = TICK\nFORMAT = int,frame\n") +
                                test::t_record(0, 1'700'000'001, 5000, test::t_number(1)));
  const std::string json = directory.path("gnb_trace.json");
  test::write_contents(
      json, R"([{"args": {"tstamp": "22:13:21.000000"}, "ts": 1, "ph": "i", "name": "late"}])");
  CHECK(import_from_pipe("latseq", kRaw, {"-o", trace}).exit_code == 0);
  CHECK(import_from_pipe("t", raw, {"-o", trace}).exit_code == 0);
  CHECK(import_from_pipe("srsran", json, {"-o", trace, "--began", "5s"}).exit_code == 0);
  require_error(import_from_pipe("srsran", json, {"-o", directory.path("no.sjt")}),
                "/dev/stdin: not a regular file, and what time it was is looked for first: say "
                "--began");
  CHECK(!std::filesystem::exists(directory.path("no.sjt")));
}

TEST_CASE("a file that cannot be imported is refused before a trace is begun") {
  const test::TemporaryDirectory directory;
  for (const std::string from : {"latseq", "t", "srsran"}) {
    CAPTURE(from);
    require_error(sojourn({"import", "--from", from, "/no/such/place/a.lseq"}),
                  "open /no/such/place/a.lseq: No such file or directory");
    require_error(sojourn({"import", "--from", from, directory.path("")}), "is a directory");
  }
  require_error(sojourn({"import", "/dev/zero", "-o", directory.path("z.sjt")}),
                "no line end within 256 MiB");
}

}  // namespace
}  // namespace sojourn::cli_tests
