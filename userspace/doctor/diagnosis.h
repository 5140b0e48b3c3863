// The findings of doctor: one Check for each line, with advice. Plain data, no behaviour.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sojourn::doctor {

enum class CheckStatus { kPass, kDegraded, kNo };

struct Check {
  std::string id;     // stable, for programs: "uprobe_multi"
  std::string title;  // for people
  CheckStatus verdict = CheckStatus::kPass;
  std::string finding;
  std::string advice;  // empty: there is nothing to do
  nlohmann::ordered_json values = nlohmann::ordered_json::object();  // the facts and measurements
};

// Which engines work; an empty `why_not` means that it does.
struct UsableEngines {
  std::string why_not_bpf;
  std::string why_not_rings;

  bool any() const { return why_not_bpf.empty() || why_not_rings.empty(); }
};

struct Diagnosis {
  std::vector<Check> checks;
  UsableEngines ways;
};

}  // namespace sojourn::doctor
