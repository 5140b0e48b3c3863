// Which journeys a script keeps. Its functions for journeys run in a worker of their own: they see
// no variables that functions for events have set. One thread at a time has a JourneyScript.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/base/result.h"
#include "analysis/journeys/journey.h"
#include "analysis/model/schema.h"
#include "userspace/scripts/worker.h"

namespace sojourn::scripts {

class JourneyScript {
 public:
  // `before`: the points without the script's additions.
  static Result<std::unique_ptr<JourneyScript>> create(const ScriptSource& source,
                                                       const model::Schema& before,
                                                       std::uint64_t open_ns, Worker::Say say);

  // After an error no journey is kept.
  bool operator()(const journeys::Journey& journey);

  // Empty: there was none.
  const std::string& error() const { return error_; }

 private:
  JourneyScript(std::string name, std::size_t points, std::unique_ptr<Worker> worker)
      : name_(std::move(name)), points_(points), worker_(std::move(worker)) {}
  Result<bool> keeps(const journeys::Journey& journey);
  Result<void> fill_steps(const journeys::Journey& journey);

  std::string name_;
  std::size_t points_;
  std::unique_ptr<Worker> worker_;
  std::string error_;
};

}  // namespace sojourn::scripts
