#include "analysis/queues/queue_names.h"

#include <algorithm>

#include <fmt/format.h>

namespace sojourn::queues {

std::string place_text(const journeys::Topology& topology, std::uint16_t place) {
  return fmt::format("{} {}", letter(topology.places[place].direction),
                     topology.places[place].name);
}

std::string thread_name(const ThreadNames& threads, std::uint32_t tid) {
  const auto known = threads.find(tid);
  return known == threads.end() ? std::string() : known->second;
}

std::string main_thread(const std::map<std::uint32_t, std::uint64_t>& units,
                        const ThreadNames& threads) {
  const auto most = std::ranges::max_element(units, {}, [](const auto& one) { return one.second; });
  if (most == units.end() || most->first == 0) return {};
  const std::string name = thread_name(threads, most->first);
  return name.empty() ? fmt::format("thread {}", most->first) : name;
}

}  // namespace sojourn::queues
