// Judges the inspection of a process: its meaning for recording. Pure functions.
#pragma once

#include <string>

#include "userspace/doctor/diagnosis.h"
#include "userspace/doctor/target_inspection.h"

namespace sojourn::doctor {

// Adds the process's checks to its machine's, and leaves only the engines that work for it.
void judge_target(const TargetInspection& look, Diagnosis& diagnosis);

// A table of the points that are hit, the most expensive first.
std::string points_text(const TargetInspection& look);

}  // namespace sojourn::doctor
