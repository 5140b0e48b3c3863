#include "analysis/present/words/json_format.h"

#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sojourn::present {

using nlohmann::ordered_json;

namespace {

double us(double ns) {
  return ns / 1e3;
}

}  // namespace

std::string json_text(const ordered_json& object) {
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ordered_json times_json(const statistics::Distribution& times) {
  struct Quantile {
    std::string_view name;
    double share;
  };
  constexpr std::array kQuantiles = {Quantile{"p50", 0.5},      Quantile{"p90", 0.9},
                                     Quantile{"p99", 0.99},     Quantile{"p999", 0.999},
                                     Quantile{"p9999", 0.9999}, Quantile{"p99999", 0.99999}};
  ordered_json object = {{"mean", us(times.mean())},
                         {"stdev", us(times.stdev())},
                         {"min", us(static_cast<double>(times.min()))}};
  for (const auto& [name, share] : kQuantiles)
    object[std::string(name)] = us(static_cast<double>(times.quantile(share)));
  object["max"] = us(static_cast<double>(times.max()));
  object["exact"] = times.exact();
  auto& bounds = object["ci95"] = ordered_json::object();
  for (const auto& [name, share] : kQuantiles) {
    const auto interval = times.confidence(share);
    auto& row = bounds[std::string(name)] = ordered_json::array();
    row.push_back(us(static_cast<double>(interval.low)));
    row.push_back(interval.high ? ordered_json(us(static_cast<double>(*interval.high)))
                                : ordered_json());
  }
  return object;
}

}  // namespace sojourn::present
