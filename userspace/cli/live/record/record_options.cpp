#include "userspace/cli/live/record/record_options.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "userspace/capture/api.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

namespace {

constexpr std::string_view kNoBudget = "none";

// Parses a text that was checked before.
std::optional<capture::BudgetLimits> budget_of(const std::string& text) {
  if (text == kNoBudget) return std::nullopt;
  if (text.empty()) return capture::BudgetLimits::usual();
  return capture::BudgetLimits{.share = std::stod(text) / 100};
}

std::string check_poll(const std::string& text) {
  const auto period = parse_duration(text);
  if (!period) return period.error().text();
  return *period < std::chrono::microseconds(100) || *period > std::chrono::seconds(1)
             ? "a time of 100us to 1s is wanted"
             : "";
}

}  // namespace

void RecordOptions::define(Arguments& arguments) {
  arguments.heading("What to attach to");
  processes.define(arguments);
  Argument given = arguments
                       .add_option("command", command,
                                   "-- CMD ARGS...: start this command and trace it from its first "
                                   "instruction. Of a script: the programs that it executes")
                       .type_name("CMD");
  arguments.when_parsed([this, given, arguments] {
    if (post_mortem.is_asked())
      PostMortemOptions::check(arguments);
    else if (is_snapshot())
      check_snapshot_options(arguments, processes, selection);
    else if (processes.given() && given.is_given())
      refuse_usage(fmt::format(
          "give either a running process or a command to start, and not both: \"{}\" is taken for "
          "a command",
          command.front()));
    else if (!processes.given() && !given.is_given())
      refuse_usage(
          "give either a running process (-p PID, also several, or --cgroup PATH) or a command to "
          "start (-- CMD)");
    queues.wanted = arguments.count("--queues") != 0;
    check_queue_options(arguments, queues);
    check_energy_options(arguments, energy);
    stream.check();
    metrics.check();
  });
  arguments.heading("The trace");
  arguments.add_option("-o,--output", output, "The trace file to write")
      .type_name("FILE")
      .capture_default_str()
      .check([](const std::string& path) {
        return path == "-" ? "a trace goes to a file, not to a pipe: it is renamed once complete"
                           : check_output_name(path);
      });
  arguments
      .add_option("--for", duration,
                  "Stop after this time, e.g. 10s, 500ms, 2min. By default at Ctrl-C, or when the "
                  "last target exits")
      .type_name("TIME")
      .check(check_duration);
  arguments.add_flag("-q,--quiet", quiet, "Print errors only");
  arguments.heading("What to record");
  automatic.define(arguments);
  selection.define(arguments);
  define_budget(arguments);
  arguments.heading("Kernel context, counters, stacks");
  add_context_options(arguments, context);
  add_perf_options(arguments, perf);
  arguments.heading("Queues");
  define_queue_options(arguments, queues);
  arguments.heading("Energy");
  define_energy_options(arguments, energy);
  arguments.heading("Readers while it records");
  stream.define(arguments);
  arguments.heading("Monitoring while it records");
  metrics.define(arguments);
  arguments.heading("Flight recorder and triggers");
  flight.define(arguments);
  arguments.heading("Without attaching");
  snapshot.define(arguments);
  post_mortem.define(arguments);
  arguments.heading("Engines and buffers");
  define_engines(arguments);
  define_buffers(arguments);
  arguments.heading("The process of sojourn itself");
  collector.define(arguments);
  arguments.footer(
      "Examples:\n"
      "  sojourn record -p $(pidof nr-softmodem) --for 10s -o run.sjt\n"
      "  sojourn record -p $(pidof unknown) --auto -o run.sjt\n"
      "  sojourn record -p $(pidof nr-cu),$(pidof nr-du) -o both.sjt\n"
      "  sojourn record --cgroup system.slice/gnb.service -o gnb.sjt\n"
      "  sojourn record -o start.sjt -- ./nr-softmodem -O gnb.conf\n"
      "  sojourn record --follow -o start.sjt -- ./start-all.sh\n"
      "  sojourn record -p $(pidof nr-softmodem) --listen 127.0.0.1:9000\n"
      "  sojourn record -p $(pidof nr-softmodem) --snapshot -o now.sjt\n"
      "  sojourn record --post-mortem core -o crash.sjt\n"
      "\n"
      "The target is never stopped. Nothing in it is changed but for the probes, and they are "
      "removed when the capture ends, even when sojourn is killed. A command started with -- CMD "
      "goes on after the capture. docs/capture.md says more.");
}

void RecordOptions::define_capture(Arguments& arguments) {
  arguments.heading("What to attach to");
  processes.define(arguments);
  arguments
      .add_option(
          "--for", duration,
          "Stop after this time, e.g. 10s, 2min. By default when you quit, or when the last "
          "target exits")
      .type_name("TIME")
      .check(check_duration);
  arguments.heading("What to record");
  selection.define(arguments);
  define_budget(arguments);
  add_context_options(arguments, context);
  arguments.heading("Engines and buffers");
  define_engines(arguments);
  define_buffers(arguments);
  arguments.heading("The process that captures");
  collector.define(arguments);
}

void RecordOptions::define_budget(Arguments& arguments) {
  arguments
      .add_option(
          "--budget", budget,
          "Keep the cost of tracing below this share of the target's CPU time. While it is "
          "exceeded, points are off: first scalars and what a map calls optional, then whole paths "
          "of packets, the most expensive first; slots stay on. The trace says which were off, and "
          "when. Default: for points by eBPF 5, and at most 10 % of one processor; other points "
          "are never switched off. none: no limit; a point that takes more than 5 % is reported")
      .check([](const std::string& text) {
        return text == kNoBudget ? std::string() : number_above(0, 100)(text);
      })
      .type_name("PERCENT|none");
}

void RecordOptions::define_buffers(Arguments& arguments) {
  arguments
      .add_option(
          "--ring-size", ring_size,
          "Size of each ring, a power of two, e.g. 4M. With rings: of each thread's; default: what "
          "the target was started with. With eBPF: of each CPU's; default: 16M, less on many CPUs")
      .type_name("BYTES")
      .check(check_ring_bytes);
  arguments
      .add_option("--ring-memory", ring_memory,
                  "Size of all threads' rings together, e.g. 256M; default: what the target was "
                  "started with")
      .type_name("BYTES")
      .check(check_bytes);
  arguments
      .add_option(
          "--poll", poll,
          "How often the rings are read, e.g. every 500us; default: 1ms with rings, 10ms with eBPF")
      .type_name("TIME")
      .check(check_poll);
  add_choice(arguments, "--loss", loses_oldest, {{"newest", false}, {"oldest", true}},
             "Which events to lose when the trace cannot be written as fast as they come: the "
             "newest, which find the rings full, or the oldest of a million that wait to be "
             "written. A ring that is not read in time always loses the newest");
}

void RecordOptions::define_engines(Arguments& arguments) {
  add_choice(
      arguments, "--engine", engine,
      {{"auto", EngineWanted::kAuto}, {"bpf", EngineWanted::kBpf}, {"ring", EngineWanted::kRing}},
      "How events leave the target. ring: its threads write to shared memory, no root needed for "
      "your own processes. bpf: a trap at every hit. auto: rings for the points that have them, "
      "eBPF for the others; with -- CMD eBPF where you have the rights");
  add_choice(arguments, "--attach", attach,
             {{"auto", Attach::kAuto}, {"multi", Attach::kMulti}, {"perf", Attach::kPerf}},
             "How probes are placed: by a uprobe_multi link (multi), or by perf uprobes (perf), "
             "which older kernels need");
}

Result<capture::Options> RecordOptions::for_capture() const {
  capture::Options result;
  result.output = output;
  result.sink = sink;
  if (!duration.empty()) {
    SJ_TRY(span, parse_duration(duration));
    result.duration = span;
  }
  if (!ring_size.empty()) {
    SJ_TRY(bytes, parse_bytes(ring_size));
    result.engines.bpf.ring_bytes = bytes;
    result.engines.rings.ring_bytes = bytes;
  }
  if (!ring_memory.empty()) {
    SJ_TRY(bytes, parse_bytes(ring_memory));
    result.engines.rings.memory_ceiling = bytes;
  }
  std::optional<std::chrono::microseconds> period;
  if (!poll.empty()) {
    SJ_TRY(span, parse_duration(poll));
    period = std::chrono::duration_cast<std::chrono::microseconds>(span);
    result.engines.bpf.poll_period = *period;
    result.engines.rings.poll_period = *period;
  }
  SJ_CHECK(flight.apply(result));
  SJ_CHECK(stream.apply(result));
  SJ_CHECK(metrics.apply(result));
  result.loses_oldest = loses_oldest;
  result.budget = budget_of(budget);
  // --attach applies to eBPF only.
  if (engine == EngineWanted::kBpf || attach != Attach::kAuto)
    result.engines.wanted = model::Engine::kBpf;
  if (engine == EngineWanted::kRing) result.engines.wanted = model::Engine::kRing;
  if (attach == Attach::kMulti) result.engines.bpf.mechanism = capture::Mechanism::kUprobeMulti;
  if (attach == Attach::kPerf) result.engines.bpf.mechanism = capture::Mechanism::kPerfUprobes;
  SJ_CHECK(want_context(context, quiet, period, result));
  SJ_CHECK(want_perf(perf, quiet, period, result));
  SJ_CHECK(add_queue_sampler(queues, result));
  SJ_CHECK(want_energy(energy, quiet, result));
  return result;
}

}  // namespace sojourn::cli
