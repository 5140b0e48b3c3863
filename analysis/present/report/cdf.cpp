#include "analysis/present/report/cdf.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/report/deadline_part.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxColumns = 8;  // of the text

struct Curve {
  std::string direction;
  std::string name;
  const statistics::Distribution* times;
  bool is_latency = false;

  std::string words() const { return direction.empty() ? name : direction + " " + name; }
};

std::vector<Curve> curves_of(const ReportContent& content, const report::Groups* groups) {
  std::vector<Curve> curves;
  const auto add = [&](char direction, std::string name, const statistics::Distribution& times,
                       bool is_latency) {
    if (times.count() > 0)
      curves.push_back(
          {direction == ' ' ? "" : std::string(1, direction), std::move(name), &times, is_latency});
  };
  if (groups != nullptr) {
    // Events have no duration: the gaps between them.
    for (const report::Group& group : groups->all())
      add(group.direction, group.name,
          report::counts_events(groups->by()) ? group.arrivals.gaps_ns() : group.times_ns,
          !report::counts_events(groups->by()) && !report::counts_stays(groups->by()));
    return curves;
  }
  for (const auto direction : model::kPacketDirections)
    add(letter(direction), "latency", content.summary.direction(direction).latency_ns, true);
  for (std::size_t i = 0; i < content.topology.pairs.size(); ++i) {
    const auto& place = content.topology.places[content.topology.pairs[i].place];
    add(letter(place.direction), hop_name(content, i).substr(2), content.summary.hop(i), false);
  }
  return curves;
}

double us(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

// Shares of samples at which there are points, rising to 1.
std::vector<double> shares_of(std::uint64_t samples) {
  std::vector<double> shares;
  for (int percent = 1; percent < 100; ++percent) shares.push_back(percent / 100.0);
  // 0.991 .. 0.999, 0.9991 .. 0.9999, as long as samples lie beyond.
  for (double rest = 0.01; rest * static_cast<double>(samples) > 1; rest /= 10)
    for (int tenth = 9; tenth > 0; --tenth) shares.push_back(1 - rest * tenth / 10);
  shares.push_back(1);
  return shares;
}

// A name comes from the target: commas and quotes must not end its cell.
std::string cell(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : printable(text)) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

ordered_json point_json(const CdfPoint& point) {
  return {{"us", us(point.ns)}, {"at_most", point.at_most()}, {"longer", point.longer}};
}

}  // namespace

std::vector<CdfPoint> cdf_points(const statistics::Distribution& times) {
  std::vector<CdfPoint> points;
  for (const double share : shares_of(times.count())) {
    const std::uint64_t ns = times.quantile(share);
    if (!points.empty() && points.back().ns == ns) continue;
    points.push_back(
        {ns, static_cast<double>(times.above(ns)) / static_cast<double>(times.count())});
  }
  return points;
}

std::string cdf_text(const ReportContent& content, const report::Groups* groups) {
  constexpr std::array kCurveShares = {0.01, 0.05, 0.1,   0.25,   0.5,     0.75, 0.9,
                                       0.95, 0.99, 0.999, 0.9999, 0.99999, 1.0};
  auto curves = curves_of(content, groups);
  if (curves.empty()) return "no figures: no complete journeys that have a latency, no events\n";
  const auto all = curves.size();
  // Hops have names too long for columns.
  if (groups == nullptr)
    std::erase_if(curves, [](const Curve& curve) { return curve.name != "latency"; });
  curves.resize(std::min(curves.size(), kMaxColumns));
  std::vector<std::string> header = {"at most", "longer"};
  for (const Curve& curve : curves) header.push_back(printable(curve.words()));
  Table table(std::move(header));
  for (const double share : kCurveShares) {
    std::vector<std::string> cells = {fmt::format("{:g} %", share * 100),
                                      fmt::format("{:.3g} %", (1 - share) * 100)};
    for (const Curve& curve : curves) {
      const bool told = share == 1 || (1 - share) * static_cast<double>(curve.times->count()) >= 1;
      cells.push_back(told ? duration(static_cast<double>(curve.times->quantile(share))) : "-");
    }
    table.row(std::move(cells));
  }
  std::vector<std::string> samples = {"samples", ""};
  for (const Curve& curve : curves) samples.push_back(count(curve.times->count()));
  table.row(std::move(samples));
  std::string text =
      content.selection ? selection_text(*content.selection) + "\n\n" : std::string();
  text += table.text();
  if (all > curves.size())
    text += fmt::format("and {} more (--cdf csv and --cdf json have them)\n", all - curves.size());
  if (std::ranges::any_of(curves, [](const Curve& curve) { return !curve.times->exact(); }))
    text += kInexact;
  return text;
}

std::string cdf_csv(const ReportContent& content, const report::Groups* groups) {
  std::string text = "dir,name,samples,us,at_most,longer\n";
  for (const Curve& curve : curves_of(content, groups))
    for (const CdfPoint& point : cdf_points(*curve.times))
      fmt::format_to(std::back_inserter(text), "{},{},{},{:.3f},{:.9g},{:.9g}\n", curve.direction,
                     cell(curve.name), curve.times->count(), us(point.ns), point.at_most(),
                     point.longer);
  return text;
}

ordered_json cdf_json(const ReportContent& content, const report::Groups* groups,
                      const CdfBand& band) {
  auto list = ordered_json::array();
  for (const Curve& curve : curves_of(content, groups)) {
    ordered_json object;
    if (!curve.direction.empty()) object["dir"] = curve.direction;
    object["name"] = curve.name;
    object["count"] = curve.times->count();
    object["exact"] = curve.times->exact();
    auto& points = object["points"] = ordered_json::array();
    for (const CdfPoint& point : cdf_points(*curve.times)) {
      points.push_back(point_json(point));
      const auto interval = curve.is_latency && !curve.direction.empty() && band
                                ? band(curve.direction.front(), curve.name, point.ns)
                                : std::nullopt;
      if (interval) points.back()["longer_95"] = {interval->first, interval->second};
    }
    list.push_back(std::move(object));
  }
  ordered_json report;
  if (groups != nullptr) report["by"] = name(groups->by());
  if (content.selection) report["where"] = selection_json(*content.selection);
  report["file"] = completeness_json(content.facts.file);
  report["cdf"] = std::move(list);
  return report;
}

}  // namespace sojourn::present
