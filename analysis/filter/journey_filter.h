// The filter language for whoever has journeys. What an expression says of a field, a point, a
// thread or a CPU holds for a journey when it holds for any of its events; all that is inside of
// event(...) has to hold for one and the same. So a journey is kept whole or not at all. Made for
// one trace; one thread owns a JourneyFilter.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/event_filter.h"
#include "analysis/filter/syntax.h"
#include "analysis/journeys/journey.h"

namespace sojourn::filter {

class JourneyFilter {
 public:
  static Result<JourneyFilter> compile(const Expression& expression, const model::Schema& schema,
                                       const BindContext& around);
  JourneyFilter(JourneyFilter&&) noexcept;
  JourneyFilter& operator=(JourneyFilter&&) noexcept;
  ~JourneyFilter();

  // No journey that begins outside of it is selected.
  const Span& span() const;

  bool operator()(const journeys::Journey& journey) const;

 private:
  struct State;
  explicit JourneyFilter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::filter
