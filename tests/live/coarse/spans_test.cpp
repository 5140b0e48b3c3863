// Spans of unprepared programs: from a function's entry to the exit of that very call, compared
// call by call with the program's own record. The functions are left in every possible way, and the
// program survives.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/unread.h"
#include "tests/live/coarse/subject.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

std::string span_of(const std::string& function) {
  return fmt::format(
      "[[span]]\nfunction = 'spans::{0}'\nname = '{0}'\nnumber = 'arg0'\nresult = '(s64)ret'\n"
      "local = ['number']\n",
      function);
}

// One call, in the program's record or in the trace.
struct Call {
  std::uint32_t tid = 0;
  std::uint64_t number = 0;
  std::int64_t result = 0;
  bool has_result = true;
  std::uint64_t from_ns = 0;
  std::uint64_t until_ns = 0;
};
using Calls = std::map<std::string, std::vector<Call>>;  // by what is called

Calls said_by(const std::string& out) {
  Calls calls;
  std::istringstream lines(out.substr(out.find('\n') + 1));
  std::string what;
  Call call;
  while (lines >> what && what != "done") {
    lines >> call.tid >> call.number >> call.result >> call.from_ns >> call.until_ns;
    REQUIRE(lines);
    calls[what].push_back(call);
  }
  return calls;
}

// The calls that have ended, and the number of open ones by function.
struct Seen {
  Calls calls;
  std::map<std::string, std::size_t> open;
};

Seen seen_in(trace::Reader reader) {
  Seen seen;
  std::map<std::uint64_t, Call> open;
  std::map<std::uint64_t, std::string> whose;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::EventView event = batch[row];
      const model::Point& point = reader.schema().points[event.point];
      const bool is_begin = point.src.starts_with("call.");
      const std::string what = is_begin ? point.dest : point.src;
      const std::uint64_t span = event.values[point.field("span-" + what).value()];
      const std::uint64_t number = event.values[point.field("number").value()];
      if (is_begin) {
        CHECK(
            open.try_emplace(span, Call{.tid = event.tid, .number = number, .from_ns = event.ts_ns})
                .second);
        whose[span] = what;
        continue;
      }
      const auto begun = open.find(span);
      REQUIRE(begun != open.end());
      CHECK(begun->second.number == number);
      CHECK(begun->second.tid == event.tid);
      Call call = begun->second;
      open.erase(begun);
      const std::size_t result = point.field("result").value();
      call.result = static_cast<std::int64_t>(event.values[result]);
      call.has_result =
          (model::unread_bits(model::unread_field(point), event.values) >> result & 1) == 0;
      call.until_ns = event.ts_ns;
      seen.calls[what].push_back(call);
    }
    return true;
  }));
  for (const auto& [span, call] : open) ++seen.open[whose[span]];
  return seen;
}

// The program saw the call begin a little earlier and end a little later. The corrections of the
// stamps were measured separately, so they may differ from this run.
constexpr std::uint64_t kSlackNs = 5'000;

const Call* call_of(const std::vector<Call>& calls, const Call& said) {
  const auto found = std::ranges::find_if(calls, [&](const Call& call) {
    return call.tid == said.tid && call.number == said.number &&
           call.from_ns + kSlackNs >= said.from_ns && call.until_ns <= said.until_ns + kSlackNs;
  });
  return found == calls.end() ? nullptr : &*found;
}

void check_said(const Seen& seen, const Calls& said, const std::string& what, bool has_result) {
  CAPTURE(what);
  const std::vector<Call>& calls = seen.calls.at(what);
  for (const Call& one : said.at(what)) {
    CAPTURE(one.tid, one.number, one.from_ns, one.until_ns);
    const Call* const call = call_of(calls, one);
    REQUIRE(call != nullptr);
    CHECK(call->until_ns > call->from_ns);
    CHECK(call->has_result == has_result);
    if (has_result) CHECK(call->result == one.result);
  }
}

struct Run {
  Calls said;
  std::string tracer_said;
};

// A busy machine takes its time.
bool says(test::Child& child, const std::string& text) {
  for (int tries = 0; tries < 6; ++tries)
    if (child.wait_for_output(text)) return true;
  return false;
}

// `rounds` of the program on two threads, from their first to their last under the tracer.
Run run_spans(const std::string& program, const std::string& map_text, unsigned rounds,
              const std::string& trace, const std::string& map) {
  test::write_contents(map, map_text);
  test::Child target({coarse_path(program), std::to_string(rounds), "2"});
  REQUIRE(says(target, "ready"));
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(target.pid()), "--map", map,
                      "--budget", "none", "--allow-slow-sites", "-o", trace});
  REQUIRE(says(tracer, "attached"));
  target.signal(SIGUSR1);
  REQUIRE(says(target, "done"));
  tracer.signal(SIGINT);
  const test::Ended recorded = tracer.wait();
  CAPTURE(recorded.err);
  CHECK(recorded.exit_code == 0);
  CHECK(recorded.err.contains("0 lost"));
  target.signal(SIGTERM);
  const test::Ended ended = target.wait();
  CHECK(ended.exit_code == 0);
  return {said_by(ended.out), recorded.err};
}

TEST_CASE("a span is the time from a function's entry to the exit of the same call") {
  need_root();
  const std::string name =
      GENERATE("spans-O0", "spans-O2", "spans-O3-lto", "spans-O2-no-pie", "spans-O2-cet",
               "spans-O2-stripped", "spans-O2-split", "spans-clang-O2");
  CAPTURE(name);
  if (!std::filesystem::exists(coarse_path(name))) SKIP("clang is not installed: " << name);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  std::string map;
  for (const char* function : {"twice", "risky", "around", "jumps", "deep", "passes_on", "chooses"})
    map += span_of(function);
  constexpr unsigned kRounds = 60;
  const Run run = run_spans(name, map, kRounds, trace, directory.path("my.toml"));
  CAPTURE(run.tracer_said);
  CHECK_FALSE(run.tracer_said.contains("not traced"));
  const Seen seen = seen_in(open_trace(trace));

  // There it ends with a jump to twice(), and knows no result.
  const bool jumps_on = name.starts_with("spans-O2") || name.starts_with("spans-O3");
  for (const char* what : {"twice", "around", "jumps", "deep", "chooses"})
    check_said(seen, run.said, what, true);
  check_said(seen, run.said, "passes_on", !jumps_on);

  // 60 rounds on each of two threads; of three numbers in a row one is thrown, or jumped over.
  CHECK(run.said.at("thrown").size() == 40);
  CHECK(run.said.at("jumped").size() == 20);
  CHECK(seen.calls.at("twice").size() == 240);  // 120 of them by passes_on()
  CHECK(seen.calls.at("chooses").size() == 120);
  CHECK(seen.calls.at("deep").size() == 2 * 12 * (1 + 2 + 3 + 4 + 5));
  CHECK(seen.calls.at("around").size() == 80);
  CHECK(seen.calls.at("risky").size() == 80);
  CHECK(seen.calls.at("jumps").size() == 40);
  CHECK(seen.open ==
        std::map<std::string, std::size_t>{{"around", 40}, {"risky", 40}, {"jumps", 20}});
  for (const Call& call : seen.calls.at("deep"))
    CHECK(call.result == static_cast<std::int64_t>(call.number) + 1);
  for (const Call& call : seen.calls.at("risky"))
    CHECK(call.result == static_cast<std::int64_t>(call.number) + 7);
  // It is as long as the work that is in it.
  for (const Call& call : seen.calls.at("twice"))
    CHECK(call.until_ns - call.from_ns >= (call.number % 2 == 0 ? 20'000 : 60'000));

  // As journeys: calls whose exit was not seen are in none.
  const json report = json::parse(sojourn_done({"report", "--json", trace}));
  CHECK(report.at("journeys").at("D").at("complete") == 240 + 120 + 360 + 120 + 80 + 80 + 40);
  CHECK(report.at("journeys").at("D").at("ambiguous") == 0);
}

TEST_CASE("at a function's exit its result is known, and the arguments of its call") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  run_spans("spans-O2",
            "[[point]]\nfunction = 'spans::chooses'\nsrc = 'in'\nnumber = 'arg0'\n"
            "[[point]]\nfunction = 'spans::chooses'\nat = 'exit'\nsrc = 'out'\n"
            "result = '(s8)ret'\ninherit = ['number']\nwhen = 'result != 88'\n",
            64, trace, directory.path("my.toml"));
  constexpr std::array kResults = {11, 23, 35, -4, 58, -16, 77};  // by the number's remainder
  std::istringstream lines(sojourn_done({"events", trace, "--points", "out", "--json"}));
  std::size_t events = 0;
  for (std::string line; std::getline(lines, line); ++events) {
    const json fields = json::parse(line).at("fields");
    CHECK(fields.at("result") == kResults.at(fields.at("number").get<std::uint64_t>() % 8));
  }
  // There are 64 numbers on each of two threads; those whose result is not wanted are left out.
  CHECK(events == 2 * 56);
}

TEST_CASE(
    "an address identifies a unit from the call that returns it to the end of the call that frees "
    "it") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  constexpr unsigned kRounds = 60;
  run_spans(
      "spans-O2",
      "[[span]]\nfunction = 'spans::give_out'\nsrc = 'wanted'\nname = 'give'\ndest = 'held'\n"
      "number = 'arg0'\nbuffer = 'ret'\nlocal = ['number', 'buffer']\nbegins = ['buffer']\n"
      "[[span]]\nfunction = 'spans::take_back'\nsrc = 'held'\nname = 'take'\ndest = 'unused'\n"
      "its_number = '*(u64*)arg0'\nbuffer = 'arg0'\nlocal = ['buffer']\nends = ['buffer']\n",
      kRounds, trace, directory.path("my.toml"));
  std::map<std::uint64_t, std::uint64_t> numbers;  // by the buffer's life
  std::size_t taken = 0;
  std::size_t done = 0;
  trace::Reader reader = open_trace(trace);
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::EventView event = batch[row];
      const model::Point& point = reader.schema().points[event.point];
      const auto value = [&](const char* field) {
        return event.values[point.field(field).value()];
      };
      if (point.dest == "held") CHECK(numbers.try_emplace(value("buffer"), value("number")).second);
      if (point.dest == "take") {
        ++taken;
        REQUIRE(numbers.contains(value("buffer")));
        CHECK(numbers.at(value("buffer")) == value("its_number"));
      }
      if (point.dest == "unused") {
        ++done;
        CHECK(numbers.contains(value("buffer")));
      }
    }
    return true;
  }));
  // Two of them in each round of each of two threads.
  CHECK(numbers.size() == std::size_t{4} * kRounds);
  CHECK(taken == numbers.size());
  CHECK(done == numbers.size());
  const json report = json::parse(sojourn_done({"report", "--json", trace}));
  CHECK(report.at("journeys").at("D").at("complete") == 4 * kRounds);
}

TEST_CASE("expensive exits are probed if allowed, and the option that allows it is named") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string map = directory.path("my.toml");
  test::Child target({coarse_path("spans-O2"), "1", "1"});
  REQUIRE(says(target, "ready"));
  const auto list = [&](const std::string& text, const std::vector<std::string>& more) {
    test::write_contents(map, text);
    std::vector<std::string> arguments = {"list",  "-p", std::to_string(target.pid()),
                                          "--map", map,  "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sojourn(arguments);
  };
  const test::Ended dear = list(span_of("twice"), {});
  CHECK(dear.exit_code == 1);
  CHECK(dear.err.contains("it is left by "));
  CHECK(dear.err.contains("--allow-slow-sites takes them; --allow-uretprobe another way"));
  // Only a jump leads out of it.
  const test::Ended cheap = list(span_of("passes_on"), {});
  CAPTURE(cheap.err);
  REQUIRE(cheap.exit_code == 0);
  const json points = json::parse(cheap.out).at("points");
  REQUIRE(points.size() == 2);
  CHECK(points[0].at("places").at(0).at("probe") == "entry");
  CHECK(points[1].at("places").at(0).at("probe") == "exit");
  CHECK(points[1].at("places").at(0).at("single_step") == false);
  // It throws.
  const test::Ended thrown = list(span_of("twice"), {"--allow-uretprobe"});
  CHECK(thrown.exit_code == 1);
  CHECK(thrown.err.contains("Not by a uretprobe: "));
  CHECK(thrown.err.contains("throws or passes on exceptions"));
  const test::Ended stepped = list(span_of("twice"), {"--allow-uretprobe", "--allow-slow-sites"});
  REQUIRE(stepped.exit_code == 0);
  CHECK(stepped.err.contains("not by uretprobes, as they would harm: "));
  for (const json& place : json::parse(stepped.out).at("points")[1].at("places"))
    CHECK(place.at("probe") == "exit");
  // One call has one beginning.
  const test::Ended both =
      list(span_of("twice") + "[[point]]\nfunction = 'spans::twice'\n", {"--allow-slow-sites"});
  CHECK(both.exit_code == 0);
  CHECK(both.err.contains("cannot share its place"));
}

TEST_CASE("a program without unwinding may be probed at its returns, and survives it") {
  need_root();
  const std::string name = GENERATE("returns-O0", "returns-O2");
  CAPTURE(name);
  const test::TemporaryDirectory directory;
  const std::string map = directory.path("my.toml");
  const std::string trace = directory.path("run.sjt");
  std::string text;
  for (const char* function : {"twice", "deep", "perhaps"})
    text += fmt::format(
        "[[span]]\nfunction = 'returns_{0}'\nname = '{0}'\nn = 'arg0'\nresult = 'ret'\n"
        "local = ['n']\n",
        function);
  test::write_contents(map, text);
  test::Child target({coarse_path(name)});
  REQUIRE(says(target, "ready"));
  const std::string pid = std::to_string(target.pid());
  // Taken off in the middle of calls, and put on again.
  for (int turn = 0; turn < 4; ++turn) {
    const test::Ended ended =
        sojourn({"record", "-p", pid, "--map", map, "--budget", "none", "--allow-slow-sites",
                 "--allow-uretprobe", "--for", "250ms", "-o", trace});
    CAPTURE(ended.err);
    REQUIRE(ended.exit_code == 0);
    CHECK_FALSE(ended.err.contains("not traced"));
    CHECK_FALSE(ended.err.contains("not by uretprobes"));
    CHECK(ended.err.contains("attached 6 points at 6 sites"));
    CHECK(target.running());
  }
  std::map<std::string, std::size_t> ends;
  trace::Reader reader = open_trace(trace);
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::EventView event = batch[row];
      const model::Point& point = reader.schema().points[event.point];
      // Calls that began before the capture have no arguments.
      if (!point.dest.starts_with("done.") ||
          model::unread_bits(model::unread_field(point), event.values) != 0)
        continue;
      const std::uint64_t n = event.values[point.field("n").value()];
      const std::uint64_t result = event.values[point.field("result").value()];
      ++ends[point.src];
      if (point.src == "twice") CHECK(result == 6 * n + 5);
      if (point.src == "deep") CHECK(result == 2 * n + 2);
      if (point.src == "perhaps") {
        CHECK(n % 3 != 0);
        CHECK(result == 3 * n + 6);
      }
    }
    return true;
  }));
  CHECK(ends["twice"] > 20);
  CHECK(ends["deep"] > 200);
  CHECK(ends["perhaps"] > 10);
  target.signal(SIGTERM);
  const test::Ended ended = target.wait();
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.contains("jumped"));
}

}  // namespace
}  // namespace sojourn::live
