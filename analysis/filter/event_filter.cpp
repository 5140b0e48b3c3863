#include "analysis/filter/event_filter.h"

#include "analysis/filter/bind.h"

namespace sojourn::filter {

Result<EventFilter> EventFilter::compile(const Expression& expression, const model::Schema& schema,
                                         const BindContext& around, Missing missing) {
  SJ_TRY(condition, bind(expression, Scope::kEvent, schema, around));
  EventFilter filter(Program(condition, schema, around.origin_ns, missing),
                     span_of(condition, around.origin_ns));
  for (const model::Stream& stream : around.streams) filter.add_stream(stream);
  return filter;
}

}  // namespace sojourn::filter
