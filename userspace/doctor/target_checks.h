// What a look at a process means for recording it. Pure: same in, same out.
#pragma once

#include <string>

#include "userspace/doctor/check.h"
#include "userspace/doctor/target_look.h"

namespace sojourn::doctor {

// Adds the process's checks to its machine's, and narrows the ways down to those that it has.
void judge_target(const TargetLook& look, Diagnosis& diagnosis);

// The points that are hit, the dearest first, as a table.
std::string points_text(const TargetLook& look);

}  // namespace sojourn::doctor
