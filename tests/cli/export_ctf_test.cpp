// --to ctf, read back by babeltrace2: every event and every value.
#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"
#include "tests/exports/hostile_trace.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Returns babeltrace2's text of a trace, an event a line, with nanoseconds since the clock's own 0.
test::Ended read_back(const std::string& directory) {
  return test::run({"babeltrace2", "--clock-cycles", "--names=all", directory});
}

// The number behind "NAME = ".
std::string value_in(const std::string& line, const std::string& name) {
  const std::string key = " " + name + " = ";
  const auto begin = line.find(key);
  if (begin == std::string::npos) return "";
  const auto from = begin + key.size();
  return line.substr(from, line.find_first_of(",} ", from) - from);
}

std::vector<json> events_of(const std::string& trace, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"events", trace, "--json", "--time", "mono"});
  std::vector<json> events;
  for (const std::string& line : lines_of(output_of(std::move(more))))
    events.push_back(json::parse(line));
  return events;
}

void require_same(const std::vector<std::string>& lines, const std::vector<json>& events) {
  REQUIRE(lines.size() == events.size());
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string& line = lines[at];
    const json& event = events[at];
    CAPTURE(line.substr(0, 500));
    CHECK(std::stoull(value_in(" " + line, "timestamp")) == event["t_ns"]);
    CHECK(line.contains(event["dir"].get<std::string>() + ":" + event["point"].get<std::string>()));
    for (const char* same : {"tid", "stream", "seq"})
      CHECK(value_in(line, same) == event[same].dump());
    for (const auto& [name, value] : event["fields"].items())
      if (value.is_number()) CHECK(value_in(line, name) == value.dump());
  }
}

TEST_CASE("babeltrace2 reads every event with its time and its values") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const std::string directory = traces.directory().path("ctf");
  CHECK(output_of({"export", trace, "--to", "ctf", "-o", directory}).empty());
  const test::Ended read = read_back(directory);
  CHECK(read.err.empty());
  REQUIRE(read.exit_code == 0);
  require_same(lines_of(read.out), events_of(trace));
}

TEST_CASE("a filter chooses the events of a Common Trace Format") {
  const Traces traces;
  const std::string directory = traces.directory().path("ctf");
  output_of(
      {"export", traces.path("radio"), "--to", "ctf", "-o", directory, "--where", "dir == U"});
  const auto lines = lines_of(read_back(directory).out);
  CHECK(lines.size() == events_of(traces.path("radio"), {"--where", "dir == U"}).size());
  CHECK(std::ranges::all_of(lines, [](const auto& line) { return line.contains(" U:"); }));
}

TEST_CASE("babeltrace2 reads a script's additions: columns as fields, activities as events") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const std::string script = traces.directory().path("test.lua");
  test::write_contents(script,
                       "local stay, since = activity('stay', { 'size' }), {}\n"
                       "local long = marker('long')\n"
                       "column { name = 'half', role = 'property', points = 'D *',\n"
                       "         value = function(e) return -(e.len or 0) // 2 end }\n"
                       "on('D ip.in--*', function(e) since[e.gsn] = e.t_ns end)\n"
                       "on('D pdcp.in--pdcp.tx', function(e)\n"
                       "  if since[e.gsn] then stay(since[e.gsn], -e.len) end\n"
                       "  if e.len > 500 then long() end\n"
                       "end)");
  const std::string directory = traces.directory().path("ctf");
  REQUIRE(
      sojourn({"export", trace, "--to", "ctf", "-o", directory, "--script", script}).exit_code ==
      0);
  const test::Ended read = read_back(directory);
  CHECK(read.err.empty());
  REQUIRE(read.exit_code == 0);
  // The script says on standard error what it made.
  std::vector<json> events;
  for (const std::string& line :
       lines_of(sojourn({"events", trace, "--json", "--time", "mono", "--script", script}).out))
    events.push_back(json::parse(line));
  const auto made = [](const json& event) { return event["dir"] == "A"; };
  CHECK(std::ranges::count_if(events, made) > 5);
  CHECK(events.size() > events_of(trace).size());
  require_same(lines_of(read.out), events);
}

TEST_CASE("babeltrace2 says how many events were lost") {
  const Traces traces;
  const std::string directory = traces.directory().path("ctf");
  output_of({"export", traces.path("lossy"), "--to", "ctf", "-o", directory});
  const test::Ended read = read_back(directory);
  CHECK(read.exit_code == 0);
  const json report = json::parse(output_of({"report", traces.path("lossy"), "--json"}));
  CHECK(read.err.contains("discarded " + report["lost"].dump() + " event"));
}

TEST_CASE("babeltrace2 reads all events, for any name of a target") {
  const Traces traces;
  const std::string trace = traces.directory().path("hostile.sjt");
  REQUIRE(exports::write_hostile_trace(trace).has_value());
  const std::string directory = traces.directory().path("ctf");
  CHECK(output_of({"export", trace, "--to", "ctf", "-o", directory}).empty());
  const test::Ended read = read_back(directory);
  CHECK(read.err.empty());
  require_same(lines_of(read.out), events_of(trace));
  // The wall's clock, as the pair in the trace has it.
  const test::Ended wall = test::run({"babeltrace2", "--clock-seconds", directory});
  CHECK(wall.out.starts_with("[1700000000.000010000]"));
}

TEST_CASE("a Common Trace Format goes into a directory that is new or empty, or nowhere") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const test::Ended nowhere = sojourn({"export", trace, "--to", "ctf"});
  CHECK(nowhere.exit_code == 2);
  CHECK(nowhere.err.contains("say which one with -o"));
  require_error(sojourn({"export", trace, "--to", "ctf", "-o", traces.directory().path()}),
                "not empty");
  const std::string failing = traces.directory().path("failing");
  const test::Ended failed =
      sojourn({"export", trace, "--to", "ctf", "-o", failing, "--where", "nobody_knows_this == 1"});
  CHECK(failed.exit_code == 1);
  CHECK_FALSE(std::filesystem::exists(failing));
}

}  // namespace
}  // namespace sojourn::cli_tests
