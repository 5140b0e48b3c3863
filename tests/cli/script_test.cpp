// --script: Lua on the command line. The traces are those of tests/golden.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"
#include "tests/golden/fixture.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

// Two threads and a mutex, at 7: the second one waits for 700 ns, and each holds it.
constexpr auto kMutexes = R"(target locks 77
capture 1000 9000 0 0
point I mutex.wait ::mutex
point I mutex.lock ::mutex
point I mutex.unlock ::mutex
2000 0 11 I mutex.wait 7
2100 0 11 I mutex.lock 7
2200 0 12 I mutex.wait 7
2900 0 11 I mutex.unlock 7
2900 0 12 I mutex.lock 7
3900 0 12 I mutex.unlock 7
)";

std::vector<json> json_lines(const std::string& text) {
  std::vector<json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) objects.push_back(json::parse(line));
  return objects;
}

class Scripts {
 public:
  std::string trace(const std::string& fixture) const { return traces_.path(fixture); }
  std::string mutexes() const {
    const std::string text = traces_.directory().path("mutexes.events");
    const std::string path = traces_.directory().path("mutexes.sjt");
    test::write_contents(text, kMutexes);
    REQUIRE(golden::write_trace(text, path));
    return path;
  }
  std::string script(const std::string& text) const {
    const std::string path = traces_.directory().path("test.lua");
    test::write_contents(path, text);
    return path;
  }
  std::string path(const std::string& name) const { return traces_.directory().path(name); }

 private:
  Traces traces_;
};

std::string shipped(const std::string& name) {
  return SJ_SCRIPTS "/" + name;
}

// Standard output of a run that succeeds; on standard error is this.
std::string output_and(const std::string& said, std::vector<std::string> arguments) {
  const test::Ended ended = sojourn(std::move(arguments));
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err == said);
  return ended.out;
}

TEST_CASE("a script's filter is a filter expression by other words") {
  const Scripts scripts;
  const std::string trace = scripts.trace("radio");
  const std::string script =
      scripts.script("filter(function(e) return e.rnti == 1 and e.len ~= nil and e.len > 100 end)");
  const auto all = json_lines(output_of({"events", trace, "--json"}));
  const auto wanted =
      json_lines(output_of({"events", trace, "--json", "--where", "rnti == 1 && len > 100"}));
  REQUIRE(!wanted.empty());
  auto found = json_lines(
      output_and(fmt::format("test.lua: kept {} of {} events\n", wanted.size(), all.size()),
                 {"events", trace, "--json", "--script", script}));
  REQUIRE(found.size() == wanted.size());
  for (std::size_t at = 0; at < found.size(); ++at) {
    found[at].erase("seq");  // they close up
    json same = wanted[at];
    same.erase("seq");
    CHECK(found[at] == same);
  }
}

TEST_CASE("events that a filter drops never existed for journeys, and are no loss") {
  const Scripts scripts;
  const std::string trace = scripts.trace("radio");
  const std::string script = scripts.script("filter(function(e) return e.dir ~= 'U' end)");
  const test::Ended ended = sojourn({"report", trace, "--json", "--script", script});
  REQUIRE(ended.exit_code == 0);
  const json report = json::parse(ended.out);
  const json whole = json::parse(output_of({"report", trace, "--json"}));
  CHECK(report["journeys"]["D"] == whole["journeys"]["D"]);
  CHECK(report["journeys"]["U"]["count"] == 0);
  CHECK(report["lost"] == whole["lost"]);
  CHECK(report["script"]["name"] == "test.lua");
  CHECK(report["script"]["events_kept"] == report["events"]);
  CHECK(report["script"]["events_seen"] == whole["events"]);
  const test::Ended text = sojourn({"report", trace, "--script", script});
  CHECK(text.out.find(fmt::format("only the {} of {} events that test.lua keeps",
                                  report["events"].get<int>(), whole["events"].get<int>())) !=
        std::string::npos);
}

TEST_CASE("a script's filter of journeys is --where by other words") {
  const Scripts scripts;
  const std::string trace = scripts.trace("radio");
  const std::string script =
      scripts.script("filter_journeys(function(j) return (j:at('rlc.tx') or 0) > 50 * us end)");
  const std::string expression = "at(rlc.tx) > 50us";
  const std::string wanted = output_of({"journeys", trace, "--json", "--where", expression});
  REQUIRE(!wanted.empty());
  CHECK(output_of({"journeys", trace, "--json", "--script", script}) == wanted);
  CHECK(output_of({"export", trace, "--to", "csv", "--script", script}) ==
        output_of({"export", trace, "--to", "csv", "--where", expression}));
  json report = json::parse(output_of({"report", trace, "--json", "--script", script}));
  json same = json::parse(output_of({"report", trace, "--json", "--where", expression}));
  CHECK(report["where"]["expression"] == "test.lua is true");
  for (json* const one : {&report, &same}) {
    (*one)["where"].erase("expression");
    one->erase("script");
  }
  CHECK(report == same);
  // Both together keep what both keep.
  const json both = json::parse(output_of(
      {"report", trace, "--json", "--script", script, "--where", "dir == D && rnti == 0x4601"}));
  const json one_expression = json::parse(output_of(
      {"report", trace, "--json", "--where", "at(rlc.tx) > 50us && dir == D && rnti == 0x4601"}));
  CHECK(both["journeys"] == one_expression["journeys"]);
}

TEST_CASE("a column is a field: printed, asked for, and exported") {
  const Scripts scripts;
  const std::string trace = scripts.trace("radio");
  const std::string script = scripts.script(
      "column { name = 'half', role = 'property', points = 'D *',\n"
      "         value = function(e) return (e.len or 0) // 2 end }");
  const auto lines = json_lines(output_of({"events", trace, "--json", "--script", script}));
  for (const json& line : lines) {
    const bool is_down = line["dir"] == "D";
    REQUIRE(line["fields"].contains("half") == is_down);
    if (is_down) CHECK(line["fields"]["half"] == line["fields"]["len"].get<int>() / 2);
  }
  CHECK(output_of({"events", trace, "--script", script, "--where", "half >= 100", "--json"}) !=
        output_of({"events", trace, "--script", script, "--where", "half < 100", "--json"}));
  const std::string csv =
      output_of({"export", trace, "--to", "csv", "--what", "events", "--script", script});
  CHECK(csv.substr(0, csv.find('\n')).find("half") != std::string::npos);
  // A property does not link events.
  CHECK(json::parse(output_of({"report", trace, "--json", "--script", script}))["journeys"] ==
        json::parse(output_of({"report", trace, "--json"}))["journeys"]);
}

TEST_CASE("the mutex example shows how long mutexes were waited for and held") {
  const Scripts scripts;
  const std::string trace = scripts.mutexes();
  const std::string script = shipped("mutex.lua");
  const std::string said = "mutex.lua: mutex.waited: 2 times, mutex.held: 2 times\n";
  const json report =
      json::parse(output_and(said, {"report", trace, "--json", "--script", script}));
  REQUIRE(report["activities"].size() == 2);
  CHECK(report["activities"][0]["name"] == "mutex.waited");
  CHECK(report["activities"][0]["count"] == 2);
  CHECK(report["activities"][0]["duration_us"]["max"] == 0.7);
  CHECK(report["activities"][1]["name"] == "mutex.held");
  CHECK(report["activities"][1]["duration_us"]["mean"] == 0.9);
  const std::string text = output_and(said, {"report", trace, "--script", script});
  CHECK(text.find("activity") != std::string::npos);
  CHECK(text.find("mutex.held") != std::string::npos);

  const auto events = json_lines(output_and(
      said, {"events", trace, "--json", "--script", script, "--points", "A mutex.held"}));
  REQUIRE(events.size() == 2);
  CHECK(events[0]["fields"] == json({{"dur_ns", 800}, {"mutex", 7}, {"waiters", 1}}));
  CHECK(events[0]["tid"] == 11);
  CHECK(events[1]["fields"] == json({{"dur_ns", 1000}, {"mutex", 7}, {"waiters", 0}}));
  CHECK(output_and(said, {"events", trace, "--script", script, "--where", "dur_ns > 900ns"})
            .find("A mutex.held dur_ns 1000 mutex 7 waiters 0") != std::string::npos);
}

TEST_CASE("activities and markers are slices and instants for Chrome, and rows of tables") {
  const Scripts scripts;
  const std::string trace = scripts.mutexes();
  const std::string script = scripts.script(
      "local held, since = activity('held', { 'mutex' }), {}\n"
      "local late = marker('late', { 'ns' })\n"
      "on('I mutex.lock', function(e) since[e.mutex] = e.t_ns end)\n"
      "on('I mutex.unlock', function(e)\n"
      "  held(since[e.mutex], e.mutex)\n"
      "  if e.t_ns - since[e.mutex] > 900 then late(e.t_ns - since[e.mutex]) end\n"
      "end)");
  const std::string said = "test.lua: held: 2 times, late: 1 marker\n";
  const json chrome =
      json::parse(output_and(said, {"export", trace, "--to", "chrome", "--script", script}));
  std::vector<json> made;
  for (const json& event : chrome["traceEvents"])
    if (event.value("cat", "") == "A") made.push_back(event);
  REQUIRE(made.size() == 5);
  CHECK(made[0]["ph"] == "b");
  CHECK(made[0]["name"] == "held");
  CHECK(made[0]["ts"] == 2.1);
  CHECK(made[0]["args"] == json({{"dur_ns", 800}, {"mutex", 7}}));
  CHECK(made[1]["ph"] == "e");
  CHECK(made[1]["ts"] == 2.9);
  CHECK(made[4]["ph"] == "n");
  CHECK(made[4]["name"] == "late");
  CHECK(made[4]["tid"] == 12);
  CHECK(made[4]["args"] == json({{"ns", 1000}}));
  const auto rows = json_lines(
      output_and(said, {"export", trace, "--to", "jsonl", "--what", "events", "--script", script}));
  CHECK(std::ranges::count_if(rows, [](const json& row) { return row["dir"] == "A"; }) == 3);
  // And Perfetto's file is one that has more than without the script: tests/exports reads it back.
  CHECK(output_and(said, {"export", trace, "--to", "perfetto", "--script", script}).size() >
        output_of({"export", trace, "--to", "perfetto"}).size());
}

// An activity from a packet's input to its PDCP PDU, by the thread that makes that, and a marker
// where it is long.
constexpr auto kStays =
    "local stay, since = activity('stay', { 'len' }), {}\n"
    "local long = marker('long')\n"
    "local function key(e) return (e.rnti * 100 + e.drb) * 1000000 + e.gsn end\n"
    "on('D ip.in--*', function(e) since[key(e)] = e.t_ns end)\n"
    "on('D pdcp.in--pdcp.tx', function(e)\n"
    "  if since[key(e)] then stay(since[key(e)], e.len) end\n"
    "  if e.len > 500 then long() end\n"
    "end)";

// The output of a command whose script says at the end what it made.
std::string scripted(const std::vector<std::string>& arguments) {
  test::Ended ended = sojourn(arguments);
  CHECK(ended.err.starts_with("test.lua: "));
  CHECK(std::ranges::count(ended.err, '\n') == 1);
  REQUIRE(ended.exit_code == 0);
  return std::move(ended.out);
}

TEST_CASE("a packet lists the script's activities on its threads meanwhile") {
  const Scripts scripts;
  const std::string trace = scripts.trace("radio");
  const std::string script = scripts.script(kStays);
  const auto journeys = json_lines(scripted({"journeys", trace, "--json", "--script", script}));
  std::size_t told = 0;
  for (const json& journey : journeys) {
    const auto& events = journey["events"];
    if (events.front()["point"] != "ip.in--pdcp.in") continue;
    // The event's own thread has just one; other threads may have hit points meanwhile.
    for (std::size_t at = 0; at < events.size(); ++at) {
      if (events[at]["point"] != "pdcp.in--pdcp.tx") continue;
      const auto own = [&](const json& made, const char* when) {
        return made["event"] == at && made[when] == events[at]["t_ns"] &&
               made["tid"] == events[at]["tid"];
      };
      const auto& activities = journey["activities"];
      const auto stay =
          std::ranges::find_if(activities, [&](const json& one) { return own(one, "end_ns"); });
      REQUIRE(stay != activities.end());
      CHECK((*stay)["name"] == "stay");
      CHECK((*stay)["begin_ns"] == journey["start_ns"]);
      const auto len = events[at]["properties"]["len"].get<int>();
      CHECK((*stay)["fields"]["len"] == len);
      CHECK(std::ranges::any_of(journey["markers"],
                                [&](const json& one) { return own(one, "t_ns"); }) == (len > 500));
      ++told;
    }
  }
  CHECK(told > 10);
  // Without a script that makes any there are no such members.
  CHECK_FALSE(json_lines(output_of({"journeys", trace, "--json"})).front().contains("activities"));

  const std::string text =
      scripted({"journeys", trace, "--worst", "1", "--dir", "D", "--script", script});
  CHECK(text.find("meanwhile stay for ") != std::string::npos);
  const std::string picture = scripted(
      {"journeys", trace, "--worst", "1", "--dir", "D", "--waterfall", "--script", script});
  CHECK(picture.find("A stay") != std::string::npos);
  CHECK(picture.find('~') != std::string::npos);
}

TEST_CASE("commands without scripts find the same in a trace that a script has made") {
  const Scripts scripts;
  const std::string trace = scripts.trace("radio");
  const std::string script =
      scripts.script(std::string(kStays) +
                     "\nfilter(function(e) return e.dir ~= 'U' or e.rnti ~= 1 end)\n"
                     "column { name = 'half', role = 'property', points = 'D *', value = "
                     "function(e) return (e.len "
                     "or 0) // 2 end }");
  const std::string made = scripts.path("made.sjt");
  const auto same = [&](std::vector<std::string> command) {
    const auto with = [&](const std::string& path, std::vector<std::string> more) {
      std::vector<std::string> words = command;
      words.insert(words.begin() + 1, path);
      words.insert(words.end(), more.begin(), more.end());
      return more.empty() ? output_of(words) : scripted(words);
    };
    CAPTURE(command.front());
    const std::string wanted = with(trace, {"--script", script});
    CHECK(!wanted.empty());
    CHECK(with(made, {}) == wanted);
  };
  scripted({"export", trace, "--to", "scripted", "--script", script, "-o", made});
  same({"events", "--where", "dir != A"});
  same({"journeys", "--json"});
  same({"journeys", "--waterfall"});
  same({"export", "--to", "csv", "--what", "hops"});
  const json live = json::parse(scripted({"report", trace, "--json", "--script", script}));
  const json read = json::parse(output_of({"report", made, "--json"}));
  for (const char* const part :
       {"journeys", "hops", "queues", "activities", "markers", "lost", "points"})
    CHECK(read[part] == live[part]);
  CHECK(read["script"] == json({{"name", "test.lua"}}));
  CHECK(read["file"]["whole"] == true);
  // And activities stand where they stood, with numbers of their own.
  auto own = json_lines(output_of({"events", made, "--json", "--points", "A *"}));
  auto theirs =
      json_lines(scripted({"events", trace, "--json", "--script", script, "--points", "A *"}));
  REQUIRE(!own.empty());
  REQUIRE(own.size() == theirs.size());
  for (std::size_t at = 0; at < own.size(); ++at)
    for (const char* const part : {"point", "t_ns", "tid", "fields"})
      CHECK(own[at][part] == theirs[at][part]);
  require_error(sojourn({"merge", made, trace, "-o", scripts.path("merged.sjt")}),
                "test.lua has made it");
  CHECK(output_of({"report", made}).find("as test.lua has it") != std::string::npos);
}

TEST_CASE("live counts the events that a script keeps and makes") {
  const Scripts scripts;
  const std::string script = shipped("mutex.lua");
  const auto lines =
      json_lines(output_of({"live", scripts.mutexes(), "--json", "--script", script}));
  REQUIRE(!lines.empty());
  const json& last = lines.back();
  REQUIRE(last["activities"].size() == 2);
  CHECK(last["activities"][1]["name"] == "mutex.held");
  CHECK(last["activities"][1]["all"]["count"] == 2);
  const std::string trace = scripts.trace("radio");
  const std::string filters =
      scripts.script("filter_journeys(function(j) return j.rnti == 0x4601 end)");
  const auto kept = json_lines(output_of({"live", trace, "--json", "--script", filters}));
  const auto where = json_lines(output_of({"live", trace, "--json", "--filter", "rnti == 0x4601"}));
  CHECK(kept.back()["journeys"] == where.back()["journeys"]);
  require_error(sojourn({"live", trace, "--json", "--script", scripts.script("filter(")}),
                "test.lua:1: ");
}

TEST_CASE("each shipped script works on a trace of its kind") {
  const Scripts scripts;
  const std::string trace = scripts.trace("radio");
  for (const std::string name : {"one-ue.lua", "slow-queue.lua", "slice.lua", "gap.lua"}) {
    const test::Ended ended = sojourn({"report", trace, "--json", "--script", shipped(name)});
    CAPTURE(name, ended.err);
    CHECK(ended.exit_code == 0);
  }
}

TEST_CASE("a script that cannot be read or is wrong ends the command in one line") {
  const Scripts scripts;
  const std::string trace = scripts.trace("radio");
  const auto error = [&](const std::string& text) {
    return sojourn({"report", trace, "--script", scripts.script(text)});
  };
  require_error(sojourn({"report", trace, "--script", scripts.path("gone.lua")}),
                "gone.lua: No such file or directory");
  require_error(sojourn({"report", trace, "--script", scripts.path("")}), "is a directory");
  require_error(error("\nfilter(function(e) return"), "test.lua:2: ");
  require_error(error("io.open('/etc/passwd')"), "test.lua:1: attempt to index a nil value");
  require_error(error("\n\nfilter(function(e) return e.len > nil end)"),
                "test.lua:3: attempt to compare");
  require_error(error("string.rep('x', 1 << 31)"), "test.lua:1: resulting string too large");
  require_error(error("\nfilter_journeys(function(j) return j.x end)"),
                "test.lua:2: no point of the trace has a field \"x\"");
  require_error(error("filter(function(e)\n  while true do end\nend)"),
                "test.lua:2: took longer than 2 s of processor time");
}

TEST_CASE("a script that defines nothing is reported with what it may define") {
  const Scripts scripts;
  const std::string trace = scripts.trace("radio");
  const std::string words =
      "test.lua: defines nothing for this trace, so nothing changes: it may call filter, "
      "filter_journeys, column, activity, marker and on (docs/scripts.md)";
  for (const std::string text :
       {"", "local limit = 5 * ms", "if known('nosuchfield') then filter(print) end"}) {
    CAPTURE(text);
    const std::string script = scripts.script(text);
    CHECK(output_and(words + "\n", {"events", trace, "--script", script}) ==
          output_of({"events", trace}));
    const auto live = json_lines(output_of({"live", trace, "--json", "--script", script}));
    CHECK(live.back()["script_error"] == words);
  }
  CHECK(sojourn({"report", trace, "--script", scripts.script("on(function(e) end)")}).err.empty());
}

TEST_CASE("a failed detector is reported last, and all other output is complete") {
  const Scripts scripts;
  const std::string trace = scripts.trace("radio");
  const std::string script = scripts.script("on(function(e)\n  error('broken')\nend)");
  const test::Ended report = sojourn({"report", trace, "--json", "--script", script});
  CHECK(report.exit_code == 1);
  CHECK(report.err == "sojourn: test.lua:2: broken\n");
  CHECK(json::parse(report.out)["journeys"] ==
        json::parse(output_of({"report", trace, "--json"}))["journeys"]);
  const std::string file = scripts.path("out.csv");
  const test::Ended written =
      sojourn({"export", trace, "--to", "csv", "--script", script, "-o", file});
  CHECK(written.exit_code == 1);
  CHECK(test::contents(file) == output_of({"export", trace, "--to", "csv"}));
}

TEST_CASE("a script is refused or reported where it has no effect") {
  const Scripts scripts;
  const std::string trace = scripts.trace("radio");
  const std::string script = scripts.script("filter_journeys(function(j) return false end)");
  const auto refused = [&](std::vector<std::string> arguments, const std::string& words) {
    arguments.insert(arguments.end(), {"--script", script});
    const test::Ended ended = sojourn(std::move(arguments));
    CHECK(ended.exit_code == 2);
    CHECK(ended.out.empty());
    INFO(ended.err);
    CHECK(ended.err.find(words) != std::string::npos);
  };
  require_error(sojourn({"export", trace, "--to", "scripted", "--script", script}),
                "test.lua: filters journeys, but a trace consists of");
  refused({"report", trace, "--costs"}, "--costs counts all hits");
  refused({"report", trace, "--compat", "latseq"}, "has no --script");
  refused({"export", trace, "--to", "dot"}, "--to dot --what topology has no --script");
  refused({"export", trace, "--to", "csv", "--what", "in-flight"}, "has no --script");
  const test::Ended without = sojourn({"export", trace, "--to", "scripted"});
  CHECK(without.exit_code == 2);
  CHECK(without.err.find("--to scripted writes what a script makes") != std::string::npos);
  const std::string events = output_of({"events", trace});
  CHECK(output_and("test.lua: filters journeys, but events are looked at here\n",
                   {"events", trace, "--script", script}) == events);
}

}  // namespace
}  // namespace sojourn::cli_tests
