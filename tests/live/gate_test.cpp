// The gate of the BPF programs, on nops of this program's own.
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include "tests/live/programs.h"
#include "userspace/capture/bpf/attach.h"
#include "userspace/capture/bpf/bpf_programs.h"
#include "userspace/capture/bpf/trial_sites.h"

namespace sojourn::live {
namespace {

std::uint64_t sum(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

TEST_CASE("a gate that opened too early starts over: none of its events remain") {
  need_root();
  const capture::TrialSite& site = capture::plain_sites()[0];
  const std::array trials = {
      capture::Trial{.site = site.site, .arguments = {capture::register_argument()}}};
  const auto points = capture::trial_points(trials);
  REQUIRE(points);
  const auto mechanism = capture::best_mechanism();
  auto programs = capture::BpfPrograms::load(*points, getpid(), mechanism, 4096);
  REQUIRE(programs);
  const auto attached = capture::Attachment::attach(*points, getpid(), mechanism, *programs);
  REQUIRE(attached);

  programs->open_gate_at(0);
  site.run(1000);
  REQUIRE(sum(programs->hits()) == 1000);
  REQUIRE(!programs->losses()->empty());

  REQUIRE(programs->start_over());
  site.run(1000);
  CHECK(sum(programs->hits()) == 0);

  programs->open_gate_at(0);
  site.run(10);
  CHECK(sum(programs->hits()) == 10);
  CHECK(programs->losses()->empty());
  std::uint64_t kept = 0;
  for (const capture::Ring& ring : programs->rings()) {
    std::uint64_t next = 0;
    capture::RingReader(ring).consume(SIZE_MAX, [&](const sj_hit&, std::uint64_t number) {
      CHECK(number == next++);
      ++kept;
    });
  }
  CHECK(kept == 10);
}

}  // namespace
}  // namespace sojourn::live
