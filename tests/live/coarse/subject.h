// An unprepared program, a map of it, and a recording by that map.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "tests/live/programs.h"

namespace sojourn::live {

// The program's path in the build directory.
std::string coarse_path(const std::string& name);

// The program runs as long as this object exists.
class CoarseSubject {
 public:
  CoarseSubject(const std::string& name, const std::string& map);

  std::string pid() const { return std::to_string(target_.pid()); }
  bool running() { return target_.running(); }
  const std::string& trace() const { return trace_; }
  void change_map(const std::string& map);
  test::Ended end(int signal);

  // Records all points of the map, also slow ones; requires success.
  test::Ended record(const std::string& duration);
  // `command` for the process and the map, as in "list".
  std::vector<std::string> with_map(const std::string& command,
                                    const std::vector<std::string>& more = {}) const;

 private:
  test::TemporaryDirectory directory_;
  std::string map_;
  std::string trace_;
  test::Child target_;
};

// An event's values by their fields' names; what could not be read is not there.
using Values = std::map<std::string, std::uint64_t>;
Values values_of(const model::Point& point, const model::EventView& event);

// Parses the output of a command with --json, an object a line.
std::vector<nlohmann::json> json_lines(const std::string& text);

}  // namespace sojourn::live
