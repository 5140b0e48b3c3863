#include "analysis/page/page_differences.h"

#include <nlohmann/json.hpp>

#include "analysis/differential/attribute_pass.h"
#include "analysis/differential/direction_traits.h"
#include "analysis/present/traits/traits_text.h"

namespace sojourn::page {

Result<nlohmann::ordered_json> differences(Executor& executor, pipeline::TraceInput& input,
                                           const DifferenceQuestion& question,
                                           const pipeline::Progress& progress) {
  const differential::AttributeCollector::About about = differential::about(input);
  differential::AttributeCollector collector(about, question.is_chosen);
  SJ_CHECK(differential::gather_attributes(executor, input, question.keep, progress, collector));
  present::TraitsContent content = {
      .slow = question.text, .directions = {}, .left_out = collector.left_out()};
  for (const model::Direction direction : model::kPacketDirections)
    if (collector.of(direction).packets() != 0)
      content.directions.push_back(differential::traits_of(collector, direction));
  return present::traits_json(content);
}

}  // namespace sojourn::page
