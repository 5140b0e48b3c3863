#include "userspace/cli/live/record/perf_options.h"

#include <chrono>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "userspace/capture/api.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

namespace {

// Ends the program, as --help does.
void print_counters() {
  for (const capture::PerfKind& kind : capture::perf_kinds()) {
    const capture::PerfOffer offer = ask_perf(kind);
    std::string here = offer.missing.empty() ? "here" : "not here: " + offer.missing;
    if (offer.user_only) here = "here, without what the kernel does: no rights to that";
    const std::string sampled =
        kind.period == 1 ? "" : fmt::format(", a sample every {}", grouped(kind.period));
    fmt::print("{:<18}{}{}\n{:<18}{}\n", kind.name, kind.what, sampled, "", here);
  }
}

std::string names_of_counters() {
  std::string names;
  for (const capture::PerfKind& kind : capture::perf_kinds())
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

void tell_counter(const model::Counter& counter) {
  if (!counter.missing.empty())
    tell("no {}: {}{}\n", counter.name, counter.missing,
         counter.period > 1 ? "; a virtual machine needs a virtual PMU from its host" : "");
  else if (counter.user_only)
    tell("{}: of the target's own code only: no rights to look into the kernel (CAP_PERFMON)\n",
         counter.name);
}

}  // namespace

void add_perf_options(Arguments& arguments, PerfWanted& wanted) {
  arguments
      .add_option(
          "--counters", wanted.counters,
          "Count for the target's threads, by hop, e.g. cycles,page-faults. There are " +
              names_of_counters() +
              ". NAME=PERIOD samples a hardware counter once in PERIOD counts. `--counters list` "
              "shows those of this machine; others are left out, with a message")
      .type_name("LIST")
      .check([](const std::string& list) {
        if (list == "list") {
          print_counters();
          end_successfully();
        }
        const auto counters = capture::parse_counters(list);
        return counters ? std::string() : counters.error().text();
      });
  arguments
      .add_option("--profile", wanted.frequency,
                  "Sample the call stacks of the target's running threads at this rate, e.g. "
                  "999Hz, for `sojourn profile`. Callers are found by frame pointers")
      .type_name("FREQUENCY")
      .check([](const std::string& text) {
        const auto hertz = capture::parse_frequency(text);
        if (!hertz) return hertz.error().text();
        const auto most = capture::max_samples_a_second();
        return most && *hertz > *most
                   ? fmt::format(
                         "this machine allows {}Hz at most (kernel.perf_event_max_sample_rate)",
                         *most)
                   : std::string();
      });
  arguments
      .add_option(
          "--perf-ring", wanted.ring_size,
          "Size of each CPU's buffer for --counters and --profile, a power of two; default: 512K")
      .type_name("BYTES")
      .check(check_ring_bytes);
}

Result<void> want_perf(const PerfWanted& wanted, bool quiet,
                       std::optional<std::chrono::microseconds> poll, capture::Options& options) {
  if (wanted.counters.empty() && wanted.frequency.empty()) return {};
  capture::PerfOptions perf;
  if (!wanted.counters.empty()) {
    SJ_TRY(counters, capture::parse_counters(wanted.counters));
    perf.counters = std::move(counters);
  }
  if (!wanted.frequency.empty()) {
    SJ_TRY(hertz, capture::parse_frequency(wanted.frequency));
    perf.profile_hertz = hertz;
  }
  if (!wanted.ring_size.empty()) {
    SJ_TRY(bytes, parse_bytes(wanted.ring_size));
    perf.ring_bytes = bytes;
  }
  if (poll) perf.poll_period = *poll;
  if (!quiet) perf.tell = tell_counter;
  options.may_lack_points = true;
  options.others.emplace_back(
      [perf](const tracee::Process& process) -> Result<std::unique_ptr<capture::Source>> {
        SJ_TRY(source, capture::PerfSource::create(process, perf));
        return std::move(source);
      });
  return {};
}

}  // namespace sojourn::cli
