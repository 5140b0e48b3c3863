// Readings of a machine whose counters the test sets, from arming to the trace.
#include "userspace/capture/energy/energy_source.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <sys/fsuid.h>
#include <unistd.h>

#include "analysis/energy/energy_account.h"
#include "analysis/trace/reader.h"
#include "tests/support/sys_tree.h"
#include "userspace/base/clock.h"
#include "userspace/capture/output/sink.h"
#include "userspace/files/trace_file.h"

namespace sojourn::capture {
namespace {

using Catch::Approx;
using std::chrono::milliseconds;
using test::SysTree;

constexpr std::uint64_t kRange = 65'532'610'987;

// Readings every 10 ms from `open()` to `finish()`, in a trace.
class Reading {
 public:
  explicit Reading(const SysTree& sys) {
    auto writer = files::create_trace(directory_.path("run.sjt"));
    REQUIRE(writer);
    sink_.emplace(std::make_unique<FileStore>(std::move(*writer)));
    output_.emplace(*sink_, model::Schema{});
    source_ = EnergySource::create(
        {.sys = sys.path(),
         .period = milliseconds(10),
         .tell = [this](const std::string& what, const std::string& why) { told[what] = why; }});
    REQUIRE(source_->connect(*output_));
  }

  void arm() { REQUIRE(source_->arm()); }
  void open() {
    capture_.open_ns = base::monotonic_ns();
    source_->open_at(capture_.open_ns);
    REQUIRE(source_->poll());
  }
  // The next reading is due by then.
  void poll() {
    std::this_thread::sleep_for(milliseconds(11));
    REQUIRE(source_->poll());
  }
  void finish() {
    capture_.close_ns = base::monotonic_ns();
    source_->close_at(capture_.close_ns);
    REQUIRE(source_->settle());
    source_->disarm();
    source_->flush();
    sink_->push(capture_);
    REQUIRE(sink_->finish());
  }
  trace::Reader read() const {
    auto reader = files::open_trace(directory_.path("run.sjt"));
    REQUIRE(reader);
    return std::move(*reader);
  }
  const model::Capture& capture() const { return capture_; }

  std::map<std::string, std::string> told;

 private:
  test::TemporaryDirectory directory_;
  std::optional<Sink> sink_;
  std::optional<CaptureOutput> output_;
  std::unique_ptr<EnergySource> source_;
  model::Capture capture_;
};

struct Read {
  model::Energy about;
  std::map<std::string, double> joules;  // by place, between the first and the last reading
  std::map<std::string, std::uint64_t> wraps;
  energy::EnergyFigures figures;
};

Read read(const Reading& reading) {
  trace::Reader reader = reading.read();
  energy::EnergyMeter meter(reader.schema(), reader.energy(), reader.capture());
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (const std::uint64_t ts_ns : batch.ts_ns()) {
      CHECK(ts_ns >= reading.capture().open_ns);
      CHECK(ts_ns < reading.capture().close_ns);
    }
    meter.consume(batch);
    return true;
  }));
  CHECK(reader.gaps().empty());
  meter.finish(0);
  Read all{.about = reader.energy(),
           .joules = {},
           .wraps = {},
           .figures = energy::energy_figures(meter, "")};
  for (const energy::ZoneEnergy& zone : all.figures.zones) {
    all.joules[zone.about.place] = zone.joules;
    all.wraps[zone.about.place] = zone.wraps;
  }
  return all;
}

TEST_CASE("counters that grow and wrap are in the trace with every joule") {
  SysTree sys;
  sys.zone("intel-rapl:0", "package-0")
      .zone("intel-rapl:0:0", "dram")
      .policy(0, 800'000, 3'500'000);
  sys.file("devices/system/cpu/cpu0/cpuidle/state0/name", "C1")
      .file("devices/system/cpu/cpu0/cpuidle/state0/time", "100");
  const std::string package = SysTree::energy_of("intel-rapl:0");
  const std::string dram = SysTree::energy_of("intel-rapl:0:0");
  sys.count(package, kRange - 5000);
  sys.count(dram, 70);
  Reading reading(sys);
  reading.arm();
  reading.open();
  sys.count(package, kRange - 1000);
  reading.poll();
  sys.count(package, 2000);  // wrapped
  sys.count(dram, 570);
  reading.poll();
  reading.finish();
  CHECK(reading.told.size() == 1);  // perf
  const Read all = read(reading);
  CHECK(all.about.period_ns == 10'000'000);
  CHECK(all.joules.at("intel-rapl:0") == Approx(0.007));
  CHECK(all.wraps.at("intel-rapl:0") == 1);
  CHECK(all.joules.at("intel-rapl:0:0") == Approx(0.0005));
  REQUIRE(all.figures.policies.size() == 1);
  CHECK(all.figures.policies[0].khz.mean_khz() == 800'000);
  REQUIRE(all.figures.idle.size() == 1);
  CHECK(all.figures.idle[0].share == 0.0);  // read, and none: its time did not grow
}

TEST_CASE("a zone that vanishes is reported with the time, and others go on") {
  SysTree sys;
  sys.zone("intel-rapl:0", "package-0").zone("intel-rapl:1", "package-1");
  Reading reading(sys);
  reading.arm();
  reading.open();
  reading.poll();
  std::filesystem::remove_all(sys.path("class/powercap/intel-rapl:1"));
  sys.count(SysTree::energy_of("intel-rapl:0"), 1000);
  reading.poll();
  reading.finish();
  CHECK(reading.told.at("intel-rapl:1 (package-1)") == "vanished");
  const Read all = read(reading);
  REQUIRE(all.about.zones.size() == 2);
  CHECK(all.about.zones[1].missing == "vanished");
  CHECK(all.about.zones[1].gone_ns > reading.capture().open_ns);
  CHECK(all.joules.at("intel-rapl:0") == Approx(0.001));
  CHECK_FALSE(all.figures.watts);
  CHECK(all.figures.why_not.starts_with("package-1 vanished after 0."));
}

TEST_CASE("a zone that may not be read is reported and not measured") {
  if (geteuid() != 0) SKIP("to be another user for a moment takes root");
  SysTree sys;
  sys.zone("intel-rapl:0", "package-0");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(sys.path()))
    std::filesystem::permissions(entry, std::filesystem::perms(0755));
  std::filesystem::permissions(sys.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(sys.path(SysTree::energy_of("intel-rapl:0")),
                               std::filesystem::perms(0400));
  Reading reading(sys);
  setfsuid(65534);
  reading.arm();
  setfsuid(0);
  reading.open();
  reading.poll();
  reading.finish();
  CHECK(reading.told.at("intel-rapl:0 (package-0)") ==
        "may not be read: Permission denied: root may");
  const Read all = read(reading);
  CHECK_FALSE(all.figures.watts);
  CHECK(all.figures.why_not.contains("may not be read"));
}

TEST_CASE("a counter without a number is reported at once") {
  SysTree sys;
  sys.zone("intel-rapl:0", "package-0");
  sys.file(SysTree::energy_of("intel-rapl:0"), "lots");
  Reading reading(sys);
  reading.arm();
  CHECK(reading.told.at("intel-rapl:0 (package-0)") == "cannot be read: 'lots' is no number");
}

TEST_CASE("a machine without counters is recorded as that") {
  const SysTree sys;
  Reading reading(sys);
  reading.arm();
  reading.open();
  reading.finish();
  const Read all = read(reading);
  CHECK(all.about.was_asked_for());
  CHECK(all.about.missing.size() == 4);
  CHECK_FALSE(all.figures.watts);
  CHECK(all.figures.why_not.contains("powercap"));
}

// Any event of the kernel will do: a count of its software clock takes the place of energy here.
TEST_CASE("perf's events are counted by the kernel") {
  SysTree sys;
  const std::string power = "bus/event_source/devices/power/";
  sys.file(power + "type", "1").file(power + "cpumask", "0");
  sys.file(power + "format/event", "config:0-7");
  sys.file(power + "events/energy-pkg", "event=0x00");
  sys.file(power + "events/energy-pkg.scale", "1e-9");  // a nanosecond is a nanojoule: 1 W
  sys.file(power + "events/energy-pkg.unit", "Joules");
  Reading reading(sys);
  reading.arm();
  const std::string place = "power/energy-pkg on cpu 0";
  if (reading.told.contains(place + " (package-0)"))
    SKIP("perf: " + reading.told.at(place + " (package-0)"));
  reading.open();
  for (int times = 0; times < 20; ++times) reading.poll();
  reading.finish();
  const Read all = read(reading);
  REQUIRE(all.figures.watts);
  CHECK(*all.figures.watts == Approx(1).epsilon(0.2));
  CHECK(all.wraps.at(place) == 0);
}

}  // namespace
}  // namespace sojourn::capture
