#include "userspace/host/device_reader.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::host {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string module_kind(unsigned char number) {
  static const std::map<unsigned char, std::string> kinds = {{0x14, "DDR2"}, {0x18, "DDR3"},
                                                             {0x1a, "DDR4"}, {0x1e, "LPDDR4"},
                                                             {0x22, "DDR5"}, {0x23, "LPDDR5"}};
  const auto found = kinds.find(number);
  return found == kinds.end() ? std::string() : found->second;
}

MachineFact memory_fact(const MachineRoots& roots) {
  MachineFact fact{.id = "memory.bus", .name = "memory's clock and bus", .value = {}, .source = {}};
  const std::string path = roots.sys + "/firmware/dmi/tables/DMI";
  fact.source = path;
  const auto table = tracee::read_whole(path);
  if (!table) {
    fact.source = "no firmware table: " + table.error().text();
    return fact;
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(table->data());
  const auto modules = parse_dmi_modules({bytes, table->size()});
  std::map<std::string, std::size_t> counts;
  for (const MemoryModule& module : modules) {
    std::string words = module.kind.empty() ? "module" : module.kind;
    if (module.rate_mts != 0) words += fmt::format(" at {} MT/s", module.rate_mts);
    if (module.bits != 0) words += fmt::format(", {} bits wide", module.bits);
    ++counts[words];
  }
  for (const auto& [words, count] : counts)
    fact.value += fmt::format("{}{} x {}", fact.value.empty() ? "" : "; ", count, words);
  if (fact.value.empty()) fact.source += " has no module in it";
  return fact;
}

bool is_real_disk(const std::string& name) {
  return std::ranges::none_of(std::initializer_list<std::string_view>{"loop", "ram", "zram", "dm-"},
                              [&](std::string_view prefix) { return name.starts_with(prefix); });
}

MachineFact disk_fact(const std::string& folder, const std::string& name) {
  const std::string disk = folder + "/" + name;
  std::string value;
  const auto sectors = tracee::parse_number(read_line_below(disk + "/size"));
  if (sectors && *sectors != 0)
    value = fmt::format("{:.0f} GB", static_cast<double>(*sectors) * 512 / 1e9);
  const std::string model = read_line_below(disk + "/device/model");
  if (!model.empty()) value += (value.empty() ? "" : ", ") + model;
  const std::string turns = read_line_below(disk + "/queue/rotational");
  if (turns == "1") value += ", says that it rotates";
  if (turns == "0") value += ", does not rotate";
  const std::string link = read_line_below(disk + "/device/device/current_link_speed");
  value += link.empty() ? ", nominal speed not told" : ", link of " + link;
  if (value.starts_with(", ")) value.erase(0, 2);
  return {.id = "disk." + name, .name = "disk " + name, .value = value, .source = disk};
}

MachineFact card_fact(const std::string& folder, const std::string& name) {
  const std::string card = folder + "/" + name;
  const auto speed = tracee::parse_number(read_line_below(card + "/speed"));  // not of "-1"
  std::string value = speed && *speed != 0 && *speed < 10'000'000
                          ? fmt::format("{} Mbit/s", *speed)
                          : std::string("nominal speed not told");
  std::error_code missing;
  const fs::path driver = fs::read_symlink(card + "/device/driver", missing);
  if (!missing) value += ", driver " + driver.filename().string();
  const std::string state = read_line_below(card + "/operstate");
  if (!state.empty()) value += ", " + state;
  return {.id = "net." + name, .name = "network card " + name, .value = value, .source = card};
}

}  // namespace

std::vector<MemoryModule> parse_dmi_modules(std::span<const unsigned char> table) {
  constexpr std::size_t kHeader = 4;
  constexpr unsigned char kMemoryDevice = 17;
  constexpr unsigned char kEnd = 127;
  std::vector<MemoryModule> modules;
  while (table.size() >= kHeader) {
    const std::size_t length = table[1];
    if (length < kHeader || length > table.size() || table[0] == kEnd) break;
    const auto entry = table.first(length);
    const auto word = [&](std::size_t at) -> std::uint32_t {
      return at + 1 < entry.size() ? entry[at] | static_cast<std::uint32_t>(entry[at + 1]) << 8 : 0;
    };
    const auto known = [](std::uint32_t value) { return value == 0xffff ? 0 : value; };
    if (entry[0] == kMemoryDevice && known(word(0x0c)) != 0) {
      const std::uint32_t configured = known(word(0x20));
      modules.push_back({.kind = entry.size() > 0x12 ? module_kind(entry[0x12]) : std::string(),
                         .rate_mts = configured != 0 ? configured : known(word(0x15)),
                         .bits = known(word(0x0a))});
    }
    // The strings follow, each ended by a zero byte; the last one is ended by two.
    std::size_t at = length;
    while (at + 1 < table.size() && (table[at] != 0 || table[at + 1] != 0)) ++at;
    table = table.subspan(std::min(at + 2, table.size()));
  }
  return modules;
}

std::vector<MachineFact> read_devices(const MachineRoots& roots) {
  std::vector<MachineFact> facts = {memory_fact(roots)};
  const std::string disks = roots.sys + "/block";
  for (const std::string& name : names_in(disks))
    if (is_real_disk(name)) facts.push_back(disk_fact(disks, name));
  const std::string cards = roots.sys + "/class/net";
  for (const std::string& name : names_in(cards))
    if (name != "lo") facts.push_back(card_fact(cards, name));
  return facts;
}

}  // namespace sojourn::host
