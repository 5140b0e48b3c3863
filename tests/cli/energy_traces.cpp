#include "tests/cli/energy_traces.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/model/energy_info.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"
#include "userspace/files/trace_file.h"

namespace sojourn::cli_tests {
namespace {

constexpr std::uint64_t kRange = 65'532'610'987;

model::Energy described(const EnergyOf& energy, std::uint64_t gone_ns) {
  model::Energy about;
  about.period_ns = 1;
  const auto add = [&](const char* place, const char* name) {
    model::EnergyZone& zone = about.zones.emplace_back();
    zone.id = static_cast<std::uint32_t>(about.zones.size() - 1);
    zone.package = "package-0";
    zone.name = name;
    zone.source = "powercap";
    zone.place = place;
    zone.range = kRange;
  };
  add("intel-rapl:0", "package-0");
  add("intel-rapl:0:0", "dram");
  if (energy.is_repeated) add("intel-rapl-mmio:0", "package-0");
  if (energy.has_vanished) {
    about.zones[0].missing = "vanished";
    about.zones[0].gone_ns = gone_ns;
  }
  about.policies.resize(1);
  about.policies[0].cpus = "0-3";
  about.policies[0].least_khz = energy.khz;
  about.policies[0].most_khz = energy.khz;
  about.missing.resize(1);
  about.missing[0].what = "idle";
  about.missing[0].why = "no states";
  return about;
}

}  // namespace

void add_energy(const std::string& trace, const EnergyOf& energy) {
  auto reader = files::open_trace(trace);
  REQUIRE(reader);
  const std::string path = trace + ".again";
  auto writer = files::create_trace(path);
  REQUIRE(writer);
  model::Schema schema = reader->schema();
  const auto first_point = static_cast<model::PointId>(schema.points.size());
  schema.points.push_back(model::energy_point());
  schema.points.push_back(model::frequency_point());
  REQUIRE(writer->write(schema));
  REQUIRE(writer->write(reader->host()));
  for (const model::Target& target : reader->targets()) REQUIRE(writer->write(target));
  std::uint32_t stream = 0;
  for (const model::Stream& one : reader->streams()) {
    REQUIRE(writer->write(one));
    stream = std::max(stream, one.id + 1);
  }
  REQUIRE(writer->write(model::Stream{.id = stream, .engine = model::Engine::kSampler}));
  model::EventBatch events;
  for (const trace::BlockInfo& block : reader->blocks()) {
    stream = std::max(stream, block.stream + 1);
    REQUIRE(reader->read(block, events));
    REQUIRE(writer->write(events));
  }
  model::Capture capture = reader->capture();
  REQUIRE(capture.close_ns > capture.open_ns);
  REQUIRE(writer->write(described(energy, capture.close_ns - 1)));
  model::EventBatch readings;
  const auto read = [&](unsigned point, std::uint64_t ts_ns, std::uint64_t id,
                        std::uint64_t value) {
    const std::array<std::uint64_t, 2> values = {id, value};
    readings.append({.ts_ns = ts_ns,
                     .seq = readings.size(),
                     .stream = stream,
                     .tid = 0,
                     .point = static_cast<model::PointId>(first_point + point),
                     .values = values});
  };
  constexpr std::uint64_t kReadings = 100;
  // The package's counter wraps in the middle.
  const double half_s = static_cast<double>(capture.close_ns - capture.open_ns) * 0.5e-9;
  const std::uint64_t from =
      kRange - static_cast<std::uint64_t>(energy.package_watts * half_s * 1e6);
  for (std::uint64_t at = 0; at <= kReadings; ++at) {
    const std::uint64_t since_ns = (capture.close_ns - capture.open_ns) * at / kReadings;
    const std::uint64_t ts_ns = std::min(capture.open_ns + since_ns, capture.close_ns - 1);
    const auto grown = [&](double watts) {
      return static_cast<std::uint64_t>(std::llround(watts * static_cast<double>(since_ns) * 1e-3));
    };
    read(0, ts_ns, 0, (from + grown(energy.package_watts)) % kRange);
    read(0, ts_ns, 1, grown(energy.dram_watts));
    if (energy.is_repeated) read(0, ts_ns, 2, grown(energy.package_watts));
    read(1, ts_ns, 0, energy.khz);
  }
  REQUIRE(writer->write(readings));
  if (!capture.stream_hits.empty()) {
    capture.stream_hits.resize(std::max<std::size_t>(capture.stream_hits.size(), stream + 1));
    capture.stream_hits[stream] = readings.size();
  }
  REQUIRE(writer->write(capture));
  REQUIRE(writer->finish());
  std::filesystem::rename(path, trace);
}

}  // namespace sojourn::cli_tests
