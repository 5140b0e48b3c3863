#include "tests/unit/pipeline/radio_trace.h"

#include <array>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include "analysis/pipeline/partitions.h"
#include "analysis/trace/writer.h"
#include "tests/bench/radio_traffic.h"
#include "userspace/files/trace_file.h"

namespace sojourn::pipeline {

std::uint64_t write_radio(const std::string& path, std::uint64_t packets, std::uint64_t hit_ps) {
  const auto schema = *bench::RadioTraffic::schema();
  auto writer = *files::create_trace(path);
  REQUIRE(writer.write(schema));
  std::array<model::EventBatch, bench::RadioTraffic::kThreads> streams;
  bench::RadioTraffic traffic(packets, 7, 10'000);
  std::minstd_rand random;
  std::uint64_t events = 0;
  model::Capture capture;
  capture.open_ns = 1'000'000'000;
  if (hit_ps != 0) capture.hit_cost_ps.assign(schema.points.size(), hit_ps);
  for (model::EventBatch batch; traffic.fill(batch);) {
    capture.close_ns = batch.ts_ns().back() + 1;
    for (std::size_t row = 0; row < batch.size(); ++row) {
      if (random() % 200 == 0) continue;
      streams[batch.stream()[row]].append(batch[row]);
      ++events;
    }
  }
  for (const auto& stream : streams) REQUIRE(writer.write(stream));
  REQUIRE(writer.write(capture));
  REQUIRE(writer.finish());
  return events;
}

std::vector<journeys::Partition> parts_for(std::uint64_t events, unsigned processors) {
  const auto topology = *journeys::Topology::derive(*bench::RadioTraffic::schema(), {});
  return partitions_of(topology, events, processors);
}

}  // namespace sojourn::pipeline
