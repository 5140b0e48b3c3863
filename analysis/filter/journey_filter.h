// Selects the journeys that match an expression, always whole ones. A condition on a field, a
// point, a thread or a CPU holds for a journey if it holds for any of its events. All conditions
// inside of event(...) have to hold for the same event. A JourneyFilter is made for one trace, and
// one thread owns it.
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

  // The span outside of which no selected journey begins.
  const Span& span() const;

  bool operator()(const journeys::Journey& journey) const;

 private:
  struct State;
  explicit JourneyFilter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::filter
