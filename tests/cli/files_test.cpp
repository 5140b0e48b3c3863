// The errors of every command that reads a trace, for files that are unreadable or incomplete.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <sys/stat.h>

#include "analysis/model/context_info.h"
#include "analysis/model/schema.h"
#include "analysis/trace/writer.h"
#include "tests/cli/programs.h"
#include "userspace/files/trace_file.h"

namespace sojourn::cli_tests {
namespace {

TEST_CASE("a file that cannot be read as a trace is refused in one line by every command") {
  const std::string command = GENERATE("report", "journeys", "events", "check");
  CAPTURE(command);
  const Traces traces;
  SECTION("a FIFO") {
    const std::string fifo = traces.directory().path("fifo.sjt");
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    require_error(sojourn({command, fifo}), "not a regular file");
  }
  SECTION("a trace cut within its file header") {
    const std::string cut = traces.directory().path("cut.sjt");
    test::write_contents(cut, test::contents(traces.path("radio")).substr(0, 10));
    require_error(sojourn({command, cut}), "only 10 bytes");
  }
  SECTION("a trace cut before its points") {
    const std::string cut = traces.directory().path("cut.sjt");
    test::write_contents(cut, test::contents(traces.path("radio")).substr(0, 60));
    require_error(sojourn({command, cut}), "before its points");
  }
  SECTION("no trace at all") {
    const std::string other = traces.directory().path("other.txt");
    test::write_contents(other, "this is a letter, and not a trace\n");
    require_error(sojourn({command, other}), "no sojourn trace");
  }
  SECTION("a name that would command the terminal") {
    require_error(sojourn({command, "no\x1b[31mtrace\r\x7f.sjt"}), "open no?[31mtrace??.sjt: ");
  }
}

TEST_CASE("missing parts of a trace are reported, and the rest is shown") {
  const std::string command = GENERATE("report", "journeys", "events", "queues", "explain");
  CAPTURE(command);
  const Traces traces;
  const std::string trace = traces.directory().path("part.sjt");
  const auto told = [&] {
    const test::Ended ended = sojourn({command, trace});
    CHECK(ended.exit_code == 0);
    const bool is_data = command == "journeys" || command == "events";
    CHECK((is_data ? ended.out : ended.err).find("not whole") == std::string::npos);
    const std::string& text = is_data ? ended.err : ended.out;
    return text.substr(0, text.find('\n'));
  };
  const std::string tail = "; next: sojourn check " + trace;
  SECTION("a file that was cut") {
    // The first stream's block is whole, the second one's is not.
    const std::string bytes = test::contents(traces.path("radio"));
    test::write_contents(trace, bytes.substr(0, bytes.size() / 2));
    CHECK(told().starts_with(trace + " is not whole: 1 place damaged ("));
    CHECK(told().ends_with(tail));
  }
  SECTION("a capture that never ended in order") {
    if (command == "queues") return;  // a single point makes none
    auto writer = files::create_trace(trace);
    REQUIRE(writer.has_value());
    auto point = model::parse_point("D in--out", "len::");
    REQUIRE(point.has_value());
    REQUIRE(writer->write(model::Schema{.points = {*point}}));
    REQUIRE(writer->write(model::Stream{.id = 0, .cpu = 0}));
    const std::uint64_t values[] = {100};
    model::EventBatch batch;
    batch.append({.ts_ns = 1000, .seq = 0, .stream = 0, .tid = 1, .point = 0, .values = values});
    REQUIRE(writer->write(batch));
    REQUIRE(writer->finish());
    CHECK(told() == trace +
                        " is not whole: the capture did not end in order, so what came last may "
                        "be missing" +
                        tail);
  }
}

TEST_CASE("a report of a trace without the target's points says so, of one without hits how many") {
  const bool is_kernels = GENERATE(true, false);
  const Traces traces;
  const std::string trace = traces.directory().path("points.sjt");
  auto writer = files::create_trace(trace);
  REQUIRE(writer.has_value());
  auto point = model::parse_point("D in--out", "len::");
  REQUIRE(point.has_value());
  if (is_kernels) point->direction = model::Direction::kContext;
  REQUIRE(writer->write(model::Schema{.points = {*point}}));
  model::Target target;
  target.pid = 42;
  target.name = "target";
  REQUIRE(writer->write(target));
  model::Capture about;
  about.open_ns = 1;
  about.close_ns = 1'000'000'001;
  about.ended_by = "duration";
  REQUIRE(writer->write(about));
  REQUIRE(writer->finish());
  CHECK(output_of({"report", trace})
            .starts_with(is_kernels ? "target, pid 42, 1.00 s, no points recorded, none lost"
                                    : "target, pid 42, 1.00 s, 0 events, none lost"));
}

TEST_CASE("a trace without any thread's events is reported as that, without mention of a filter") {
  const Traces traces;
  const std::string trace = traces.directory().path("threads.sjt");
  auto writer = files::create_trace(trace);
  REQUIRE(writer.has_value());
  model::Schema schema;
  for (const char* text : {"D sched.switch--x", "D sched.wakeup--x"}) {
    model::Point& point = schema.points.emplace_back(
        *model::parse_point(text, "prev.prev_pid.state.next.next_pid.waker.from.cpu::"));
    point.direction = model::Direction::kContext;
    point.dest.clear();
  }
  REQUIRE(writer->write(schema));
  REQUIRE(writer->write(model::Target{}));
  REQUIRE(writer->finish());
  const test::Ended ended = sojourn({"threads", trace});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.ends_with("has no event that shows what a thread did\n"));
}

TEST_CASE(
    "where the scheduler's context was refused, the reason is told and not what asks for it") {
  const Traces traces;
  const std::string trace = traces.directory().path("refused.sjt");
  auto writer = files::create_trace(trace);
  REQUIRE(writer.has_value());
  model::Schema schema;
  schema.points.push_back(*model::parse_point("D a--b", "len:rnti:sn"));
  model::Context context;
  const bool was_asked_for = GENERATE(true, false);
  if (was_asked_for) context.families = {{.name = "sched", .missing = "run as root"}};
  REQUIRE(writer->write(schema));
  REQUIRE(writer->write(context));
  REQUIRE(writer->write(model::Target{}));
  REQUIRE(writer->finish());
  require_error(sojourn({"threads", trace}),
                was_asked_for
                    ? "has no events of the scheduler, which show what threads do: run as root\n"
                    : "`sojourn record -p PID --auto` records it");
}

TEST_CASE("output that cannot be written is a failure, also of the help") {
  for (const std::string arguments : {"--help", "report --help", "--version"}) {
    CAPTURE(arguments);
    const test::Ended ended =
        test::run({"sh", "-c", "exec '" SJ_SOJOURN "' " + arguments + " >/dev/full"});
    CHECK(ended.exit_code == 1);
    CHECK(std::ranges::count(ended.err, '\n') == 1);
    CHECK(ended.err.starts_with("sojourn: write"));
  }
}

TEST_CASE("short or long, data that nothing takes fail with the reason") {
  const Traces traces;
  for (const std::string what :
       {"export --to latseq-json", "export --to latseq-json --what stats", "export --to csv",
        "export --to jsonl --what events", "journeys", "events", "queues --json", "report",
        "report --json", "explain --json", "check"}) {
    CAPTURE(what);
    const auto run = [&](const std::string& output) {
      return test::run(
          {"sh", "-c",
           "exec '" SJ_SOJOURN "' " + what + " '" + traces.path("radio") + "' " + output});
    };
    const test::Ended full = run(">/dev/full");
    CHECK(full.exit_code == 1);
    CHECK(full.err.ends_with("sojourn: write standard output: No space left on device\n"));
    const test::Ended closed = run(">&-");
    CHECK(closed.exit_code == 1);
    CHECK(closed.err.ends_with("sojourn: write standard output: Bad file descriptor\n"));
  }
}

TEST_CASE("a closed standard output does not keep a file from being written") {
  const Traces traces;
  const std::string file = traces.directory().path("out.csv");
  const test::Ended ended =
      test::run({"sh", "-c",
                 "exec '" SJ_SOJOURN "' export --to latseq-csv '" + traces.path("radio") +
                     "' -o '" + file + "' >&- 2>&- <&-"});
  CHECK(ended.exit_code == 0);
  CHECK(test::contents(file) == output_of({"export", "--to", "latseq-csv", traces.path("radio")}));
}

TEST_CASE("an export to - is on standard output, and leaves no file") {
  const Traces traces;
  const std::vector<std::string> command = {"export", traces.path("radio"), "--to", "latseq-csv"};
  std::vector<std::string> with_dash = command;
  with_dash.insert(with_dash.end(), {"-o", "-"});
  CHECK(output_of(with_dash) == output_of(command));
  CHECK_FALSE(std::filesystem::exists("-"));
}

TEST_CASE("a command that is proposed can be typed as it stands, whatever the trace is called") {
  const Traces traces;
  const std::string trace = traces.directory().path("my run;ls.sjt");
  std::filesystem::copy_file(traces.path("radio"), trace);
  CHECK(output_of({"report", trace}).contains("\nnext: sojourn journeys '" + trace + "' --"));
  CHECK(
      output_of({"explain", trace}).contains("\nnext: sojourn journeys '" + trace + "' --worst "));
}

TEST_CASE("the rules are explained as text only") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  CHECK(output_of({"report", trace, "--explain-rules"}).contains("pdcp.in"));
  const test::Ended ended = sojourn({"report", trace, "--explain-rules", "--json"});
  CHECK(ended.exit_code == 2);
  CHECK(ended.err.contains("no --json"));
  CHECK(ended.out.empty());
}

}  // namespace
}  // namespace sojourn::cli_tests
