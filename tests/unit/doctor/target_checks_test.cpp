// The verdict on a process, from its inspection.
#include "userspace/doctor/target_checks.h"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/doctor/golden.h"
#include "tests/unit/doctor/machines.h"
#include "userspace/doctor/diagnosis_text.h"
#include "userspace/doctor/host_checks.h"

namespace sojourn::doctor {
namespace {

TargetInspection base_station() {
  TargetInspection look;
  look.title = "4242 (nr-softmodem)";
  look.points = {{.name = "D ip.in--pdcp.in",
                  .sites = 2,
                  .ring_sites = 2,
                  .bpf_hit_ps = 444'000,
                  .ring_hit_ps = 9'750,
                  .hits = 10'000},
                 {.name = "D rlc.tx.am--rlc.seg.am",
                  .sites = 1,
                  .ring_sites = 1,
                  .bpf_hit_ps = 446'000,
                  .ring_hit_ps = 10'100,
                  .hits = 70'000},
                 {.name = "S slot",
                  .sites = 1,
                  .ring_sites = 1,
                  .bpf_hit_ps = 441'000,
                  .ring_hit_ps = 9'300,
                  .hits = 0}};
  look.span_ns = 500'000'000;
  look.cpu_ns = 250'000'000;
  look.core_has_rings = true;
  return look;
}

Diagnosis diagnose(const TargetInspection& look) {
  Diagnosis diagnosis = judge_host(virtual_machine(), new_kernel());
  diagnosis.checks.clear();
  judge_target(look, diagnosis);
  return diagnosis;
}

const Check& find(const Diagnosis& diagnosis, const std::string& id) {
  const auto found = std::ranges::find(diagnosis.checks, id, &Check::id);
  REQUIRE(found != diagnosis.checks.end());
  return *found;
}

TEST_CASE("a process with rings gets the cost of recording it, by either engine") {
  const Diagnosis diagnosis = diagnose(base_station());
  compare("base_station.txt", to_text(diagnosis) + points_text(base_station()));
  compare("base_station.json", to_json(diagnosis).dump(2) + "\n");
}

TEST_CASE("a process without points can be recorded by eBPF, and the way is shown") {
  TargetInspection look = base_station();
  look.points.clear();
  look.why_not_rings = "it was built without the probe library";
  const Diagnosis diagnosis = diagnose(look);
  CHECK(find(diagnosis, "points").verdict == CheckStatus::kDegraded);
  CHECK(find(diagnosis, "points").advice.contains("--auto"));
  CHECK(find(diagnosis, "cost").finding.starts_with("none for points"));
  CHECK(diagnosis.ways.why_not_bpf.empty());
  CHECK_FALSE(diagnosis.ways.why_not_rings.empty());
}

TEST_CASE("if rings cannot be read, the cost is that of eBPF, and a budget is advised") {
  TargetInspection look = base_station();
  look.why_not_rings = "open /proc/4242/map_files: Operation not permitted";
  const Diagnosis diagnosis = diagnose(look);
  CHECK(diagnosis.ways.why_not_bpf.empty());
  CHECK(find(diagnosis, "points").verdict == CheckStatus::kDegraded);
  CHECK(find(diagnosis, "cost").verdict == CheckStatus::kDegraded);
  CHECK(find(diagnosis, "cost").advice.contains("--budget"));
  CHECK(find(diagnosis, "post_mortem").verdict == CheckStatus::kNo);
}

TEST_CASE("sites that will be refused are named with the reason") {
  TargetInspection look = base_station();
  look.refused = {{"libfoo.so sojourn:a__b", "its arguments make no sense"}};
  const Diagnosis diagnosis = diagnose(look);
  const Check& check = find(diagnosis, "refused");
  CHECK(check.verdict == CheckStatus::kDegraded);
  CHECK(check.finding.contains("libfoo.so sojourn:a__b: its arguments make no sense"));
}

TEST_CASE("a rate that could not be counted is not guessed") {
  TargetInspection look = base_station();
  look.is_stopped = true;
  look.why_not_counted = "it is stopped";
  const Diagnosis diagnosis = diagnose(look);
  CHECK(find(diagnosis, "process").verdict == CheckStatus::kDegraded);
  CHECK(find(diagnosis, "cost").verdict == CheckStatus::kDegraded);
  CHECK(!find(diagnosis, "cost").values.contains("hits_per_second"));
  CHECK(points_text(look).empty());
}

TEST_CASE("without a named ring file and without a core file only a live collector has the end") {
  TargetInspection look = base_station();
  look.core_has_rings = false;
  CHECK(find(diagnose(look), "post_mortem").verdict == CheckStatus::kDegraded);
  look.is_ring_file_named = true;
  CHECK(find(diagnose(look), "post_mortem").verdict == CheckStatus::kPass);
}

}  // namespace
}  // namespace sojourn::doctor
