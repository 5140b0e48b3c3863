#include "userspace/capture/energy/energy_tree.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "analysis/base/result.h"
#include "userspace/tracee/cpu_list.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

constexpr double kMicrojoulesPerJoule = 1e6;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  const auto from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

// Empty if it cannot be read.
std::string line_of(const std::string& path) {
  const auto text = tracee::read_whole(path);
  return text ? std::string(trimmed(*text)) : std::string();
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  return tracee::parse_number(line_of(path));
}

// "intel-rapl:2" before "intel-rapl:10".
bool is_before(const std::string& left, const std::string& right) {
  const auto digits = [](std::string_view text, std::size_t at) {
    return std::min(text.find_first_not_of("0123456789", at), text.size()) - at;
  };
  for (std::size_t l = 0, r = 0; l < left.size() && r < right.size();) {
    const std::size_t of_left = digits(left, l);
    const std::size_t of_right = digits(right, r);
    if (of_left != 0 && of_right != 0 && of_left != of_right) return of_left < of_right;
    if (left[l] != right[r]) return left[l] < right[r];
    ++l;
    ++r;
  }
  return left.size() < right.size();
}

// The names in a folder, numbers in them in their order; empty where there is no such folder.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed))
    names.push_back(at->path().filename().string());
  std::ranges::sort(names, is_before);
  return names;
}

// Reads one machine's files into an EnergyTree.
class TreeReader {
 public:
  explicit TreeReader(const std::string& sys) : sys_(sys) {}

  EnergyTree read() && {
    add_powercap();
    add_power_events();
    add_frequencies();
    add_idle_states();
    return std::move(tree_);
  }

 private:
  void lacks(const char* what, std::string why) {
    tree_.missing.push_back({.host = {}, .what = what, .why = std::move(why)});
  }

  std::uint32_t next_zone() const {
    return static_cast<std::uint32_t>(tree_.zones.size() + tree_.events.size());
  }

  void add_powercap();
  void add_zone(const std::string& folder, const std::string& place);
  void add_power_events();
  void add_events_of(const std::string& unit);
  void add_event(const std::string& unit, const std::string& name, std::uint32_t type);
  std::string package_of(std::uint32_t cpu, const std::vector<std::uint32_t>& cpus) const;
  void add_frequencies();
  void add_idle_states();

  std::string sys_;
  EnergyTree tree_;
};

void TreeReader::add_powercap() {
  const std::string folder = sys_ + "/class/powercap";
  for (const std::string& place : names_in(folder))
    if (place.find(':') != std::string::npos) add_zone(folder, place);
  if (tree_.zones.empty())
    lacks("powercap", folder +
                          " has no zones of energy: a virtual machine has none, nor has a "
                          "kernel without intel_rapl");
}

// A zone's name says its domain; its parent is the zone above it in the tree.
void TreeReader::add_zone(const std::string& folder, const std::string& place) {
  const std::string zone = folder + "/" + place;
  std::error_code failed;
  if (!std::filesystem::exists(zone + "/energy_uj", failed)) return;  // power only, as dtpm has
  PowercapZone& one = tree_.zones.emplace_back(
      PowercapZone{.path = zone + "/energy_uj", .about = {.id = next_zone()}});
  one.about.source = "powercap";
  one.about.place = place;
  one.about.name = line_of(zone + "/name");
  const auto colon = place.rfind(':');
  const std::string parent = place.substr(0, colon);
  if (parent.find(':') != std::string::npos)
    one.about.package = line_of(folder + "/" + parent + "/name");
  else if (one.about.name.starts_with("package-"))
    one.about.package = one.about.name;
  const auto range = number_in(zone + "/max_energy_range_uj");
  if (one.about.name.empty())
    one.about.missing = "it has no name";
  else if (!range || *range == 0)
    one.about.missing = "it does not say when its counter wraps (max_energy_range_uj)";
  one.about.range = range.value_or(0);
}

void TreeReader::add_power_events() {
  const std::size_t before = tree_.events.size();
  for (const char* const unit : {"power", "power_core"}) add_events_of(unit);
  if (tree_.events.size() == before)
    lacks("perf", sys_ + "/bus/event_source/devices/power has no events of energy");
}

void TreeReader::add_events_of(const std::string& unit) {
  const std::string folder = sys_ + "/bus/event_source/devices/" + unit;
  const auto type = number_in(folder + "/type");
  if (!type) return;
  for (const std::string& name : names_in(folder + "/events"))
    if (name.starts_with("energy-") && name.find('.') == std::string::npos)
      add_event(unit, name, static_cast<std::uint32_t>(*type));
}

// The value of "event=0x02", in the bits that `format` says: "config:0-7".
std::optional<std::uint64_t> config_of(std::string_view event, std::string_view format) {
  constexpr std::string_view kTerm = "event=";
  constexpr std::string_view kConfig = "config:";
  if (!event.starts_with(kTerm) || !format.starts_with(kConfig)) return std::nullopt;
  event.remove_prefix(kTerm.size());
  format.remove_prefix(kConfig.size());
  const bool is_hex = event.starts_with("0x");
  const auto value = tracee::parse_number(event.substr(is_hex ? 2 : 0), is_hex ? 16 : 10);
  const auto low = tracee::parse_number(format.substr(0, format.find('-')));
  if (!value || !low || *low >= 64) return std::nullopt;
  return *value << *low;
}

std::optional<double> scale_of(const std::string& text) {
  double scale = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), scale);
  if (code != std::errc() || rest != text.data() + text.size() || !(scale > 0)) return std::nullopt;
  return scale;
}

void TreeReader::add_event(const std::string& unit, const std::string& name, std::uint32_t type) {
  const std::string folder = sys_ + "/bus/event_source/devices/" + unit;
  const std::string event = folder + "/events/" + name;
  const auto config = config_of(line_of(event), line_of(folder + "/format/event"));
  const auto scale = scale_of(line_of(event + ".scale"));
  const auto cpus = tracee::parse_cpu_list(line_of(folder + "/cpumask"));
  std::string missing;
  if (!config)
    missing = "its event is in no known form";
  else if (!scale || line_of(event + ".unit") != "Joules")
    missing = "it does not say how many joules a count is";
  else if (cpus.empty())
    missing = "it does not say on which CPU it is counted (cpumask)";
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"energy-pkg", ""},     {"energy-cores", "core"}, {"energy-core", "core"},
      {"energy-ram", "dram"}, {"energy-gpu", "uncore"}, {"energy-psys", "psys"}};
  const auto* const known = std::ranges::find(
      kNames, std::string_view(name), &std::pair<std::string_view, std::string_view>::first);
  for (const std::uint32_t cpu : cpus.empty() ? std::vector<std::uint32_t>{0} : cpus) {
    PowerEvent& one = tree_.events.emplace_back(PowerEvent{.type = type,
                                                           .config = config.value_or(0),
                                                           .cpu = static_cast<int>(cpu),
                                                           .about = {.id = next_zone()}});
    one.unit_uj = scale.value_or(0) * kMicrojoulesPerJoule;
    one.about.source = "perf";
    one.about.place = fmt::format("{}/{} on cpu {}", unit, name, cpu);
    one.about.missing = missing;
    const std::string package = package_of(cpu, cpus);
    const std::string_view what =
        known == std::end(kNames) ? std::string_view(name).substr(7) : known->second;
    one.about.name = what.empty() ? package : what;
    if (what != "psys") one.about.package = package;
  }
}

// Returns the name that powercap uses: with the die if a package has several. Such packages are
// counted by die.
std::string TreeReader::package_of(std::uint32_t cpu,
                                   const std::vector<std::uint32_t>& cpus) const {
  const auto id_of = [this](std::uint32_t one, const char* what) {
    return number_in(fmt::format("{}/devices/system/cpu/cpu{}/topology/{}", sys_, one, what))
        .value_or(0);
  };
  const std::uint64_t package = id_of(cpu, "physical_package_id");
  const std::uint64_t die = id_of(cpu, "die_id");
  const bool has_dies = std::ranges::any_of(cpus, [&](std::uint32_t other) {
    return id_of(other, "physical_package_id") == package && id_of(other, "die_id") != die;
  });
  return has_dies ? fmt::format("package-{}-die-{}", package, die)
                  : fmt::format("package-{}", package);
}

void TreeReader::add_frequencies() {
  const std::string folder = sys_ + "/devices/system/cpu/cpufreq";
  for (const std::string& name : names_in(folder)) {
    const std::string policy = folder + "/" + name + "/";
    if (!name.starts_with("policy") || !number_in(policy + "scaling_cur_freq")) continue;
    FrequencyFile& one = tree_.frequencies.emplace_back();
    one.path = policy + "scaling_cur_freq";
    one.about = {.id = static_cast<std::uint32_t>(tree_.frequencies.size() - 1),
                 .host = {},
                 .cpus = line_of(policy + "affected_cpus"),
                 .governor = line_of(policy + "scaling_governor"),
                 .least_khz = number_in(policy + "scaling_min_freq").value_or(0),
                 .most_khz = number_in(policy + "scaling_max_freq").value_or(0)};
  }
  if (tree_.frequencies.empty())
    lacks("frequency", folder + " has no policies: a virtual machine does not set its frequency");
}

void TreeReader::add_idle_states() {
  const std::string folder = sys_ + "/devices/system/cpu";
  for (const std::string& cpu : names_in(folder)) {
    if (!cpu.starts_with("cpu") || !tracee::parse_number(std::string_view(cpu).substr(3))) continue;
    for (const std::string& state : names_in(folder + "/" + cpu + "/cpuidle")) {
      const std::string one = folder + "/" + cpu + "/cpuidle/" + state;
      const std::string name = line_of(one + "/name");
      if (name.empty() || !number_in(one + "/time")) continue;
      auto known = std::ranges::find(tree_.idle, name,
                                     [](const IdleFiles& files) { return files.about.name; });
      if (known == tree_.idle.end())
        known = tree_.idle.insert(
            known, {.paths = {},
                    .about = {.id = static_cast<std::uint32_t>(tree_.idle.size()), .name = name}});
      known->paths.push_back(one + "/time");
      ++known->about.cpus;
    }
  }
  if (tree_.idle.empty())
    lacks("idle", folder + "/cpu*/cpuidle has no states: a virtual machine mostly has none");
}

}  // namespace

EnergyTree read_energy_tree(const std::string& sys) {
  return TreeReader(sys).read();
}

}  // namespace sojourn::capture
