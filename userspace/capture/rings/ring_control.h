// Switches a target's points and reads the state of its rings, from outside, whether or not a
// collector is attached: it takes no lock and writes only the switches. One thread owns a
// RingControl.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/rings/arena_match.h"
#include "userspace/capture/rings/mapped_arena.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

struct PointSwitch {
  model::PointId point = 0;
  bool is_on = true;
  bool is_armed = false;  // a collector wants it in the rings
};

struct RingStatus {
  std::uint32_t pid = 0;  // in the target's namespace, as tid
  std::uint32_t tid = 0;
  std::string thread;
  std::uint64_t bytes = 0;
  std::uint64_t waiting_bytes = 0;
  std::uint64_t lost = 0;  // since it was made
};

class RingControl {
 public:
  // Fails if the process has no rings: then there are no switches either.
  static Result<RingControl> open(const tracee::Process& process, const tracee::Points& points);

  // Every point that has a switch, in the schema's order.
  std::vector<PointSwitch> points() const;
  std::vector<RingStatus> rings() const;

  // Switches the points that the pattern matches ("rlc.*", "U *").
  struct Switched {
    std::size_t matched = 0;
    std::vector<model::PointId> changed;
  };
  Switched switch_points(const std::string& pattern, bool on);
  Switched switch_points(const std::vector<model::PointId>& points, bool on);

 private:
  struct Module {
    Arena arena;
    ArenaMatch match;
  };
  std::uint16_t* flag_of(const tracee::RingSite& site) const;
  Switched switch_those(const std::function<bool(model::PointId)>& is_meant, bool on);

  const tracee::Points* points_ = nullptr;
  std::vector<Module> modules_;
};

}  // namespace sojourn::capture
