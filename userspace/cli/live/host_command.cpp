// `sojourn host`: what this machine is and what things cost on it; the other end of network
// measurements; a comparison of two machines.
#include <algorithm>
#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "analysis/differential/host_diff.h"
#include "analysis/host/host_json.h"
#include "analysis/present/differential/host_diff_text.h"
#include "analysis/present/host/host_text.h"
#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/cli/command.h"
#include "userspace/cli/live/live_commands.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/terminal.h"
#include "userspace/host/echo_service.h"
#include "userspace/host/profile_cache.h"
#include "userspace/host/sockets.h"
#include "userspace/host/survey.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::cli {

namespace {

struct HostOptions {
  std::vector<std::string> words;  // diff A B
  bool quick = false;
  bool json = false;
  std::string only;
  std::string peer;
  std::string serve;
  std::string directory = "/var/tmp";
  std::string other;

  bool is_diff() const { return !words.empty(); }
};

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> parts;
  for (const std::string_view part : tracee::split(list, ',')) parts.emplace_back(part);
  return parts;
}

Result<std::vector<host::HostProfile>> read_profiles(const std::string& list) {
  std::vector<host::HostProfile> profiles;
  for (const std::string& path : split_list(list)) {
    SJ_TRY(text, tracee::read_whole(path));
    auto profile = host::from_json(text);
    if (!profile) return std::unexpected(std::move(profile).error().within(path));
    profiles.push_back(std::move(*profile));
  }
  return profiles;
}

Result<void> diff(const HostOptions& options) {
  SJ_TRY(left, read_profiles(options.words[1]));
  SJ_TRY(right, read_profiles(options.words[2]));
  const differential::HostDiff found = differential::compare_hosts(left, right);
  if (options.json)
    fmt::print("{}\n", differential::to_json(found).dump(
                           2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  else
    fmt::print("{}", present::host_diff_text(found, line_width()));
  return {};
}

Result<void> serve(const HostOptions& options) {
  SJ_TRY(address, host::find_address(options.serve, true));
  SJ_TRY(listening, host::listen_at(address));
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const base::Fd stop(signalfd(-1, &signals, SFD_CLOEXEC));
  if (!stop) return fail_errno("watch for interrupts");
  const std::string at = host::local_address(listening).text();
  tell("answers at {} until it is interrupted; on the other machine: sojourn host --peer {}\n", at,
       at);
  return host::serve(listening, stop);
}

Result<void> measure(const HostOptions& options) {
  host::SurveyOptions how;
  how.form = options.quick ? host::Form::kQuick : host::Form::kFull;
  if (!options.only.empty()) how.only = split_list(options.only);
  how.directory = options.directory;
  how.other_directory = options.other;
  how.peer = options.peer;
  how.tool = "sojourn " SOJOURN_VERSION;
  const bool is_terminal = isatty(STDERR_FILENO) == 1;
  const host::HostProfile profile = host::survey(how, [&](std::string_view group) {
    if (is_terminal) tell("\r\x1b[Kmeasures {}", group);
  });
  if (is_terminal) tell("\r\x1b[K");
  if (options.only.empty() && options.peer.empty())
    if (const auto kept = host::write_cached(host::cache_path(), profile, profile.measured_at_s);
        !kept)
      tell("not kept for `sojourn record`: {}\n", kept.error().text());
  fmt::print(
      "{}", options.json ? host::to_json_text(profile) : present::host_text(profile, line_width()));
  return {};
}

void check(const HostOptions& options) {
  if (options.is_diff()) {
    if (options.words.front() != "diff" || options.words.size() != 3)
      refuse_usage("the only words are diff BEFORE.json AFTER.json");
    if (options.quick || !options.only.empty() || !options.peer.empty() || !options.serve.empty())
      refuse_usage("diff measures nothing: no --quick, --only, --peer or --serve");
  }
  if (!options.serve.empty() &&
      (options.quick || options.json || !options.only.empty() || !options.peer.empty()))
    refuse_usage("--serve only answers: no --quick, --json, --only or --peer");
  const auto known = host::group_names();
  if (!options.only.empty())
    for (const std::string& word : split_list(options.only))
      if (std::ranges::find(known, word) == known.end())
        refuse_usage(fmt::format("--only: \"{}\" is not one of {}", word, fmt::join(known, ", ")));
  const auto is_measured = [&](const std::string& group) {
    const auto words = split_list(options.only);
    return options.only.empty() || std::ranges::find(words, group) != words.end();
  };
  if (!options.peer.empty() && !is_measured("network"))
    refuse_usage("--peer is a measurement of the network: --only has to name it");
  if (!options.other.empty() && !is_measured("files"))
    refuse_usage("--other is a measurement of files: --only has to name them");
}

}  // namespace

Action define_host(Arguments& arguments) {
  auto options = std::make_shared<HostOptions>();
  arguments
      .add_option("diff", options->words,
                  "The word diff and two files: compare what was measured. Several runs of a side "
                  "with commas between them, e.g. a1.json,a2.json")
      .type_name("BEFORE AFTER");
  arguments.add_flag(
      "--quick", options->quick,
      "Less than 15 seconds instead of up to 5 minutes: fewer samples, smaller files");
  arguments
      .add_option("--only", options->only,
                  fmt::format("Only these groups, with commas between them: {}",
                              fmt::join(host::group_names(), ", ")))
      .type_name("GROUP,...");
  arguments.add_flag("--json", options->json, "One JSON object instead of text");
  arguments
      .add_option("--directory", options->directory,
                  "Where files are read and written; they have no name and are gone at the end")
      .type_name("PATH")
      .capture_default_str();
  arguments
      .add_option("--other", options->other,
                  "Also measure files there, on another file system or a network mount, and what "
                  "each block costs more")
      .type_name("PATH");
  arguments
      .add_option("--peer", options->peer,
                  "Also measure the network to this machine, where `sojourn host --serve` runs")
      .type_name("HOST:PORT");
  arguments
      .add_option("--serve", options->serve,
                  "Be the other end of --peer, at this address, until interrupted. Whoever reaches "
                  "the port can make this machine receive data and throw it away")
      .type_name("HOST:PORT");
  arguments.when_parsed([options] { check(*options); });
  arguments.footer(
      "hardware    what the processor or a device takes, estimated from costs below it\n"
      "software    what the kernel and libraries add, estimated\n"
      "predicted   both together\n"
      "measured    the median; mean and stdev are without the lowest and the highest tenth\n"
      "deviation   measured against predicted; from a half on with the reason, where one is known\n"
      "UNSTABLE    the samples spread or drift too much to be relied on\n"
      "disturbed   what else went on: steal, other processes, a changing frequency\n"
      "\n"
      "Files, memory and time are bounded. Probes are put on child processes of its own. Measure "
      "while the machine has nothing else to do: it loads one or two CPUs.\n"
      "`sojourn record` keeps what was measured in its traces, and `sojourn explain` says which "
      "hops are as fast as the machine allows.\n"
      "\n"
      "Examples:\n"
      "  sojourn host --quick\n"
      "  sojourn host --only memory,cores --json > before.json\n"
      "  sojourn host diff before.json after.json\n"
      "\n"
      "docs/host.md says how each is measured.");
  return [options] {
    if (options->is_diff()) return diff(*options);
    return options->serve.empty() ? measure(*options) : serve(*options);
  };
}

}  // namespace sojourn::cli
