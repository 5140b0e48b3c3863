#include "userspace/tracee/cpu_list.h"

#include <algorithm>

#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

std::vector<std::uint32_t> parse_cpu_list(std::string_view text) {
  constexpr std::uint64_t kMostCpus = 8192;
  std::vector<std::uint32_t> cpus;
  if (text.empty()) return cpus;
  for (const std::string_view part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMostCpus) return {};
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<std::uint32_t>(cpu));
  }
  std::ranges::sort(cpus);
  cpus.erase(std::ranges::unique(cpus).begin(), cpus.end());
  return cpus;
}

}  // namespace sojourn::tracee
