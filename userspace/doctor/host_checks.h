// What a machine's facts and answers mean for recording on it. Pure: same in, same out.
#pragma once

#include "userspace/doctor/diagnosis.h"
#include "userspace/doctor/host_answers.h"
#include "userspace/doctor/host_facts.h"

namespace sojourn::doctor {

Diagnosis judge_host(const HostFacts& facts, const HostAnswers& answers);

// Whether this process has the capabilities that loading and attaching BPF programs takes.
bool may_use_bpf(const HostFacts& facts);
// The one that looking into other users' processes takes.
bool may_look_into_others(const HostFacts& facts);

std::string nanoseconds(std::uint64_t ps);  // "425 ns", "9.34 ns", "12.1 us"

}  // namespace sojourn::doctor
