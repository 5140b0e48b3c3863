// For tests/bench/tracing-cost.
//   tracing-cost-tool trace TRUTH FILE       the station's own record, as a trace
//   tracing-cost-tool table MODE=REPORT ...  `sojourn report --json` of several rounds of each
//                                            mode, the first being the truth, side by side
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "tests/support/truth_trace.h"

namespace sojourn {
namespace {

Result<void> make_trace(const std::string& from, const std::string& to) {
  SJ_TRY(truth, truth::read_truth(from));
  return test::write_as_trace(truth, to);
}

using Json = nlohmann::json;

struct Cell {
  std::vector<double> measured;  // by round, in microseconds
  std::vector<double> net;
};

double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// The distance between rounds of the same kind, to either side.
double spread(const std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto [least, most] = std::ranges::minmax(values);
  return (most - least) / 2;
}

constexpr std::array<const char*, 2> kQuantiles = {"p50", "p99"};

// By row and quantile, then by mode.
using Rows = std::map<std::pair<std::string, std::string>, std::map<std::string, Cell>>;

void add(const std::string& mode, const std::string& name, const Json& row, Rows& rows) {
  constexpr std::uint64_t kEnough = 500;
  if (!row.contains("latency_us") || row.at("latency_us").is_null()) return;
  const std::uint64_t samples = row.contains("complete") ? row.at("complete").get<std::uint64_t>()
                                                         : row.at("count").get<std::uint64_t>();
  if (samples < kEnough) return;
  for (const char* const quantile : kQuantiles) {
    Cell& cell = rows[{name, quantile}][mode];
    cell.measured.push_back(row.at("latency_us").at(quantile).get<double>());
    const Json& net =
        row.contains("net_latency_us") ? row.at("net_latency_us") : row.at("latency_us");
    cell.net.push_back(net.at(quantile).get<double>());
  }
}

int make_table(std::span<char* const> arguments) {
  std::vector<std::string> modes;
  Rows rows;
  for (const std::string_view argument : arguments) {
    const std::size_t at = argument.find('=');
    if (at == std::string_view::npos) return 2;
    const std::string mode(argument.substr(0, at));
    if (std::ranges::find(modes, mode) == modes.end()) modes.push_back(mode);
    std::ifstream file{std::string(argument.substr(at + 1))};
    const Json report = Json::parse(file, nullptr, false);
    if (report.is_discarded()) {
      fmt::print(stderr, "{}: no report\n", argument);
      return 1;
    }
    for (const char* const direction : {"D", "U"})
      add(mode, fmt::format("{} journeys", direction), report.at("journeys").at(direction), rows);
    for (const Json& hop : report.at("hops"))
      add(mode,
          fmt::format("{} {}: {} -> {}", hop.at("dir").get<std::string>(),
                      hop.at("at").get<std::string>(), hop.at("from").get<std::string>(),
                      hop.at("to").get<std::string>()),
          hop, rows);
  }
  fmt::print("{:<44} {:>4} {:>10}", "us", "", modes.front());
  for (std::size_t mode = 1; mode < modes.size(); ++mode) fmt::print(" {:>28}", modes[mode]);
  fmt::print("\n");
  std::map<std::string, std::array<std::size_t, 3>> counts;  // by mode: rows, near as measured, net
  for (const auto& [name, by_mode] : rows) {
    const auto truth = by_mode.find(modes.front());
    if (truth == by_mode.end()) continue;
    const double true_us = median(truth->second.measured);
    fmt::print("{:<44} {:>4} {:>10.2f}", name.first, name.second, true_us);
    for (std::size_t mode = 1; mode < modes.size(); ++mode) {
      const auto found = by_mode.find(modes[mode]);
      if (found == by_mode.end()) {
        fmt::print(" {:>28}", "-");
        continue;
      }
      const double measured_us = median(found->second.measured);
      const double net_us = median(found->second.net);
      // The error in docs/tracing-cost.md: most of the subtracted time, and the rounds' own spread.
      const double error_us = 0.7 * (measured_us - net_us) + spread(truth->second.measured) +
                              spread(found->second.net) + 0.05;
      const bool is_near = std::abs(net_us - true_us) <= error_us;
      auto& [all, near_measured, near_net] = counts[modes[mode]];
      ++all;
      near_measured += std::abs(measured_us - true_us) <= error_us ? 1 : 0;
      near_net += is_near ? 1 : 0;
      fmt::print(" {:>10.2f} net {:>8.2f}{} {:>+4.0f}%", measured_us, net_us, is_near ? ' ' : '!',
                 100 * (net_us - true_us) / std::max(true_us, 1e-3));
    }
    fmt::print("\n");
  }
  for (const auto& [mode, of] : counts)
    fmt::print("{}: of {} rows {} are within the error net, {} as measured\n", mode, of[0], of[2],
               of[1]);
  return 0;
}

int run(std::span<char* const> arguments) {
  if (arguments.size() == 3 && std::string_view(arguments[0]) == "trace") {
    const auto made = make_trace(arguments[1], arguments[2]);
    if (made) return 0;
    fmt::print(stderr, "tracing-cost-tool: {}\n", made.error().text());
    return 1;
  }
  if (arguments.size() > 1 && std::string_view(arguments[0]) == "table")
    return make_table(arguments.subspan(1));
  fmt::print(stderr, "usage: tracing-cost-tool trace TRUTH FILE, or table MODE=REPORT ...\n");
  return 2;
}

}  // namespace
}  // namespace sojourn

int main(int argc, char** argv) {
  return sojourn::run(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
}
