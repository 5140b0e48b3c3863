#include "analysis/page/page_differences.h"

#include <nlohmann/json.hpp>

#include "analysis/differential/direction_traits.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/present/traits/traits_text.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/trace/reader.h"

namespace sojourn::page {

Result<nlohmann::ordered_json> differences(Executor& executor, pipeline::TraceInput& input,
                                           const DifferenceQuestion& question,
                                           const pipeline::Progress& progress) {
  const trace::Reader& reader = input.reader();
  const differential::AttributeCollector::About about = {
      .schema = reader.schema(),
      .topology = input.topology(),
      .streams = reader.streams(),
      .thread_names = profile::thread_names(reader.context()),
      .origin_ns = pipeline::origin_ns(reader)};
  differential::AttributeCollector collector(about, question.is_chosen);
  pipeline::TracePass pass(executor, input);
  pass.show(progress);
  if (question.keep) pass.keep(question.keep);
  pass.observe(collector);
  SJ_CHECK(pass.run());
  collector.finish();
  present::TraitsContent content = {
      .slow = question.text, .directions = {}, .left_out = collector.left_out()};
  for (const model::Direction direction : model::kPacketDirections)
    if (collector.of(direction).packets() != 0)
      content.directions.push_back(differential::traits_of(collector, direction));
  return present::traits_json(content);
}

}  // namespace sojourn::page
