#include "analysis/present/words/depth_labels.h"

#include <fmt/format.h>

#include "analysis/present/words/text_format.h"

namespace sojourn::present {

std::string never_left_text(std::string_view place, const NeverLeft& found) {
  const double share = static_cast<double>(found.units) / static_cast<double>(found.of);
  return fmt::format("{}{}: {} of {} ({}) were never seen to leave: {} of its depth is theirs{}",
                     found.is_depth_known ? "" : "* ", place, count(found.units), count(found.of),
                     percent(share), percent(found.depth_share),
                     found.is_depth_known ? "" : ", so it means nothing");
}

}  // namespace sojourn::present
