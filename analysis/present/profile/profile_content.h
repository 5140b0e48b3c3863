// The output of `sojourn profile`: the target's CPU time by place, thread and function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/model/capture_info.h"
#include "analysis/profile/hot_functions.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/profile/stack_names.h"

namespace sojourn::present {

// References outlive the printing.
struct ProfileContent {
  const model::Target& target;
  const model::Counter& counter;
  const profile::SampledWork& work;
  const profile::StackNames& names;
  const model::Schema& schema;
  std::map<std::uint32_t, std::string> threads;  // names
  profile::LocationFilter wanted;
  std::size_t max_rows = 20;
  std::size_t width = SIZE_MAX;  // of the terminal

  std::string thread(std::uint32_t tid) const;
  std::string place(std::uint16_t place) const;   // "D pdcp.tx", "between units"
  std::string point(model::PointId point) const;  // "D pdcp.tx--rlc.tx.am"; empty: none
};

std::string profile_text(const ProfileContent& content);
// The heading and the table of functions, without the rest of profile_text().
std::string hot_functions_text(const ProfileContent& content);
nlohmann::ordered_json profile_json(const ProfileContent& content);
std::string profile_folded(const ProfileContent& content);

}  // namespace sojourn::present
