// --where EXPR, or another option with such an expression: the filter language on the command line
// (docs/filters.md). An error in the expression itself is wrong usage; that it does not fit a
// trace's points is found when it is compiled for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/event_filter.h"
#include "analysis/filter/journey_filter.h"
#include "analysis/filter/thread_filter.h"
#include "analysis/model/event.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class WhereOption {
 public:
  // Declares the option; `help` says what it keeps.
  void define(Arguments& arguments, const std::string& help, const std::string& name = "--where");
  const std::string& name() const { return name_; }

  bool given() const { return !text_.empty(); }
  // The expression in one line.
  std::string text() const;

  // Nothing if the option was not given.
  Result<std::optional<filter::EventFilter>> events(const trace::Reader& reader) const;
  Result<std::optional<filter::JourneyFilter>> journeys(const trace::Reader& reader) const;
  Result<std::optional<filter::ThreadFilter>> threads(const trace::Reader& reader) const;

  // Requires that the option was given.
  Result<filter::Expression> expression() const;

 private:
  std::string name_ = "--where";
  std::string text_;
};

// The rows of a batch that the filter keeps; all without a filter.
void select(std::optional<filter::EventFilter>& where, const model::EventBatch& events,
            std::vector<std::uint32_t>& rows);

}  // namespace sojourn::cli
