#include "userspace/cli/rules_option.h"

#include <cstddef>
#include <utility>

#include "userspace/cli/tell.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/files/rules_reader.h"

namespace sojourn::cli {

void RulesOption::define(Arguments& arguments) {
  arguments
      .add_option("--rules", path_,
                  "A file that says which point feeds which, and how, where their names do not say "
                  "it. `sojourn report --explain-rules` prints the rules in force in this form")
      .type_name("FILE");
}

Result<journeys::Rules> RulesOption::read() const {
  if (path_.empty()) return journeys::Rules{};
  return files::read_rules(path_);
}

Result<pipeline::TraceInput> derive_input(trace::Reader reader, const journeys::Rules& rules) {
  auto input = pipeline::TraceInput::create(std::move(reader), rules);
  if (input)
    for (const std::string& words : input->topology().unmatched_rules)
      tell("{} in {}: this rule is left out\n", words, input->reader().path());
  return input;
}

Result<pipeline::TraceInput> open_input(const std::string& path, const RulesOption& rules) {
  SJ_TRY(read, rules.read());
  SJ_TRY(reader, open_trace(path));
  return derive_input(std::move(reader), read);
}

latseq::Ends latseq_ends(const journeys::Rules& rules) {
  latseq::Ends stated = {.in = {}, .out = {}};
  for (const journeys::PointRule& rule : rules.points) {
    const std::size_t direction = rule.point.direction == model::Direction::kUplink ? 1 : 0;
    const auto dashes = rule.point.name.find("--");
    if (rule.kind == journeys::PointKind::kInput)
      stated.in[direction].push_back(rule.point.name.substr(0, dashes));
    if (rule.kind == journeys::PointKind::kOutput)
      stated.out[direction].push_back(rule.point.name.substr(dashes + 2));
  }
  latseq::Ends ends;
  for (std::size_t direction = 0; direction < 2; ++direction) {
    if (!stated.in[direction].empty()) ends.in[direction] = std::move(stated.in[direction]);
    if (!stated.out[direction].empty()) ends.out[direction] = std::move(stated.out[direction]);
  }
  return ends;
}

}  // namespace sojourn::cli
