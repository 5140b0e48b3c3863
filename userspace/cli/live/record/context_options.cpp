#include "userspace/cli/live/record/context_options.h"

#include <chrono>
#include <memory>
#include <utility>

#include "userspace/capture/api.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

namespace {

void tell_family(const model::ContextFamily& family) {
  if (!family.missing.empty())
    tell("no context of {}: {}\n", family.name, family.missing);
  else if (family.name == name(capture::ContextFamily::kSyscalls))
    tell(
        "context of syscalls: until this ends every process of this machine pays for each of its "
        "system calls (docs/capture.md)\n");
}

}  // namespace

void add_context_options(Arguments& arguments, ContextWanted& wanted) {
  arguments
      .add_option("--context", wanted.families,
                  "Also record what the kernel does with the target's threads, e.g. sched,irq. "
                  "sched: switches, migrations, wakeups and by whom; irq: hard and soft "
                  "interrupts; faults: page faults; sockets: queue depths and drops; syscalls: "
                  "with durations, slows the system calls of all processes. Needs rights to eBPF")
      .type_name("LIST")
      .check([](const std::string& list) {
        const auto families = capture::parse_context_families(list);
        if (!families) return families.error().text();
        return families->empty() ? std::string("name at least one, e.g. sched") : std::string();
      });
  arguments
      .add_option("--context-ring", wanted.ring_size,
                  "Size of each CPU's buffer for --context, a power of two; default: 16M, less on "
                  "many CPUs")
      .type_name("BYTES")
      .check(check_ring_bytes);
}

Result<void> want_context(const ContextWanted& wanted, bool quiet,
                          std::optional<std::chrono::microseconds> poll,
                          capture::Options& options) {
  if (wanted.families.empty()) return {};
  capture::ContextOptions context;
  SJ_TRY(families, capture::parse_context_families(wanted.families));
  context.families = std::move(families);
  if (!wanted.ring_size.empty()) {
    SJ_TRY(bytes, parse_bytes(wanted.ring_size));
    context.ring_bytes = bytes;
  }
  if (poll) context.poll_period = *poll;
  if (!quiet) context.tell = tell_family;
  options.may_lack_points = true;
  options.others.emplace_back(
      [context](const tracee::Process& process) -> Result<std::unique_ptr<capture::Source>> {
        SJ_TRY(source, capture::ContextSource::create(process, context));
        return std::move(source);
      });
  return {};
}

}  // namespace sojourn::cli
