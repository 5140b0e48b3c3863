// `sojourn doctor`: what will work on this machine, before anything is attached.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "userspace/cli/checks.h"
#include "userspace/cli/live/first_screen.h"
#include "userspace/cli/live/live_commands.h"
#include "userspace/doctor/diagnosis_text.h"
#include "userspace/doctor/host_answers.h"
#include "userspace/doctor/host_checks.h"
#include "userspace/doctor/host_facts.h"
#include "userspace/doctor/target_checks.h"
#include "userspace/doctor/target_inspection.h"
#include "userspace/tracee/process.h"

namespace sojourn::cli {

namespace {

constexpr auto kTargetWatch = std::chrono::milliseconds(500);

struct DoctorOptions {
  pid_t pid = 0;
  bool json = false;
};

Result<void> doctor(const DoctorOptions& options) {
  // Opened first, so that a wrong pid is reported at once.
  std::optional<tracee::Process> process;
  if (options.pid != 0) {
    SJ_TRY(opened, tracee::Process::open(options.pid));
    process = std::move(opened);
  }
  const doctor::HostFacts facts = doctor::read_host({});
  std::optional<doctor::MachineOverview> surroundings;
  if (!process) {
    SJ_TRY(around, look_around(facts));
    surroundings = std::move(around);
  }
  const doctor::HostAnswers answers = doctor::ask_host();
  doctor::Diagnosis diagnosis = doctor::judge_host(facts, answers);
  std::string points;
  if (process) {
    SJ_TRY(look, doctor::inspect_target(*process, answers, kTargetWatch));
    doctor::judge_target(look, diagnosis);
    points = doctor::points_text(look);
  }
  if (options.json) {
    auto json = doctor::to_json(diagnosis);
    if (surroundings) json["processes"] = doctor::traceable_json(*surroundings);
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("{}{}", doctor::to_text(diagnosis), points);
    if (surroundings) fmt::print("\n{}", doctor::traceable_text(*surroundings));
  }
  if (!diagnosis.ways.any()) return fail("recording will not work here");
  return {};
}

}  // namespace

Action define_doctor(Arguments& arguments) {
  auto options = std::make_shared<DoctorOptions>();
  arguments
      .add_option("-p,--pid", options->pid,
                  "Also look at this process for half a second: its points, how often they are "
                  "hit, and what recording them will cost")
      .check(check_process_id)
      .type_name("PID");
  arguments.add_flag("--json", options->json, "One JSON object instead of text");
  arguments.footer(
      "Each line says pass, degraded or no, and what to do about it. Without -p, the processes "
      "that can be traced follow. Probes are tried on child processes of sojourn itself: no "
      "process but that of -p is touched.\n"
      "\n"
      "Exit code 0: recording will work; 1: it will not.");
  return [options] { return doctor(*options); };
}

}  // namespace sojourn::cli
