#include "userspace/cli/offline_commands.h"

namespace sojourn::cli {

namespace {

constexpr Command kCommands[] = {
    {"report", "Latencies, and where packets spend their time, hop by hop", define_report},
    {"journeys", "Single packets, step by step through the layers", define_journeys},
    {"explain", "Why packets were late: a table of causes, and packets one by one", define_explain},
    {"open", "Look at a trace in the browser: pictures, filters, single packets", define_open},
    {"flow", "Which point comes before which, and which places decide the latency", define_flow},
    {"diff", "What differs between traces of two builds or settings, and by how much", define_diff},
    {"history", "Where latencies changed over a series of traces", define_history},
    {"energy", "Joules a packet of runs at several settings, and which are worth choosing",
     define_energy},
    {"why-slow", "What slow packets have in common that others do not", define_why_slow},
    {"queues", "Depth, wait and throughput of queues, and who feeds them", define_queues},
    {"profile", "Which functions the CPU time went to, by hop and by thread", define_profile},
    {"threads", "What threads do and who wakes whom; needs no points", define_threads},
    {"events", "The raw events of a trace, in time order", define_events},
    {"check", "Verify a trace file: is it whole, is every lost event counted", define_check},
    {"merge", "One trace of several hosts' traces, without synchronised clocks", define_merge},
    {"import", "Turn another tracer's recordings into a trace", define_import},
    {"export", "Write a trace in the format of another tool", define_export},
    {"page", "Write the page that shows any trace dropped onto it", define_page},
    {"schema", "Generate the C header that fires the events of a schema", define_schema},
    {"completion", "Print the completion script for bash, zsh or fish", define_completion},
    {"package-files", "Write the manual and the completions", define_package_files, false},
};

}  // namespace

std::span<const Command> offline_commands() {
  return kCommands;
}

}  // namespace sojourn::cli
