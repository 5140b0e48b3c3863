// A machine's profile for people.
#include "analysis/present/host/host_text.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::present {
namespace {

host::HostProfile profile() {
  host::HostProfile machine;
  machine.form = "quick";
  machine.took_s = 9;
  machine.facts = {{"cpu.model", "processor", "A\x1b[2J CPU", "/proc/cpuinfo"},
                   {"freq.base", "base frequency", "", "not in /sys"}};
  host::Measurement call;
  call.id = "calls.syscall";
  call.group = "calls";
  call.name = "system call";
  call.hardware = 20;
  call.software = 40;
  call.measured = {.count = 32,
                   .mean = 121,
                   .stdev = 2,
                   .min = 118,
                   .q1 = 119,
                   .median = 120,
                   .q3 = 122,
                   .max = 900};
  call.reason = "entry and exit are long";
  host::Measurement shaky = call;
  shaky.id = "calls.shaky";
  shaky.name = "shaky call";
  shaky.unstable = "it drifts";
  shaky.reason = "the samples are not stable: it drifts";
  host::Measurement absent;
  absent.id = "calls.absent";
  absent.group = "calls";
  absent.name = "absent call";
  absent.left_out = "there is none";
  machine.measurements = {call, shaky, absent};
  machine.warnings = {"the hypervisor took 3.0 % of the CPUs' time (steal)"};
  return machine;
}

TEST_CASE("the study's columns stand beside each other, with the reason") {
  const std::string text = host_text(profile());
  CHECK(text.contains("base frequency  not told"));
  CHECK_FALSE(text.contains('\x1b'));
  CHECK(text.contains("60.0 ns    120 ns     +100 %"));
  CHECK(text.contains("entry and exit are long"));
  CHECK(text.contains("UNSTABLE: it drifts\n"));  // once, not again as a reason
  CHECK(text.contains("not measured\n  absent call: there is none\n"));
  CHECK(text.contains("disturbed: the hypervisor took 3.0 %"));
}

TEST_CASE("quantities have three digits and the unit that fits") {
  using host::Unit;
  CHECK(quantity(0.237, Unit::kNs) == "0.24 ns");
  CHECK(quantity(8.649, Unit::kNs) == "8.65 ns");
  CHECK(quantity(999.4, Unit::kNs) == "999 ns");
  CHECK(quantity(20'100, Unit::kNs) == "20.1 us");
  CHECK(quantity(-2500, Unit::kNs) == "-2.50 us");
  CHECK(quantity(20.6e9, Unit::kBytesPerSecond) == "20.6 GB/s");
  CHECK(quantity(48 * 1024, Unit::kBytes) == "48.0 KiB");
  CHECK(quantity(2.6e9, Unit::kHertz) == "2.60 GHz");
}

TEST_CASE("a plot has a line a point, higher ones longer, and marks knees") {
  host::Curve curve;
  curve.name = "latency";
  curve.x_name = "working set";
  curve.y_name = "load";
  curve.points = {{.x = 1024, .y = 1, .q1 = 1, .q3 = 1},
                  {.x = 2048, .y = 1, .q1 = 1, .q3 = 1},
                  {.x = 4096, .y = 8, .q1 = 8, .q3 = 8}};
  curve.knees = {{.x = 2048, .before = 1, .after = 8}};
  const std::string text = curve_plot(curve, 40);
  CHECK(text.contains("1.00 KiB     1.00 ns | #\n"));
  CHECK(text.contains("2.00 KiB     1.00 ns < #\n"));
  CHECK(text.contains("4.00 KiB     8.00 ns | ##########\n"));
  CHECK(text.contains("knee at 2.00 KiB: 1.00 ns before, 8.00 ns behind"));
  curve.points.resize(1);
  CHECK(curve_plot(curve).contains("too few points"));
}

TEST_CASE("a bug report has the facts that matter for latencies, and the unstable figures") {
  const std::string rows = host_markdown_rows(profile());
  CHECK(rows.contains("| machine's own costs | a system call 120 ns |"));
  CHECK(rows.contains("| measured while | the hypervisor took"));
  host::HostProfile shaky = profile();
  shaky.measurements[0].unstable = "it drifts";
  CHECK(host_markdown_rows(shaky).contains("a system call 120 ns (unstable)"));
  CHECK(host_markdown_rows({}).empty());
}

}  // namespace
}  // namespace sojourn::present
