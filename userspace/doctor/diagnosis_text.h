// The text and the JSON of a diagnosis; docs/doctor.md describes both.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "userspace/doctor/diagnosis.h"

namespace sojourn::doctor {

std::string to_text(const Diagnosis& diagnosis);
nlohmann::ordered_json to_json(const Diagnosis& diagnosis);

}  // namespace sojourn::doctor
