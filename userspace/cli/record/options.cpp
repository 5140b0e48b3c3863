#include "userspace/cli/record/options.h"

#include <chrono>
#include <optional>
#include <string>

#include "userspace/capture/bpf/attach.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

namespace {

std::string check_poll(const std::string& text) {
  const auto period = parse_duration(text);
  if (!period) return period.error().text();
  return *period < std::chrono::microseconds(100) || *period > std::chrono::seconds(1)
             ? "a time of 100us to 1s is wanted"
             : "";
}

}  // namespace

void RecordOptions::define(Arguments& arguments) {
  processes.define(arguments);
  Argument given =
      arguments
          .add_option(
              "command", command,
              "A command to start and trace from its first instruction: -- CMD ARGS...; of a "
              "script what it executes")
          .type_name("CMD");
  arguments.when_parsed([this, given, arguments] {
    if (post_mortem.is_asked())
      PostMortemOptions::check(arguments);
    else if (is_held())
      check_held_options(arguments, processes, selection);
    else if (processes.given() == given.is_given())
      refuse_usage(
          "give either a running process (-p PID, also several, or --cgroup PATH) or a command to "
          "start (-- CMD)");
    queues.wanted = arguments.count("--queues") != 0;
    check_queue_options(arguments, queues);
  });
  arguments.add_option("-o,--output", output, "The trace file to write")
      .type_name("FILE")
      .capture_default_str()
      .check([](const std::string& path) {
        if (path.empty()) return "the trace file needs a name";
        return path == "-" ? "a trace goes to a file, not to a pipe: it is renamed once complete"
                           : "";
      });
  arguments
      .add_option(
          "--for", duration,
          "End after this long, e.g. 10s, 500ms, 2min; without it: Ctrl-C or the exit of the last "
          "target")
      .type_name("TIME")
      .check(check_duration);
  define_buffers(arguments);
  automatic.define(arguments);
  selection.define(arguments);
  define_engines(arguments);
  add_context_options(arguments, context);
  add_perf_options(arguments, perf);
  flight.define(arguments);
  snapshot.define(arguments);
  post_mortem.define(arguments);
  define_queue_options(arguments, queues);
  collector.define(arguments);
  arguments
      .add_option(
          "--budget", budget_percent,
          "Keep what tracing takes under so many percent of the target's CPU: the dearest "
          "points are off while it is exceeded, and come back when the load falls; points of "
          "direction I and S always stay. The trace says when. Without a budget none is switched "
          "off: a point that takes more than 5 % is told")
      .check(number_above(0, 100))
      .type_name("PERCENT");
  arguments.add_flag("-q,--quiet", quiet, "Say nothing but errors");
  arguments.footer(
      "A command that is started with -- CMD and outlives the capture is left running.\n\n"
      "Examples:\n"
      "  sojourn record -p $(pidof nr-softmodem) --for 10s -o run.sjt\n"
      "  sojourn record -p $(pidof unknown) --auto -o run.sjt\n"
      "  sojourn record -p $(pidof nr-cu),$(pidof nr-du) -o both.sjt\n"
      "  sojourn record --cgroup system.slice/gnb.service -o gnb.sjt\n"
      "  sojourn record -o start.sjt -- ./nr-softmodem -O gnb.conf\n"
      "  sojourn record --follow -o start.sjt -- ./start-all.sh\n"
      "  sojourn record -p $(pidof nr-softmodem) --snapshot -o now.sjt\n"
      "  sojourn record --post-mortem core -o crash.sjt\n\n"
      "The target is not stopped and not changed but for the probes, which are gone when this "
      "ends, however it ends.");
}

void RecordOptions::define_buffers(Arguments& arguments) {
  arguments
      .add_option("--ring-size", ring_size,
                  "Of each ring, a power of two, e.g. 4M. By rings: a thread's; default: as the "
                  "target was started. By eBPF: a CPU's; default: 16M, less on many CPUs")
      .type_name("BYTES")
      .check(check_ring_bytes);
  arguments
      .add_option("--ring-memory", ring_memory,
                  "Of all threads' rings together, e.g. 256M; default: as the target was started")
      .type_name("BYTES")
      .check(check_bytes);
  arguments
      .add_option("--poll", poll,
                  "Between two looks into the buffers, e.g. 500us; default: by rings 1ms, by eBPF "
                  "10ms")
      .type_name("TIME")
      .check(check_poll);
  add_choice(arguments, "--loss", loses_oldest, {{"newest", false}, {"oldest", true}},
             "What is lost where the trace is not written as fast as events come, by the disk or "
             "for want of a processor: newest (what comes while rings are full) or oldest (what "
             "has waited longest, of a million events). Rings that this process does not come to "
             "look into in time lose the newest in either case");
}

void RecordOptions::define_engines(Arguments& arguments) {
  add_choice(
      arguments, "--engine", engine,
      {{"auto", EngineWanted::kAuto}, {"bpf", EngineWanted::kBpf}, {"ring", EngineWanted::kRing}},
      "How events leave the target: ring (its threads write shared memory; no root needed "
      "for a process of one's own), bpf (a trap at every hit), or auto: rings where a point "
      "has them and eBPF for the others, for -- CMD eBPF where there are rights for it");
  add_choice(
      arguments, "--attach", attach,
      {{"auto", Attach::kAuto}, {"multi", Attach::kMulti}, {"perf", Attach::kPerf}},
      "How probes are placed: auto, multi (uprobe_multi link) or perf (perf uprobes, for older "
      "kernels)");
}

Result<capture::Options> RecordOptions::for_capture() const {
  capture::Options result;
  result.output = output;
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
  result.loses_oldest = loses_oldest;
  if (budget_percent > 0) result.budget = budget_percent / 100;
  // How probes are placed is a question of eBPF only.
  if (engine == EngineWanted::kBpf || attach != Attach::kAuto)
    result.engines.wanted = model::Engine::kBpf;
  if (engine == EngineWanted::kRing) result.engines.wanted = model::Engine::kRing;
  if (attach == Attach::kMulti) result.engines.bpf.mechanism = capture::Mechanism::kUprobeMulti;
  if (attach == Attach::kPerf) result.engines.bpf.mechanism = capture::Mechanism::kPerfUprobes;
  SJ_CHECK(want_context(context, quiet, period, result));
  SJ_CHECK(want_perf(perf, quiet, period, result));
  SJ_CHECK(add_queue_sampler(queues, result));
  return result;
}

}  // namespace sojourn::cli
