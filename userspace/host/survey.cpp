#include "userspace/host/survey.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>

#include "analysis/host/predictions.h"
#include "userspace/host/disturbance.h"
#include "userspace/host/file_costs.h"
#include "userspace/host/network_costs.h"
#include "userspace/host/subjects.h"

namespace sojourn::host {

namespace {

struct Group {
  std::string_view name;
  void (*measure)(Bench& bench);
  bool is_in_brief;
};

// Groups that others subtract, or are predicted from, come first.
constexpr std::array kGroups = {
    Group{"clocks", measure_clocks, true},        Group{"calls", measure_calls, true},
    Group{"processes", measure_processes, false}, Group{"switches", measure_switches, true},
    Group{"cores", measure_cores, true},          Group{"memory", measure_memory, false},
    Group{"faults", measure_faults, false},       Group{"files", measure_files, false},
    Group{"network", measure_network, false},     Group{"probes", measure_probes, false},
};

bool is_wanted(const SurveyOptions& options, const Group& group) {
  if (!options.only.empty())
    return std::ranges::find(options.only, group.name) != options.only.end();
  return options.form != Form::kBrief || group.is_in_brief;
}

void add_conditions(const Placement& placement, HostProfile& profile) {
  const auto add = [&](std::string id, std::string name, std::string value) {
    profile.facts.push_back({std::move(id), std::move(name), std::move(value), "this run"});
  };
  add("run.cpus", "measured on",
      placement.partner()
          ? fmt::format("CPU {}, with CPU {}{}", placement.home(), *placement.partner(),
                        placement.partner_shares_core() ? " of the same core" : "")
          : fmt::format("CPU {}", placement.home()));
  add("run.priority", "priority", placement.priority());
  if (const Measurement* const cycle = profile.find("clocks.cycle"); cycle != nullptr)
    add("freq.measured", "frequency, measured",
        fmt::format("{:.0f} MHz", 1000 / cycle->measured.median));
}

}  // namespace

std::vector<std::string> group_names() {
  std::vector<std::string> names;
  names.reserve(kGroups.size());
  for (const Group& group : kGroups) names.emplace_back(group.name);
  return names;
}

HostProfile survey(const SurveyOptions& options,
                   const std::function<void(std::string_view group)>& tell) {
  HostProfile profile;
  profile.tool = options.tool;
  profile.form = name(options.form);
  profile.boot_id = read_line_below(options.roots.proc + "/sys/kernel/random/boot_id");
  profile.measured_at_s = static_cast<std::uint64_t>(std::time(nullptr));
  const std::uint64_t begin = base::monotonic_ns();
  const Cpuid cpuid = Cpuid::of_this_machine();
  const CpuLayout layout = read_layout(options.roots);
  if (options.form != Form::kBrief) profile.facts = read_machine(options.roots, cpuid);
  {
    const Placement placement(layout, options.raises_priority && options.form != Form::kBrief);
    const DisturbanceWatch watch(options.roots, placement);
    Bench bench(options.form, placement, options.roots, cpuid, options.directory, profile);
    for (const Group& group : kGroups) {
      if (!is_wanted(options, group)) continue;
      tell(group.name);
      bench.enter_group(std::string(group.name));
      group.measure(bench);
      placement.go_home();
      if (group.name == "files" && !options.other_directory.empty())
        measure_other_directory(bench, options.other_directory);
      if (group.name == "network" && !options.peer.empty()) measure_peer(bench, options.peer);
    }
    profile.warnings = watch.warnings();
    add_conditions(placement, profile);
  }
  predict(profile);
  profile.took_s = static_cast<double>(base::monotonic_ns() - begin) / 1e9;
  return profile;
}

}  // namespace sojourn::host
