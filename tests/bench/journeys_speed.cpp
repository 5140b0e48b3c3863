// The number of events a second that one core turns into journeys and statistics, with made-up
// radio traffic. Usage: journeys-speed [packets=1000000] [ues=20] [nanoseconds between events=1000]
#include <cstdlib>

#include <fmt/core.h>
#include <sys/resource.h>
#include <time.h>

#include "analysis/journeys/rebuilder.h"
#include "analysis/report/summary.h"
#include "tests/bench/radio_traffic.h"

namespace sojourn {
namespace {

// The thread's CPU time: other programs on the machine do not count.
std::uint64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

int run(std::uint64_t packets, std::uint64_t ues, std::uint64_t step_ns) {
  const auto schema = bench::RadioTraffic::schema();
  if (!schema) {
    fmt::print(stderr, "journeys-speed: {}\n", schema.error().text());
    return 1;
  }
  const journeys::Rules rules;
  auto topology = journeys::Topology::derive(*schema, rules);
  report::Summary summary(*topology, 0);
  auto rebuilder = journeys::Rebuilder::create(*schema, rules, {}, summary);
  bench::RadioTraffic traffic(packets, ues, step_ns);
  model::EventBatch batch;
  std::uint64_t spent_ns = 0;
  while (traffic.fill(batch)) {
    const auto begin_ns = cpu_ns();
    rebuilder->consume(batch);
    spent_ns += cpu_ns() - begin_ns;
  }
  const auto begin_ns = cpu_ns();
  rebuilder->finish();
  spent_ns += cpu_ns() - begin_ns;
  const auto& totals = rebuilder->totals();
  const auto& down = summary.direction(model::Direction::kDownlink);
  const auto& up = summary.direction(model::Direction::kUplink);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{} events, {} UEs: {:.2f} million events/s, {} + {} of {} + {} journeys complete, "
      "at most {} units and {} MB in memory\n",
      totals.events, ues, static_cast<double>(totals.events) * 1e3 / static_cast<double>(spent_ns),
      down.complete, up.complete, down.count(), up.count(), totals.peak_units,
      usage.ru_maxrss / 1024);
  return down.complete == 0;
}

}  // namespace
}  // namespace sojourn

int main(int argc, char** argv) {
  const auto number = [&](int index, std::uint64_t otherwise) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : otherwise;
  };
  return sojourn::run(number(1, 1'000'000), number(2, 20), number(3, 1000));
}
