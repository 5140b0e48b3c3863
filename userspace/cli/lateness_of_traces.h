// Why packets of several traces were late, by one limit for all of them. Each is read again.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/causes/explainer.h"
#include "analysis/differential/cause_change.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {

Result<std::vector<differential::RunCauses>> lateness_of_traces(
    const std::vector<std::string>& paths, const RulesOption& rules, const WhereOption& where,
    const causes::Deadlines& late);

}  // namespace sojourn::cli
