// The refusal of wrong usage, and the form of the help.
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

// Commands that users know: none of them may go.
const std::vector<std::string> kCommands = {
    "list",   "doctor",     "record",  "ctl",    "report",   "journeys", "explain",
    "queues", "profile",    "threads", "events", "check",    "import",   "export",
    "schema", "completion", "flow",    "diff",   "why-slow", "merge",    "history",
    "ab",     "energy",     "live",    "serve"};

// The commands that `sojourn --help` lists.
std::vector<std::string> listed_commands(const std::string& help) {
  std::vector<std::string> commands;
  std::istringstream lines(help.substr(help.find("\nSubcommands:\n")));
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  while (std::getline(lines, line) && !line.empty())
    if (line[2] != ' ') commands.push_back(line.substr(2, line.find(' ', 2) - 2));
  return commands;
}

struct Refused {
  std::vector<std::string> arguments;
  std::string words;
};

TEST_CASE("an empty name of an output is refused by every command") {
  const std::string words = "a name is wanted, and this one is empty";
  const std::vector<std::vector<std::string>> all = {
      {"record", "-p", "1", "--output"},
      {"export", "a.sjt", "--to", "csv", "--output"},
      {"import", "a.lseq", "--output"},
      {"merge", "a.sjt", "b.sjt", "--output"},
      {"page", "--output"},
      {"report", "a.sjt", "--html"},
      {"diff", "a.sjt", "--against", "b.sjt", "--html"},
      {"schema", "a.pleco", "--header"},
      {"schema", "a.pleco", "--json"},
      {"ab", "--keep"}};
  for (const std::vector<std::string>& command : all) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back();
    const test::Ended ended = sojourn(arguments);
    CAPTURE(command, ended.err);
    CHECK(ended.exit_code == 2);
    CHECK(ended.out.empty());
    CHECK(ended.err == "sojourn: " + command.back() + ": " + words + "\n");
  }
}

TEST_CASE("what goes to a file is not written to one that is called -") {
  const std::vector<std::vector<std::string>> all = {
      {"import", "a.lseq", "--output"},
      {"merge", "a.sjt", "b.sjt", "--output"},
      {"page", "--output"},
      {"report", "a.sjt", "--html"},
      {"diff", "a.sjt", "--against", "b.sjt", "--html"}};
  for (const std::vector<std::string>& command : all) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back("-");
    const test::Ended ended = sojourn(arguments);
    CAPTURE(command, ended.err);
    CHECK(ended.exit_code == 2);
    CHECK(ended.err ==
          "sojourn: " + command.back() + ": this goes to a file, not to standard output\n");
  }
}

TEST_CASE("wrong usage is refused in one line with the correct form") {
  const std::vector<Refused> all = {
      {{"--"}, "a command is wanted; `sojourn --help` lists them"},
      {{"--verison"}, "there is no option --verison: did you mean --version?"},
      {{"--fast"}, "there is no option --fast; see `sojourn --help`"},
      {{"reprot"}, "there is no command \"reprot\": did you mean report?"},
      {{"weather"}, "there is no command \"weather\"; `sojourn --help` lists them"},
      {{"report"}, "trace is required; see `sojourn report --help`"},
      {{"report", "a.sjt", "b.sjt"}, "one word too many: \"b.sjt\"; see `sojourn report --help`"},
      {{"report", "-", "-"}, "one word too many: \"-\"; see `sojourn report --help`"},
      {{"record", "-p", "1", "--flight", "0ev"}, "--flight: a number of events above 0 is wanted"},
      {{"report", "a.sjt", "--wher=x"}, "there is no option --wher=x: did you mean --where?"},
      {{"report", "a.sjt", "--fast"}, "there is no option --fast; see `sojourn report --help`"},
      {{"report", "a.sjt", "--by", "cell"},
       "--by: \"cell\" is not one of direction, ue, bearer, path, hop, layer, point, thread"},
      {{"journeys", "a.sjt", "--compat", "t"}, "--compat: \"t\" is not latseq"},
      {{"journeys", "a.sjt", "--id", "-1"}, "--id: \"-1\" is not a whole number from 0 on"},
      {{"journeys", "a.sjt", "--limit", "0"}, "--limit: \"0\" is not a whole number from 1 on"},
      {{"explain", "a.sjt", "--worst", "x"},
       "--worst: \"x\" is not a whole number from 1 to 100,000"},
      {{"record", "-p"}, "--pid: its PID is missing"},
      {{"record", "-p", "1", "extra"},
       "give either a running process or a command to start, and not both: \"extra\" is taken for "
       "a command"},
      {{"record", "-p", "1", "--engine", "1"}, "--engine: \"1\" is not one of auto, bpf, ring"},
      {{"record", "-p", "1", "--budget", "nan"},
       "--budget: \"nan\" is not a number above 0 and at most 100"},
      {{"record", "-p", "1", "--budget", "101"},
       "--budget: \"101\" is not a number above 0 and at most 100"},
      {{"record", "-p", "1", "--poll", "2s"}, "--poll: a time of 100us to 1s is wanted"},
      {{"record", "-p", "1", "--for", "soon"},
       "--for: \"soon\" is not a time such as 10s, 500ms or 2min"},
      {{"record", "-p", "1", "--for", "5m"},
       "--for: \"5m\": \"m\" is no unit of time: ns, us, ms, s, min, h are"},
      {{"record", "-p", "1", "--for", "0"}, "--for: \"0\": a time above 0 is wanted"},
      {{"record", "-p", "1", "--for", "1.5ns"}, "--for: \"1.5ns\": a time has whole nanoseconds"},
      {{"record", "-p", "1", "--flight", "soon"},
       "--flight: \"soon\" is neither a time such as 10s nor a number such as 5000ev, nor "
       "\"rings\""},
      {{"record", "-p", "1", "--flight", "0"}, "--flight: \"0\": a time above 0 is wanted"},
      {{"record", "-p", "1", "--ring-size", "3M"},
       "--ring-size: a power of two from 4K to 1G is wanted"},
      {{"record", "-p", "1", "--context", "irq", "--context-ring", "100"},
       "--context-ring: a power of two from 4K to 1G is wanted"},
      {{"record", "-p", "1", "--counters", "cycles", "--perf-ring", "2G"},
       "--perf-ring: a power of two from 4K to 1G is wanted"},
      {{"record", "-p", "1", "--ring-memory", "much"},
       "--ring-memory: \"much\" is not a size such as 65536, 64K or 16M"},
      {{"record", "-p", "1", "--collector-cpu", "x"},
       "--collector-cpu: \"x\" is not a whole number from 0 to 1,023"},
      {{"record", "--post-mortem", "core", "-p", "1", "-p", "2"},
       "--post-mortem reads what is left of one process: give one -p"},
  };
  for (const Refused& one : all) {
    const test::Ended ended = sojourn(one.arguments);
    CHECK(ended.exit_code == 2);
    CHECK(ended.err == "sojourn: " + one.words + "\n");
    CHECK(ended.out.empty());
  }
}

TEST_CASE("without arguments the first commands are shown, and the exit code is 0") {
  const std::string screen = output_of({});
  CHECK(screen.starts_with("sojourn shows, for a base station that is already running"));
  CHECK(screen.contains("\n  sojourn record "));
  CHECK(screen.contains("`sojourn --help`"));
}

TEST_CASE("a time has a unit, whichever option it is given to") {
  const std::vector<std::vector<std::string>> all = {
      {"record", "-p", "1", "--for"},
      {"record", "-p", "1", "--poll"},
      {"record", "-p", "1", "--queues"},
      {"list", "-p", "1", "--suggest", "--for"},
      {"report", "a.sjt", "--deadline"},
      {"explain", "a.sjt", "--deadline"},
      {"report", "a.sjt", "--deadline", "slot", "--slot"},
      {"import", "a.json", "--from", "srsran", "--began"}};
  const auto refused = [](std::vector<std::string> arguments, const std::string& more) {
    const std::string option = arguments.back();
    arguments.emplace_back("5");
    CAPTURE(arguments);
    const test::Ended ended = sojourn(arguments);
    CHECK(ended.exit_code == 2);
    CHECK(ended.err ==
          "sojourn: " + option + ": \"5\": a time wants a unit: 5s, 5ms, 5us" + more + "\n");
  };
  for (const std::vector<std::string>& arguments : all) refused(arguments, "");
  refused({"record", "-p", "1", "--flight"}, "; so many events are 5ev");
  refused({"record", "-p", "1", "--flight", "10s", "--after"}, "; so many events are 5ev");
}

TEST_CASE("a time without a unit is refused in filters and triggers in the same words") {
  const std::vector<std::vector<std::string>> all = {
      {"report", "a.sjt", "--where", "latency > 5"},
      {"record", "-p", "1", "--flight", "10s", "--trigger", "latency > 5"}};
  for (const std::vector<std::string>& arguments : all) {
    CAPTURE(arguments);
    const test::Ended ended = sojourn(arguments);
    CHECK(ended.exit_code == 2);
    CHECK(ended.err.contains("column 11: a time wants a unit: 5s, 5ms, 5us\n"));
  }
}

TEST_CASE("every command takes the same process ids") {
  for (const std::string command : {"list", "doctor", "record", "ctl"})
    for (const std::string pid : {"0", "-5", "x", "1x", "99999999999999"}) {
      CAPTURE(command, pid);
      const test::Ended ended = sojourn({command, "-p", pid});
      CHECK(ended.exit_code == 2);
      CHECK(ended.err == "sojourn: --pid: \"" + pid + "\" is not a process id such as 4242\n");
    }
}

TEST_CASE("help has 80 columns and names no types of the language it is written in") {
  std::vector<std::vector<std::string>> asked = {{"--help"}};
  const std::string whole = output_of(asked.front());
  for (const std::string& command : listed_commands(whole)) asked.push_back({command, "--help"});
  REQUIRE(asked.size() > kCommands.size());
  for (const std::string& command : kCommands) CHECK(whole.contains("\n  " + command + " "));
  for (const auto& arguments : asked) {
    std::istringstream lines(output_of(arguments));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(arguments, line);
      CHECK(line.size() <= 80);
      for (const char* const type : {"TEXT", "UINT", "INT in", "FLOAT", ":POSITIVE", "(1x)"})
        CHECK_FALSE(line.contains(type));
    }
  }
}

TEST_CASE("help names options that go together, and defaults") {
  const std::string record = output_of({"record", "--help"});
  CHECK(record.contains("\n  --engine auto|bpf|ring    How events leave"));
  CHECK(record.contains("(default: auto)"));
  CHECK(record.contains("(with --flight)"));
  CHECK(output_of({"threads", "--help"}).contains("(not with --dot)"));
}

}  // namespace
}  // namespace sojourn::cli_tests
