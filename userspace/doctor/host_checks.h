// Judges a machine's facts and answers: what they mean for recording. Pure functions.
#pragma once

#include "userspace/doctor/diagnosis.h"
#include "userspace/doctor/host_answers.h"
#include "userspace/doctor/host_facts.h"

namespace sojourn::doctor {

Diagnosis judge_host(const HostFacts& facts, const HostAnswers& answers);

// Whether this process has the capabilities that loading and attaching BPF programs takes.
bool may_use_bpf(const HostFacts& facts);
// Whether this process has the capability to look into other users' processes.
bool may_look_into_others(const HostFacts& facts);

std::string nanoseconds(std::uint64_t ps);  // "425 ns", "9.34 ns", "12.1 us"

}  // namespace sojourn::doctor
