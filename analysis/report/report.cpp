#include "analysis/report/report.h"

#include <algorithm>

namespace sojourn::report {

std::uint64_t Content::lost() const {
  std::uint64_t counted = 0;
  for (const auto& entry : facts.ledger)
    if (entry.cause != model::LossCause::kFiltered && entry.cause != model::LossCause::kNotArmed)
      counted += entry.count;
  return std::max(counted, totals.lost);
}

bool Content::knows_losses() const {
  return facts.capture.close_ns != 0 && facts.capture.engine != model::Engine::kImport;
}

double Content::duration_s() const {
  auto begin_ns = facts.capture.open_ns;
  auto end_ns = facts.capture.close_ns;
  if (begin_ns == 0) begin_ns = totals.first_ns;
  if (end_ns == 0) end_ns = totals.last_ns;
  return end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) / 1e9 : 0;
}

}  // namespace sojourn::report
