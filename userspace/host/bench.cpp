#include "userspace/host/bench.h"

#include <cmath>

#include <fmt/format.h>
#include <sys/resource.h>

namespace sojourn::host {

std::string_view name(Form form) {
  switch (form) {
    case Form::kBrief:
      return "brief";
    case Form::kQuick:
      return "quick";
    case Form::kFull:
      break;
  }
  return "full";
}

Effort effort_of(Form form) {
  constexpr std::uint64_t kMicrosecond = 1000;
  constexpr std::uint64_t kMillisecond = 1'000'000;
  switch (form) {
    case Form::kBrief:
      return {
          .batch_ns = 20 * kMicrosecond, .fewest = 16, .most = 64, .most_ns = 10 * kMillisecond};
    case Form::kQuick:
      return {
          .batch_ns = 50 * kMicrosecond, .fewest = 32, .most = 400, .most_ns = 60 * kMillisecond};
    case Form::kFull:
      break;
  }
  return {
      .batch_ns = 200 * kMicrosecond, .fewest = 64, .most = 4000, .most_ns = 1500 * kMillisecond};
}

std::uint64_t times_preempted() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_nivcsw);
}

Measurement& Bench::add(Row row, std::vector<double> samples, Unit unit) {
  Measurement one;
  one.id = std::move(row.id);
  one.group = group_;
  one.name = std::move(row.name);
  one.method = std::move(row.method);
  one.unit = unit;
  one.is_less_better = unit != Unit::kBytesPerSecond;
  one.unstable = why_unstable(samples, unit == Unit::kNs ? kResolutionNs : 0);
  one.measured = summarise(std::move(samples));
  if (one.is_measured() && unit == Unit::kNs && std::abs(one.measured.median) < kResolutionNs)
    one.note = "less than can be told from nothing";
  if (!one.is_measured()) {
    one.unstable.clear();
    one.left_out = "no sample was taken";
  }
  profile_.measurements.push_back(std::move(one));
  return profile_.measurements.back();
}

Measurement& Bench::add_disturbed(Row row, std::vector<double> kept,
                                  const std::vector<double>& disturbed) {
  const std::size_t undisturbed = kept.size();
  if (kept.empty()) kept = disturbed;
  Measurement& one = add(std::move(row), std::move(kept));
  if (undisturbed == 0 && !disturbed.empty())
    one.note = "other threads ran during every sample";
  else if (!disturbed.empty())
    one.note = fmt::format("{} of {} samples were left out: another thread ran meanwhile",
                           disturbed.size(), disturbed.size() + undisturbed);
  return one;
}

Measurement& Bench::add_value(Row row, double value, Unit unit, std::string note) {
  Measurement& one = add(std::move(row), {value}, unit);
  one.unstable.clear();  // there is nothing to repeat
  one.note = std::move(note);
  return one;
}

void Bench::leave_out(Row row, std::string why) {
  Measurement one;
  one.id = std::move(row.id);
  one.group = group_;
  one.name = std::move(row.name);
  one.method = std::move(row.method);
  one.left_out = std::move(why);
  profile_.measurements.push_back(std::move(one));
}

void Bench::leave_out_all(const std::vector<Row>& rows, const std::string& why) {
  for (const Row& row : rows) leave_out(row, why);
}

}  // namespace sojourn::host
