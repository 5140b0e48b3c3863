// The remarks about different machines, and whether recording will work.
#include "userspace/doctor/host_checks.h"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/doctor/golden.h"
#include "tests/unit/doctor/machines.h"
#include "userspace/doctor/diagnosis_text.h"

namespace sojourn::doctor {
namespace {

const Check& find(const Diagnosis& diagnosis, const std::string& id) {
  const auto found = std::ranges::find(diagnosis.checks, id, &Check::id);
  REQUIRE(found != diagnosis.checks.end());
  return *found;
}

TEST_CASE("the checks of a virtual machine with a new kernel, in words and in JSON") {
  const Diagnosis diagnosis = judge_host(virtual_machine(), new_kernel());
  compare("virtual_machine.txt", to_text(diagnosis));
  compare("virtual_machine.json", to_json(diagnosis).dump(2) + "\n");
  CHECK(diagnosis.ways.any());
}

TEST_CASE("the checks of a radio host with an old kernel") {
  compare("radio_host.txt", to_text(judge_host(radio_host(), old_kernel())));
}

TEST_CASE("without rights to eBPF there are rings, and the way to the rights is named") {
  HostFacts facts = virtual_machine();
  facts.capabilities = 0;
  HostAnswers answers = new_kernel();
  answers.bpf.reset();
  answers.why_not_bpf = "load the BPF programs: Operation not permitted";
  const Diagnosis diagnosis = judge_host(facts, answers);
  compare("no_rights.txt", to_text(diagnosis));
  CHECK(diagnosis.ways.any());
  CHECK(!diagnosis.ways.why_not_bpf.empty());
}

TEST_CASE("if neither way of attaching works, recording is reported not to work") {
  HostFacts facts = virtual_machine();
  facts.has_steady_counter = false;
  HostAnswers answers = new_kernel();
  answers.bpf.reset();
  answers.why_not_bpf = "Operation not permitted";
  const Diagnosis diagnosis = judge_host(facts, answers);
  CHECK(!diagnosis.ways.any());
  CHECK(to_json(diagnosis)["works"] == false);
  CHECK(to_text(diagnosis).contains("recording will not work"));
}

TEST_CASE("a longer nop may be probed if that is harmless and needs no single step") {
  NopAnswer nop{.bytes = 5, .refused = {}, .is_optimised = true};
  CHECK(nop.may_be_probed(false));
  nop.is_optimised = false;
  CHECK_FALSE(nop.may_be_probed(false));
  CHECK(nop.may_be_probed(true));
  nop.is_optimised = true;
  nop.keeps_children = false;
  CHECK_FALSE(nop.may_be_probed(true));
  nop.keeps_children = true;
  nop.keeps_red_zone = false;
  CHECK_FALSE(nop.may_be_probed(true));
  CHECK_FALSE(NopAnswer{.bytes = 10, .refused = "no", .is_optimised = true}.may_be_probed(true));
}

TEST_CASE("a kernel whose plain nop is not safe is not attached to") {
  HostAnswers answers = new_kernel();
  answers.bpf->nops.front().keeps_red_zone = false;
  const Diagnosis diagnosis = judge_host(virtual_machine(), answers);
  CHECK(find(diagnosis, "nops").verdict == CheckStatus::kNo);
  CHECK(!diagnosis.ways.why_not_bpf.empty());
}

TEST_CASE("a probe that misses threads, or counts other processes, is not trusted") {
  for (const PidAnswer wrong : {PidAnswer{.counts_threads = false, .counts_others = false},
                                PidAnswer{.counts_threads = true, .counts_others = true}}) {
    HostAnswers answers = new_kernel();
    answers.bpf->pid = wrong;
    const Diagnosis diagnosis = judge_host(virtual_machine(), answers);
    CHECK(find(diagnosis, "uprobes").verdict == CheckStatus::kNo);
    CHECK(!diagnosis.ways.why_not_bpf.empty());
    CHECK(diagnosis.ways.why_not_rings.empty());
  }
}

TEST_CASE("each line that does not pass has advice") {
  HostFacts facts = radio_host();
  facts.lockdown = "confidentiality";
  facts.governors = {"powersave"};
  facts.clocksource = "acpi_pm";
  facts.has_btf = false;
  facts.energy_zones.clear();
  facts.energy_refused = {"package-0"};
  facts.capabilities = 0;
  facts.perf_event_paranoid = 3;
  const Diagnosis diagnosis = judge_host(facts, old_kernel());
  for (const std::string id : {"lockdown", "governor", "clocks", "btf", "energy", "rights",
                               "settings", "memory", "smt", "uprobes"}) {
    CAPTURE(id);
    CHECK(find(diagnosis, id).verdict != CheckStatus::kPass);
    CHECK(!find(diagnosis, id).advice.empty());
  }
}

TEST_CASE("CPUs whose cycle counters disagree are named with their offsets") {
  HostAnswers answers = new_kernel();
  answers.counters.others = {{.cpu = 1, .ns = 40, .error_ns = 90},
                             {.cpu = 2, .ns = -1234, .error_ns = 80}};
  const Diagnosis diagnosis = judge_host(virtual_machine(), answers);
  const Check& check = find(diagnosis, "cycle_counters");
  CHECK(check.verdict == CheckStatus::kDegraded);
  CHECK(check.finding == "differ from CPU 0's: CPU 2 -1234 ns (known to 80)");
  CHECK(check.advice.contains("--engine bpf"));
  CHECK(check.values["offsets"][1]["apart"] == true);
  CHECK(check.values["offsets"][0]["apart"] == false);
  answers.counters.others.clear();
  answers.counters.why_not = "this process may use one CPU only";
  CHECK(find(judge_host(virtual_machine(), answers), "cycle_counters").finding ==
        "not compared: this process may use one CPU only");
}

}  // namespace
}  // namespace sojourn::doctor
