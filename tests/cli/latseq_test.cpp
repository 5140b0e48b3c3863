// LatSeq's own recordings: read, rebuilt as LatSeq does and as sojourn does, and written again. The
// output of LatSeq's scripts for them is in tests/golden/latseq/upstream.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

std::string unpacked(const std::string& name) {
  const std::string path = SJ_GOLDEN "/latseq/upstream/" + name + ".gz";
  gzFile file = gzopen(path.c_str(), "rb");
  REQUIRE(file != nullptr);
  std::string text;
  char buffer[65536];
  for (int got = 0; (got = gzread(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  REQUIRE(gzclose(file) == Z_OK);
  REQUIRE(!text.empty());
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Texts of many long lines: the first that differs says more than both whole texts.
void require_same_lines(const std::string& ours, const std::string& theirs) {
  const auto mine = lines_of(ours);
  const auto wanted = lines_of(theirs);
  for (std::size_t i = 0; i < std::min(mine.size(), wanted.size()); ++i) {
    CAPTURE(i);
    REQUIRE(mine[i] == wanted[i]);
  }
  REQUIRE(mine.size() == wanted.size());
}

class Upstream {
 public:
  explicit Upstream(const std::string& name) : name_(name), trace_(directory_.path(name + ".sjt")) {
    const std::string recorded = name == "simple" ? "latseq.simple" : "main_ocp.17062020_175453";
    recording_ = directory_.path(recorded + ".lseq");
    test::write_contents(recording_, unpacked(name + ".lseq"));
    REQUIRE(sojourn({"import", recording_, "-o", trace_}).exit_code == 0);
  }

  const std::string& trace() const { return trace_; }
  std::string recorded() const { return test::contents(recording_); }
  std::string printed(const std::string& what) const { return unpacked(name_ + "." + what); }
  std::string exported(const std::string& to, const std::string& what) const {
    return output_of({"export", trace_, "--compat", "latseq", "--to", to, "--what", what});
  }
  std::string path(const std::string& name) const { return directory_.path(name); }

 private:
  test::TemporaryDirectory directory_;
  std::string name_;
  std::string trace_;
  std::string recording_;
};

TEST_CASE("journeys with --compat latseq are those that LatSeq's own rebuilder recorded") {
  const std::string name = GENERATE("simple", "main");
  CAPTURE(name);
  const Upstream upstream(name);
  const std::string journeys =
      output_of({"journeys", upstream.trace(), "--compat", "latseq", "--json"});
  require_same_lines(journeys, upstream.printed("journeys"));
  CHECK(lines_of(journeys).size() == (name == "simple" ? 84 : 646));
  CHECK(upstream.exported("latseq-json", "journeys") == journeys);
}

TEST_CASE("all other exports with --compat latseq are as LatSeq prints them") {
  ::setenv("TZ", "UTC", 1);
  const std::string name = GENERATE("simple", "main");
  CAPTURE(name);
  const Upstream upstream(name);
  CHECK(upstream.exported("latseq-json", "paths") == upstream.printed("paths"));
  std::string points = upstream.exported("latseq-json", "points");
  if (name == "main") {
    // LatSeq leaves out the event that a header without a line end runs into; import reads it.
    const std::string ours = "\"count\": 1363";
    REQUIRE(points.contains(ours));
    points.replace(points.find(ours), ours.size(), "\"count\": 1362");
  }
  require_same_lines(points, upstream.printed("points"));
  CHECK(upstream.exported("latseq-json", "stats") == upstream.printed("stats_sj_json") + "\n");
  require_same_lines(upstream.exported("latseq-csv", "durations"),
                     upstream.printed("stats_djd_csv"));
  require_same_lines(upstream.exported("latseq-csv", "matrix"), upstream.printed("matrix"));
  require_same_lines(upstream.exported("lseqj", "events"), upstream.printed("lseqj"));
}

TEST_CASE("LatSeq's own journeys have a text for people, and a report") {
  const Upstream upstream("simple");
  compare("simple.compat.journeys.txt",
          output_of({"journeys", upstream.trace(), "--compat", "latseq", "--worst", "2"}));
  compare("simple.compat.report.txt",
          output_of({"report", upstream.trace(), "--compat", "latseq"}));
  CHECK(output_of({"report", upstream.trace(), "--compat", "latseq", "--json"}) ==
        upstream.printed("stats_sj_json") + "\n");
  const auto up = lines_of(
      output_of({"journeys", upstream.trace(), "--compat", "latseq", "--dir", "U", "--json"}));
  CHECK(up.size() == 4);
}

TEST_CASE("a recording comes out of a trace as it went in") {
  const std::string name = GENERATE("simple", "main");
  CAPTURE(name);
  const Upstream upstream(name);
  const std::string again = upstream.path("again.lseq");
  CHECK(output_of({"export", upstream.trace(), "--to", "lseq", "-o", again}).empty());
  std::vector<std::string> went_in;
  for (std::string line : lines_of(upstream.recorded())) {
    // A header that runs into an event is cut off; the last line is incomplete.
    if (const auto glued = line.find("gtp1592409297."); glued != std::string::npos)
      line = line.substr(glued + 3);
    if (!line.starts_with('#') && line != "1592409316.536711 D mac.") went_in.push_back(line);
  }
  std::ranges::stable_sort(went_in, {},
                           [](const std::string& line) { return line.substr(0, line.find(' ')); });
  std::vector<std::string> came_out;
  for (const std::string& line : lines_of(test::contents(again)))
    if (!line.starts_with('#')) came_out.push_back(line);
  CHECK(came_out.size() == went_in.size());
  CHECK(came_out == went_in);

  // And in again: the same trace but for its name.
  const std::string trace = upstream.path("again.sjt");
  REQUIRE(sojourn({"import", again, "-o", trace}).exit_code == 0);
  CHECK(output_of({"events", trace}) == output_of({"events", upstream.trace()}));
}

// An event by its number in the recording, and the numbers of those before it, over all journeys.
struct Found {
  json event;
  std::set<std::uint64_t> before;
};

TEST_CASE("the native rebuild finds what LatSeq loses in its long recording") {
  const Upstream upstream("main");
  std::set<std::uint64_t> began;  // downlink packets, by their first event
  std::uint64_t complete = 0;
  std::map<std::uint64_t, Found> events;
  for (const std::string& line : lines_of(output_of({"journeys", upstream.trace(), "--json"}))) {
    const json journey = json::parse(line);
    const json& first = journey["events"][0];
    if (journey["dir"] == "D" && journey["complete"]) {
      ++complete;
      CHECK(first["src"] == "ip.in");
      CHECK(began.insert(first["seq"].get<std::uint64_t>()).second);
    }
    for (const json& event : journey["events"]) {
      Found& found = events[event["seq"].get<std::uint64_t>()];
      found.event = event;
      for (const json& parent : event["parents"])
        found.before.insert(
            journey["events"][parent.get<std::size_t>()]["seq"].get<std::uint64_t>());
    }
  }
  CHECK(complete == 105);
  CHECK(began.size() == 105);

  std::size_t concatenated = 0;
  std::size_t segments = 0;
  std::size_t received = 0;
  std::vector<json> parts;  // of the PDU that has two, each with the length of the whole
  for (const auto& [seq, found] : events) {
    CAPTURE(found.event.dump());
    if (found.event["point"] == "rlc.seg.am--mac.mux" && found.before.size() > 1) {
      ++concatenated;
      segments += found.before.size();
    }
    if (found.event["point"] == "rlc.rx.am--pdcp.rx") {
      ++received;
      CHECK(found.before.size() == 1);
    }
    // A status PDU has no point before its block.
    if (found.event["point"] == "mac.mux--mac.txreq" && found.event["properties"]["len"] == 7)
      CHECK(found.before.empty());
    if (found.event["point"] == "rlc.tx.am--rlc.seg.am" && found.event["ids"]["rsn"] == 27)
      parts.push_back(found.event);
    if (found.event["point"] == "rlc.seg.am--mac.mux" && found.event["ids"]["rsn"] == 27) {
      CHECK(found.event["properties"]["len"] == 112);
      CHECK(found.before.size() == 2);
    }
  }
  CHECK(concatenated == 13);
  CHECK(segments == 35);
  CHECK(received == 164);
  REQUIRE(parts.size() == 2);
  for (const json& part : parts) CHECK(part["properties"]["len"] == 112);
}

// The recording does not have all drops.
TEST_CASE("a depth of units that were never seen to leave is marked by report as by queues") {
  const Upstream upstream("main");
  const std::string trace = upstream.trace();
  std::map<std::string, json> places;  // by direction and name
  const json told = json::parse(output_of({"queues", trace, "--json"}));
  for (const json& place : told["places"])
    places[place["dir"].get<std::string>() + " " + place["at"].get<std::string>()] = place;
  const std::string queues = output_of({"queues", trace, "--places"});
  const std::string report = output_of({"report", trace});
  const std::string paste = output_of({"report", trace, "--paste"});
  const std::string narrowed = output_of({"report", trace, "--where", "dir == U"});
  std::set<std::string> unknown;
  const json reported = json::parse(output_of({"report", trace, "--json"}));
  for (const json& queue : reported["queues"]) {
    const std::string name =
        queue["dir"].get<std::string>() + " " + queue["name"].get<std::string>();
    CAPTURE(name);
    const json& place = places.at(name);
    CHECK(queue["given_up"]["count"] == place["given_up"]["count"]);
    CHECK(queue["given_up"]["depth_share"].get<double>() ==
          Catch::Approx(place["given_up"]["depth_share"].get<double>()));
    CHECK(queue["depth_known"] == place["depth_known"]);
    if (!queue["depth_known"].get<bool>()) unknown.insert(name);
    const std::string mark = "\n  * " + name + ": ";
    CHECK(report.contains(mark) != queue["depth_known"].get<bool>());
    CHECK(paste.contains(mark) != queue["depth_known"].get<bool>());
    CHECK_FALSE(narrowed.contains(mark));
    const std::size_t at = report.find(mark);
    if (at != std::string::npos)
      CHECK(queues.contains(report.substr(at, report.find('\n', at + 1) - at + 1)));
  }
  CHECK(unknown == std::set<std::string>{"U mac.demux", "U pdcp.rx", "U rlc.rx.am"});
  CHECK(report.contains("6 (58) *\n"));
  CHECK(report.contains(" 0 (9)\n"));
  const json some = json::parse(output_of({"report", trace, "--where", "dir == U", "--json"}));
  for (const json& queue : some["queues"]) {
    CHECK(queue["given_up"].is_null());
    CHECK(queue["depth_known"] == false);
  }
  const std::string graph = output_of({"queues", trace, "--places", "--dot"});
  CHECK(graph.contains("U mac.demux (depth not known)"));
  CHECK(graph.contains("D rlc.tx.am (0.0, at most 9)"));
}

TEST_CASE("a piece that left by its second round only has its way in an export") {
  const test::TemporaryDirectory directory;
  const std::string recording = directory.path("rounds.lseq");
  test::write_contents(recording,
                       "1700000000.000100 D in--rlc len1000:rnti1:psn5\n"
                       "1700000000.000200 D rlc--seg len600:rnti1:psn5.rsn9.so0\n"
                       "1700000000.000201 D seg--mux len600:rnti1:rsn9.so0.slot50\n"
                       "1700000000.000202 D mux--harq len700:rnti1:harq0.slot50\n"
                       "1700000000.000203 D harq--phy len700.round0:rnti1:harq0.slot50\n"
                       "1700000000.000303 D harq--phy len700.round1:rnti1:harq0.slot58\n"
                       "1700000000.000310 D phy--ant len700:rnti1:slot58\n"
                       "1700000000.000400 D rlc--seg len400:rnti1:psn5.rsn9.so600\n"
                       "1700000000.000401 D seg--mux len400:rnti1:rsn9.so600.slot61\n"
                       "1700000000.000402 D mux--harq len500:rnti1:harq1.slot61\n"
                       "1700000000.000403 D harq--phy len500.round0:rnti1:harq1.slot61\n"
                       "1700000000.000410 D phy--ant len500:rnti1:slot61\n");
  const std::string trace = directory.path("rounds.sjt");
  REQUIRE(sojourn({"import", recording, "-o", trace}).exit_code == 0);
  CHECK(json::parse(output_of({"journeys", trace, "--json"}))["segments"] == 2);
  std::set<std::string> ends;
  for (const std::string& line : lines_of(output_of({"export", trace, "--to", "latseq-json"})))
    ends.insert(json::parse(line)["ts_out"].dump());
  CHECK(ends.size() == 2);
}

TEST_CASE("an export of journeys as sojourn rebuilds them has LatSeq's keys and every packet") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  std::map<std::string, std::uint64_t> complete;  // by direction
  std::set<std::uint64_t> latencies;
  for (const std::string& line : lines_of(output_of({"journeys", trace, "--json"}))) {
    const json journey = json::parse(line);
    if (!journey["complete"]) continue;
    ++complete[journey["dir"]];
    latencies.insert(journey["latency_ns"].get<std::uint64_t>());
  }
  const std::string exported = output_of({"export", trace, "--to", "latseq-json"});
  const std::vector<std::string> keys = {"dir",        "glob", "ts_in",     "set",
                                         "set_ids",    "path", "completed", "ts_out",
                                         "properties", "uid",  "file"};
  std::set<std::string> uids;
  std::map<std::string, std::set<std::uint64_t>> ends;  // the last events, by direction
  for (const std::string& line : lines_of(exported)) {
    const auto journey = nlohmann::ordered_json::parse(line);
    std::vector<std::string> found;
    for (const auto& [key, value] : journey.items()) found.push_back(key);
    CHECK(found == keys);
    CHECK(uids.insert(journey["uid"]).second);
    const auto& set = journey["set"];
    REQUIRE(set.size() > 1);
    CHECK(set[0][1] == journey["ts_in"]);
    CHECK(set[set.size() - 1][1] == journey["ts_out"]);
    for (std::size_t i = 1; i < set.size(); ++i) CHECK(set[i - 1][0] < set[i][0]);
    if (journey["dir"] == 0)
      ends["D"].insert(set[0][0].get<std::uint64_t>());
    else
      ends["U"].insert(set[set.size() - 1][0].get<std::uint64_t>());
  }
  CHECK(complete["D"] > 0);
  CHECK(ends["D"].size() == complete["D"]);
  CHECK(ends["U"].size() == complete["U"]);

  // The events of these journeys, each once, with the numbers of all its journeys.
  std::set<std::string> named;
  std::size_t events = 0;
  for (const std::string& line : lines_of(output_of({"export", trace, "--to", "lseqj"}))) {
    if (line.starts_with('#')) continue;
    ++events;
    std::istringstream words(line.substr(line.rfind('\t') + 1));
    std::string word;
    while (std::getline(words, word, '.')) {
      if (!word.starts_with("uid")) break;
      named.insert(word.substr(3, word.find(':') - 3));
    }
  }
  CHECK(events > uids.size());
  CHECK(named == uids);
}

TEST_CASE("an export that cannot be says why, and leaves nothing") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  CHECK(sojourn({"export", trace}).exit_code == 2);
  CHECK(sojourn({"export", trace, "--to", "runes"}).exit_code == 2);
  const test::Ended part = sojourn({"export", trace, "--to", "latseq-csv", "--what", "points"});
  CHECK(part.exit_code == 2);
  CHECK(part.err.contains("it has durations, matrix"));
  CHECK(sojourn({"export", trace, "--to", "lseq", "--compat", "latseq"}).exit_code == 2);
  CHECK(sojourn({"journeys", trace, "--compat", "latseq", "--where", "rnti == 1"}).exit_code == 2);
  CHECK(sojourn({"report", trace, "--compat", "latseq", "--points"}).exit_code == 2);
  const std::string nowhere = traces.directory().path("no/such.lseq");
  require_error(sojourn({"export", trace, "--to", "lseq", "-o", nowhere}), "no/such.lseq");
  CHECK(!std::filesystem::exists(nowhere));

  const std::string before = test::contents(trace);
  require_error(sojourn({"export", trace, "--to", "lseq", "-o", trace}), "the trace to export");
  CHECK(test::contents(trace) == before);

  // No path of LatSeq's leads through these.
  const std::string other = traces.directory().path("other.lseq");
  test::write_contents(other, "1.000001 D a--b len1:rnti1:psn1\n1.000002 D b--c len1:rnti1:psn1\n");
  const std::string other_trace = traces.directory().path("other.sjt");
  REQUIRE(sojourn({"import", other, "-o", other_trace}).exit_code == 0);
  require_error(sojourn({"journeys", other_trace, "--compat", "latseq"}),
                "nothing leads from ip.in to phy.out.proc");
}

}  // namespace
}  // namespace sojourn::cli_tests
