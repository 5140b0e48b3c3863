// --where EXPR, or another option with such an expression: the filter language on the command line
// (docs/filters.md). What is wrong with the
// expression by itself is wrong usage; what a trace's points say against it is found when it is
// compiled for them.
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
  // Declares the option; `help` says what is kept.
  void define(Arguments& arguments, const std::string& help, const std::string& name = "--where");
  const std::string& name() const { return name_; }

  bool given() const { return !text_.empty(); }
  // In one line, on however many it was written.
  std::string text() const;

  // None where it was not given.
  Result<std::optional<filter::EventFilter>> events(const trace::Reader& reader) const;
  Result<std::optional<filter::JourneyFilter>> journeys(const trace::Reader& reader) const;
  Result<std::optional<filter::ThreadFilter>> threads(const trace::Reader& reader) const;

  // Only where it was given.
  Result<filter::Expression> expression() const;

 private:
  std::string name_ = "--where";
  std::string text_;
};

// The rows of a batch that a filter keeps: all where none was given.
void select(std::optional<filter::EventFilter>& where, const model::EventBatch& events,
            std::vector<std::uint32_t>& rows);

}  // namespace sojourn::cli
