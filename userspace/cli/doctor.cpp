// `sojourn doctor`: what will work on this machine, before anything is attached.
#include <memory>

#include <fmt/core.h>

#include "userspace/cli/command.h"
#include "userspace/doctor/host_answers.h"
#include "userspace/doctor/host_checks.h"
#include "userspace/doctor/host_facts.h"
#include "userspace/doctor/print.h"

namespace sojourn::cli {

namespace {

struct Options {
  bool json = false;
};

Result<void> doctor(const Options& options) {
  const doctor::Diagnosis diagnosis = doctor::judge_host(doctor::read_host({}), doctor::ask_host());
  if (options.json)
    fmt::print("{}\n", doctor::to_json(diagnosis).dump(
                           2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  else
    fmt::print("{}", doctor::to_text(diagnosis));
  if (!diagnosis.ways.any()) return fail("recording will not work here");
  return {};
}

}  // namespace

Action define_doctor(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_flag("--json", options->json, "One JSON object instead of text");
  app.footer(
      "Each line says pass, degraded or no, and what to do about it. Probes are tried on processes "
      "of its own; no other process is touched.\n\n"
      "Exit code 0: recording will work; 1: it will not.");
  return [options] { return doctor(*options); };
}

}  // namespace sojourn::cli
