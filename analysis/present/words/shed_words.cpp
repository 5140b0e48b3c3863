#include "analysis/present/words/shed_words.h"

#include <fmt/format.h>

#include "analysis/present/words/text_format.h"

namespace sojourn::present {

std::string shed_notice(const model::Schema& schema, const model::Capture& capture) {
  const std::size_t points = model::times_shed_ns(capture).size();
  if (points == 0) return {};
  return fmt::format(
      "{} of {} points were off for up to {} of the time, for the budget or switched off: rates, "
      "gaps and depths are of the whole time all the same (record --budget none, ctl enable)\n",
      points, schema.points.size(), percent(model::longest_shed_share(capture)));
}

}  // namespace sojourn::present
