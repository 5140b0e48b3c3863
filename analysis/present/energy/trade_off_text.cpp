#include "analysis/present/energy/trade_off_text.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/energy/trade_off.h"
#include "analysis/present/energy/energy_text.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

constexpr std::string_view kDirectionLetters = "DU";

// By direction and run.
using BestRuns = std::array<std::vector<bool>, 2>;

std::optional<double> latency_of(const EnergyOfRun& run, std::size_t direction,
                                 const ComparedBy& by) {
  const statistics::Distribution& latency_ns = run.latency_ns[direction];
  if (latency_ns.count() == 0) return std::nullopt;
  return by.quantile ? static_cast<double>(latency_ns.quantile(*by.quantile)) : latency_ns.mean();
}

BestRuns best_of(std::span<const EnergyOfRun> runs, const ComparedBy& by) {
  BestRuns best;
  for (std::size_t direction = 0; direction < best.size(); ++direction) {
    std::vector<energy::Choice> choices;
    choices.reserve(runs.size());
    for (const EnergyOfRun& run : runs)
      choices.push_back(
          {.joules = run.packets.joules, .latency_ns = latency_of(run, direction, by)});
    best[direction] = energy::pareto_set(choices);
  }
  return best;
}

std::string setting_of(const EnergyOfRun& run) {
  return run.figures ? frequency_setting(run.figures->policies) : "-";
}

std::string why_not_measured(const EnergyOfRun& run) {
  return run.figures ? run.figures->why_not : std::string(kNoEnergyRecorded);
}

// The directions that any run has packets of.
std::vector<std::size_t> directions_of(std::span<const EnergyOfRun> runs) {
  std::vector<std::size_t> directions;
  for (std::size_t direction = 0; direction < kDirectionLetters.size(); ++direction)
    for (const EnergyOfRun& run : runs)
      if (run.latency_ns[direction].count() != 0) {
        directions.push_back(direction);
        break;
      }
  return directions;
}

std::string best_cell(const BestRuns& best, std::size_t run) {
  std::string cell;
  for (std::size_t direction = 0; direction < best.size(); ++direction)
    if (best[direction][run]) {
      if (!cell.empty()) cell += ' ';
      cell += kDirectionLetters[direction];
    }
  return cell;
}

}  // namespace

std::string trade_off_text(std::span<const EnergyOfRun> runs, const ComparedBy& by,
                           std::size_t width) {
  const std::vector<std::size_t> directions = directions_of(runs);
  std::vector<std::string> head = {"run", "frequency", "watts", "packets", "a packet"};
  for (const std::size_t direction : directions) {
    head.push_back(fmt::format("{} {}", kDirectionLetters[direction], by.name));
    head.push_back(fmt::format("{} E*T^2", kDirectionLetters[direction]));
  }
  head.emplace_back("best");
  Table table(head);
  table.left(1);
  table.left(head.size() - 1);
  const BestRuns best = best_of(runs, by);
  std::string notes;
  for (std::size_t at = 0; at < runs.size(); ++at) {
    const EnergyOfRun& run = runs[at];
    const bool is_measured = run.figures && run.figures->watts;
    std::vector<std::string> cells = {
        printable(run.path), setting_of(run),
        is_measured ? scaled(*run.figures->watts, "W") : "not measured", count(run.packets.packets),
        run.packets.joules ? scaled(*run.packets.joules, "J") : "not measured"};
    for (const std::size_t direction : directions) {
      const auto latency = latency_of(run, direction, by);
      const auto& one = run.packets.directions[direction];
      cells.push_back(latency ? duration(*latency) : "-");
      cells.push_back(one.energy_delay_2 ? fmt::format("{:.3g}", *one.energy_delay_2) : "-");
    }
    cells.push_back(best_cell(best, at));
    table.row(std::move(cells));
    if (!is_measured)
      notes += wrapped(fmt::format("energy not measured: {}: {}", printable(run.path),
                                   printable(why_not_measured(run))),
                       2, width) +
               "\n";
  }
  return table.text(width) + notes;
}

nlohmann::ordered_json trade_off_json(std::span<const EnergyOfRun> runs, const ComparedBy& by) {
  const BestRuns best = best_of(runs, by);
  auto list = nlohmann::ordered_json::array();
  for (std::size_t at = 0; at < runs.size(); ++at) {
    const EnergyOfRun& run = runs[at];
    nlohmann::ordered_json energy;
    if (run.figures) {
      const EnergyContent content = {.figures = *run.figures, .packets = run.packets};
      energy = energy_json(&content);
    } else {
      energy = energy_json(nullptr);
    }
    nlohmann::ordered_json latency;
    nlohmann::ordered_json is_best;
    for (std::size_t direction = 0; direction < kDirectionLetters.size(); ++direction) {
      const std::string letter(1, kDirectionLetters[direction]);
      const auto ns = latency_of(run, direction, by);
      latency[letter] = ns ? nlohmann::ordered_json(*ns / 1e3) : nlohmann::ordered_json();
      is_best[letter] = static_cast<bool>(best[direction][at]);
    }
    list.push_back({{"path", run.path},
                    {"setting", setting_of(run)},
                    {"latency_us", std::move(latency)},
                    {"best", std::move(is_best)},
                    {"energy", std::move(energy)}});
  }
  return {{"compared_by", by.name}, {"runs", std::move(list)}};
}

}  // namespace sojourn::present
