// Judges a machine's facts and answers: their meaning for recording. Pure functions.
#pragma once

#include "userspace/doctor/diagnosis.h"
#include "userspace/doctor/host_answers.h"
#include "userspace/doctor/host_facts.h"

namespace sojourn::doctor {

Diagnosis judge_host(const HostFacts& facts, const HostAnswers& answers);

// Returns whether this process has the capabilities for loading and attaching BPF programs.
bool may_use_bpf(const HostFacts& facts);
// Returns whether this process has the capability to look into other users' processes.
bool may_look_into_others(const HostFacts& facts);

std::string nanoseconds(std::uint64_t ps);  // "425 ns", "9.34 ns", "12.1 us"

}  // namespace sojourn::doctor
