// --script FILE on the command line: a Lua script that filters a trace's events and journeys, and
// adds to them (docs/scripts.md).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "analysis/filter/journey_filter.h"
#include "analysis/journeys/journey.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/staged_copy.h"
#include "userspace/cli/arguments.h"
#include "userspace/scripts/journey_script.h"
#include "userspace/scripts/script_stage.h"

namespace sojourn::cli {

// A script at work on a trace; or none, which keeps everything.
class ScriptRun {
 public:
  using Predicate = std::function<bool(const journeys::Journey&)>;

  ScriptRun() = default;
  ScriptRun(std::shared_ptr<scripts::ScriptStage> events,
            std::unique_ptr<scripts::JourneyScript> journeys)
      : events_(std::move(events)), journeys_(std::move(journeys)) {}

  const scripts::ScriptStage* events() const { return events_.get(); }
  bool filters_journeys() const { return journeys_ != nullptr; }
  // Both the filter and the script; empty where neither has a say. Both outlive it.
  Predicate predicate(const std::optional<filter::JourneyFilter>& where) const;
  // The expression and the script, as one condition in words.
  std::string words(const std::string& where) const;

  // Call it after a pass. Fails if the script failed, because the results would be wrong.
  Result<void> check() const;
  // Call it after all output: reports what the script kept and made.
  Result<void> finish() const;

 private:
  friend class ScriptOption;
  std::shared_ptr<scripts::ScriptStage> events_;
  std::unique_ptr<scripts::JourneyScript> journeys_;
  std::shared_ptr<std::string> part_error_;  // the option's
};

class ScriptOption {
 public:
  void define(Arguments& arguments);
  bool given() const { return !path_.empty(); }

  // The script as it stands in its file; none without the option.
  Result<std::optional<scripts::ScriptSource>> read() const;

  // The things that a command shows. For events, a script's filters of journeys have no effect.
  enum class Things : std::uint8_t { kEvents, kJourneys };
  // Reads the script, and puts it between the reader and everybody behind. No script without the
  // option.
  Result<ScriptRun> start(trace::Reader& reader, Things things) const;

  // Writes the trace as the script changes it. Fails for a script that filters journeys, because a
  // trace holds events.
  Result<void> write(trace::Reader& reader, const trace::Put& put,
                     const trace::CopyProgress& progress = {}) const;

  // When the command has done all else: an error where a part of the script has failed, which ended
  // that part alone.
  Result<void> outcome() const;

 private:
  std::string path_;
  std::shared_ptr<std::string> part_error_ = std::make_shared<std::string>();
};

}  // namespace sojourn::cli
