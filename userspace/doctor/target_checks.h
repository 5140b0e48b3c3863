// What a look at a process means for recording it. Pure: same in, same out.
#pragma once

#include <string>

#include "userspace/doctor/diagnosis.h"
#include "userspace/doctor/target_inspection.h"

namespace sojourn::doctor {

// Adds the process's checks to its machine's, and narrows the ways down to those that it has.
void judge_target(const TargetInspection& look, Diagnosis& diagnosis);

// The points that are hit, the dearest first, as a table.
std::string points_text(const TargetInspection& look);

}  // namespace sojourn::doctor
