// The summary of many samples.
#include "analysis/host/sample_summary.h"

#include <limits>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::host {
namespace {

using Catch::Approx;

TEST_CASE("the trimmed mean leaves out the lowest and the highest tenth") {
  // 1 to 18, and one wild value at either end.
  std::vector<double> samples = {-1e6, 1e6};
  for (int value = 1; value <= 18; ++value) samples.push_back(value);
  const SampleSummary summary = summarise(samples);
  CHECK(summary.count == 20);
  CHECK(summary.mean == Approx(9.5));  // of 2 to 17
  CHECK(summary.stdev == Approx(4.7609522856952));
  CHECK(summary.min == -1e6);
  CHECK(summary.max == 1e6);
  CHECK(summary.median == Approx(9.5));
}

TEST_CASE("quartiles lie on straight lines between samples") {
  const SampleSummary summary = summarise({4, 1, 3, 2});
  CHECK(summary.q1 == Approx(1.75));
  CHECK(summary.median == Approx(2.5));
  CHECK(summary.q3 == Approx(3.25));
  CHECK(summary.spread() == Approx(0.6));
}

TEST_CASE("no samples, one sample and samples that are no numbers have a summary") {
  CHECK(summarise({}) == SampleSummary{});
  const SampleSummary one = summarise({7});
  CHECK(one.count == 1);
  CHECK(one.mean == 7);
  CHECK(one.stdev == 0);
  CHECK(one.q1 == 7);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  CHECK(summarise({kNone, 7, kEndless, -kEndless}) == one);
}

TEST_CASE("samples that hardly differ are stable") {
  std::vector<double> samples;
  for (int sample = 0; sample < 40; ++sample) samples.push_back(100 + sample % 5);
  CHECK(why_unstable(samples).empty());
}

TEST_CASE("a few wild samples do not make the others unstable") {
  std::vector<double> samples(40, 100);
  samples[7] = 1e9;
  samples[23] = 1e9;
  CHECK(why_unstable(samples).empty());
}

TEST_CASE("samples that spread are unstable") {
  std::vector<double> samples;
  for (int sample = 0; sample < 40; ++sample) samples.push_back(sample % 2 == 0 ? 100 : 130);
  CHECK(why_unstable(samples).contains("spreads by"));
}

TEST_CASE("samples that drift are unstable though they do not spread much") {
  std::vector<double> samples(20, 100);
  samples.insert(samples.end(), 20, 107);
  CHECK(why_unstable(samples).contains("two halves of the run differ by 7 %"));
}

TEST_CASE("a spread below the clock's resolution is stable") {
  std::vector<double> samples;
  for (int sample = 0; sample < 40; ++sample) samples.push_back(sample % 2 == 0 ? 0.03 : -0.01);
  CHECK_FALSE(why_unstable(samples).empty());
  CHECK(why_unstable(samples, 0.05).empty());
  CHECK_FALSE(why_unstable(samples, 0.015).empty());
}

TEST_CASE("too few samples are never stable") {
  CHECK(why_unstable(std::vector<double>(kFewestSamples - 1, 5)).contains("only 7 samples"));
  CHECK(why_unstable(std::vector<double>(kFewestSamples, 5)).empty());
}

}  // namespace
}  // namespace sojourn::host
