#include "userspace/cli/live/ab/frequency_sweep.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::cli {

namespace {

Result<std::vector<std::uint64_t>> parse_list(const std::string& list) {
  std::vector<std::uint64_t> all;
  for (const std::string_view word : tracee::split(list, ',')) {
    SJ_TRY(khz, parse_khz(word));
    all.push_back(khz);
  }
  std::ranges::sort(all, std::ranges::greater());
  if (std::ranges::adjacent_find(all) != all.end())
    return fail("\"{}\" has a frequency twice", list);
  if (all.size() < 2) return fail("name two at least, e.g. 800MHz,3.2GHz");
  return all;
}

}  // namespace

void define_sweep_options(Arguments& arguments, SweepOptions& options) {
  arguments
      .add_option("--sweep-frequency", options.list,
                  "Instead of two commands one, or one process, at several frequencies of the "
                  "CPUs, e.g. 800MHz,3.2GHz; without a list the slowest and the fastest. The "
                  "fastest and the slowest are compared. The earlier setting is restored at the "
                  "end, also after a failure")
      .expected(0, 1)
      .option_text("[LIST]")
      .check([](const std::string& list) {
        const auto all = parse_list(list);
        return all ? std::string() : all.error().text();
      });
  arguments
      .add_option("--sys", options.sys,
                  "Where /sys is, for --sweep-frequency: in a container where the host's is "
                  "mounted")
      .type_name("DIR")
      .capture_default_str();
}

void check_sweep_options(const Arguments& arguments, SweepOptions& options) {
  options.is_wanted = arguments.count("--sweep-frequency") != 0;
  if (!options.is_wanted && arguments.count("--sys") != 0)
    refuse_usage("--sys goes with --sweep-frequency");
}

Result<std::uint64_t> parse_khz(std::string_view text) {
  double number = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  constexpr std::array kUnits = {std::pair(std::string_view("kHz"), 1.0),
                                 std::pair(std::string_view("MHz"), 1e3),
                                 std::pair(std::string_view("GHz"), 1e6)};
  const auto* const known =
      std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
  constexpr double kMostKhz = 1e8;
  const double khz = known == kUnits.end() ? 0 : number * known->second;
  if (code != std::errc() || !(khz >= 1) || khz > kMostKhz)
    return fail("\"{}\" is not a frequency such as 800MHz or 3.2GHz", text);
  return static_cast<std::uint64_t>(std::llround(khz));
}

std::string megahertz(std::uint64_t khz) {
  return khz % 1000 == 0 ? fmt::format("{}MHz", khz / 1000) : fmt::format("{}kHz", khz);
}

std::size_t settings_in(const SweepOptions& options) {
  return options.list.empty() ? 2 : tracee::split(options.list, ',').size();
}

Result<host::FrequencySetting> begin_sweep(const SweepOptions& options) {
  auto setting = host::FrequencySetting::begin(options.sys);
  if (!setting)
    return fail(
        "no frequency can be set here: {}; two recordings at different speeds do instead: sojourn "
        "diff fast*.sjt --against slow*.sjt",
        setting.error().text());
  return setting;
}

Result<std::vector<std::uint64_t>> swept_khz(const SweepOptions& options,
                                             const host::FrequencySetting& setting) {
  const std::uint64_t slowest = setting.slowest_khz();
  const std::uint64_t fastest = setting.fastest_khz();
  if (slowest >= fastest)
    return fail("these CPUs have no two frequencies in common: {} ... {}", megahertz(slowest),
                megahertz(fastest));
  if (options.list.empty()) return std::vector{fastest, slowest};
  SJ_TRY(all, parse_list(options.list));
  for (const std::uint64_t khz : all)
    if (khz < slowest || khz > fastest)
      return fail("{} cannot be set: these CPUs go from {} to {}", megahertz(khz),
                  megahertz(slowest), megahertz(fastest));
  return std::move(all);
}

}  // namespace sojourn::cli
