// Selects the events that an expression is true for. An EventFilter is made for one trace. A copy
// is independent, and one thread owns each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/program.h"
#include "analysis/filter/syntax.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::filter {

class EventFilter {
 public:
  static Result<EventFilter> compile(const Expression& expression, const model::Schema& schema,
                                     const BindContext& around, Missing missing = Missing::kReject);

  void add_stream(const model::Stream& stream) { program_.add_stream(stream); }

  // The span outside of which no event matches.
  const Span& span() const { return span_; }

  // Returns whether all, some or none of a point's events can match.
  Program::PointMatch point_match(model::PointId point) const {
    return program_.point_match(point);
  }
  std::optional<std::vector<FieldTest>> field_tests(model::PointId point) const {
    return program_.field_tests(point);
  }

  bool operator()(const model::EventView& event) const { return program_.matches(event); }
  // Appends the rows that match, in their order.
  void select(const model::EventBatch& events, std::vector<std::uint32_t>& rows) {
    program_.select(events, rows);
  }

 private:
  EventFilter(Program program, const Span& span) : program_(std::move(program)), span_(span) {}

  Program program_;
  Span span_;
};

}  // namespace sojourn::filter
