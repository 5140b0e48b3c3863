#include "analysis/present/host/host_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

using host::HostProfile;
using host::Measurement;
using host::Unit;

// "1.28 GB/s": three digits, in the largest step that leaves one before the point.
std::string scaled(double value, double step, std::span<const std::string_view> units) {
  std::size_t at = 0;
  while (at + 1 < units.size() && std::abs(value) >= 0.9995 * step) {
    value /= step;
    ++at;
  }
  const int decimals = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, units[at]);
}

std::string time_text(double ns) {
  if (std::abs(ns) < 999.5) {
    const int decimals = std::abs(ns) < 9.995 ? 2 : std::abs(ns) < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} ns", ns, decimals);
  }
  return ns < 0 ? "-" + duration(-ns) : duration(ns);
}

constexpr std::array<std::string_view, 4> kBytes = {"B", "KiB", "MiB", "GiB"};
constexpr std::array<std::string_view, 4> kRates = {"B/s", "kB/s", "MB/s", "GB/s"};
constexpr std::array<std::string_view, 4> kHertz = {"Hz", "kHz", "MHz", "GHz"};

std::string optional_text(const std::optional<double>& value, Unit unit) {
  return value ? quantity(*value, unit) : "-";
}

std::string deviation_text(const Measurement& one) {
  const std::optional<double> deviation = one.deviation();
  if (!deviation) return "-";
  if (*deviation >= 9.995) return fmt::format("x{:.0f}", *deviation + 1);
  return fmt::format("{:+.0f} %", *deviation * 100);
}

std::string remarks(const Measurement& one) {
  std::string text;
  const auto add = [&text](std::string_view words) {
    if (words.empty()) return;
    if (!text.empty()) text += "; ";
    text += words;
  };
  if (!one.unstable.empty()) add("UNSTABLE: " + one.unstable);
  if (!one.reason.starts_with("the samples are not stable")) add(one.reason);
  add(one.note);
  return text;
}

std::vector<std::string> groups_of(const HostProfile& profile) {
  std::vector<std::string> groups;
  const auto add = [&](const std::string& group) {
    if (std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  };
  for (const Measurement& one : profile.measurements) add(one.group);
  for (const host::Curve& one : profile.curves) add(one.group);
  for (const host::CpuMatrix& one : profile.matrices) add(one.group);
  return groups;
}

std::string group_table(const HostProfile& profile, const std::string& group, std::size_t width) {
  Table table({group, "hardware", "software", "predicted", "measured", "deviation", "mean", "stdev",
               "quartiles", "samples", "remarks"});
  table.left(10);
  table.fold(10);
  table.spare(9);
  table.spare(7);
  table.spare(6);
  table.spare(2);
  table.spare(1);
  table.spare(8);
  for (const Measurement& one : profile.measurements) {
    if (one.group != group || !one.is_measured()) continue;
    const host::SampleSummary& measured = one.measured;
    table.row(
        {one.name, optional_text(one.hardware, one.unit), optional_text(one.software, one.unit),
         optional_text(one.predicted(), one.unit), quantity(measured.median, one.unit),
         deviation_text(one), quantity(measured.mean, one.unit), quantity(measured.stdev, one.unit),
         fmt::format("{} .. {}", quantity(measured.q1, one.unit), quantity(measured.q3, one.unit)),
         count(measured.count), remarks(one)});
  }
  return table.empty() ? std::string() : table.text(width);
}

std::string matrix_text(const host::CpuMatrix& matrix) {
  std::string text = fmt::format("{}, {}\n", matrix.name, host::name(matrix.unit));
  std::vector<std::string> header = {"from \\ to"};
  for (const std::uint32_t cpu : matrix.cpus) header.push_back(fmt::format("cpu {}", cpu));
  Table table(std::move(header));
  for (std::size_t row = 0; row < matrix.cpus.size(); ++row) {
    std::vector<std::string> cells = {fmt::format("cpu {}", matrix.cpus[row])};
    for (std::size_t column = 0; column < matrix.cpus.size(); ++column) {
      const auto& value = matrix.values[row * matrix.cpus.size() + column];
      cells.push_back(value ? fmt::format("{:.0f}", *value) : "-");
    }
    table.row(std::move(cells));
  }
  text += table.text();
  if (!matrix.note.empty()) text += matrix.note + "\n";
  return text;
}

std::string knees_text(const host::Curve& curve) {
  std::string text;
  for (const host::Knee& knee : curve.knees)
    text += fmt::format("  knee at {}: {} before, {} behind\n", quantity(knee.x, curve.x_unit),
                        quantity(knee.before, curve.y_unit), quantity(knee.after, curve.y_unit));
  return text;
}

std::string left_out_text(const HostProfile& profile, std::size_t width) {
  std::string text;
  for (const Measurement& one : profile.measurements)
    if (!one.is_measured())
      text += wrapped(fmt::format("  {}: {}", one.name, one.left_out), 4, width) + "\n";
  return text.empty() ? text : "not measured\n" + text + "\n";
}

}  // namespace

std::string quantity(double value, Unit unit) {
  switch (unit) {
    case Unit::kNs:
      return time_text(value);
    case Unit::kBytesPerSecond:
      return scaled(value, 1000, kRates);
    case Unit::kBytes:
      return scaled(value, 1024, kBytes);
    case Unit::kHertz:
      return scaled(value, 1000, kHertz);
    case Unit::kPercent:
      return fmt::format("{:.2f} %", value);
    case Unit::kCount:
      break;
  }
  return fmt::format("{:.4g}", value);
}

std::string curve_plot(const host::Curve& curve, std::size_t width) {
  std::string text = fmt::format("{}: {} over {}\n", curve.name, curve.y_name, curve.x_name);
  std::vector<host::CurvePoint> points;
  std::ranges::copy_if(curve.points, std::back_inserter(points),
                       [](const host::CurvePoint& point) { return point.x > 0 && point.y > 0; });
  if (points.size() < 2) return text + "  too few points\n";
  const double top = std::ranges::max(points, {}, &host::CurvePoint::y).y;
  const double bottom = std::ranges::min(points, {}, &host::CurvePoint::y).y;
  const double range = std::max(std::log2(top / bottom), 0.01);
  const std::size_t room = width > 40 ? width - 30 : 10;
  for (const host::CurvePoint& point : points) {
    const double share = std::log2(point.y / bottom) / range;
    const bool is_knee =
        std::ranges::find(curve.knees, point.x, &host::Knee::x) != curve.knees.end();
    const auto stars =
        static_cast<std::size_t>(std::lround(share * static_cast<double>(room - 1))) + 1;
    text +=
        fmt::format("{:>10} {:>11} {} {}\n", quantity(point.x, curve.x_unit),
                    quantity(point.y, curve.y_unit), is_knee ? '<' : '|', std::string(stars, '#'));
  }
  text += knees_text(curve);
  if (!curve.note.empty()) text += "  " + curve.note + "\n";
  return text;
}

std::string host_text(const HostProfile& profile, std::size_t width) {
  std::string text;
  Table facts({"machine", "", "from"});
  facts.left(1);
  facts.left(2);
  facts.fold(1);
  facts.spare(2, "where each is from");
  for (const host::MachineFact& fact : profile.facts)
    facts.row({fact.name, fact.value.empty() ? "not told" : printable(fact.value),
               printable(fact.source)});
  if (!facts.empty()) text += facts.text(width) + "\n";
  for (const std::string& group : groups_of(profile)) {
    if (const std::string table = group_table(profile, group, width); !table.empty())
      text += table + "\n";
    for (const host::Curve& curve : profile.curves)
      if (curve.group == group) text += curve_plot(curve) + "\n";
    for (const host::CpuMatrix& matrix : profile.matrices)
      if (matrix.group == group) text += matrix_text(matrix) + "\n";
  }
  text += left_out_text(profile, width);
  for (const std::string& warning : profile.warnings)
    text += wrapped("disturbed: " + warning, 2, width) + "\n";
  if (!profile.measurements.empty())
    text += fmt::format(
        "{} form, {:.1f} s; measured is the median, mean and stdev are without the "
        "lowest and highest tenth\n",
        profile.form, profile.took_s);
  return text;
}

std::string host_markdown_rows(const HostProfile& profile) {
  constexpr std::array kShown = {
      std::pair{"clocks.monotonic", "reading the clock"},
      std::pair{"calls.syscall", "a system call"},
      std::pair{"switches.process", "a context switch"},
      std::pair{"cores.wakeup", "waking a thread on another CPU"},
      std::pair{"memory.latency.ram", "memory latency"},
      std::pair{"network.tcp", "a TCP round trip on loopback"},
      std::pair{"cores.timer", "a timer that is late"},
      std::pair{"cores.noise.longest", "the longest gap that no thread explains"},
  };
  std::string cells;
  for (const auto& [id, words] : kShown)
    if (const Measurement* const one = profile.find(id); one != nullptr)
      cells += fmt::format("{}{} {}{}", cells.empty() ? "" : ", ", words,
                           quantity(one->measured.median, one->unit),
                           one->unstable.empty() ? "" : " (unstable)");
  std::string rows;
  if (!cells.empty()) rows += fmt::format("| machine's own costs | {} |\n", cells);
  for (const std::string& warning : profile.warnings)
    rows += fmt::format("| measured while | {} |\n", printable(warning));
  return rows;
}

}  // namespace sojourn::present
