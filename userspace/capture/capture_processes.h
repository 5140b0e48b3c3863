// The processes of a capture, and what is known of those that come, end, fork, load code, or are
// started by a script. Plain data; what is done with it is in capture_members.cpp,
// capture_family.cpp, capture_code.cpp and capture_launch.cpp. The capture's thread owns it.
#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "analysis/model/capture.h"
#include "userspace/capture/bpf/family_watch.h"
#include "userspace/capture/capture_session.h"
#include "userspace/target/code_watch.h"
#include "userspace/target/process.h"
#include "userspace/target/target.h"

namespace sojourn::capture {

class BpfEngine;
class Engine;

// A process, and who records it.
struct Member {
  explicit Member(Subject subject)
      : process(std::move(subject.process)),
        points(std::move(subject.points)),
        code(std::move(subject.code)) {}

  target::Process process;
  target::Points points;  // under the capture's numbers
  model::Target about;
  std::vector<Engine*> engines;           // its own; its rings may be in the engine of its family
  std::vector<BpfEngine*> bpf;            // of them
  std::map<model::PointId, bool> was_on;  // by point that a trigger has switched
  bool has_rings = false;
  bool is_counted = false;  // what its hits cost
  target::CodeWatch code;
  // What its files hold now, while that is found out: by a thread, for maps take seconds, in
  // which rings would fill.
  std::future<Result<target::Points>> finding;
  std::uint64_t finding_from_ns = 0;  // what it finds was not there before
  std::uint64_t cpu_first_ns = 0;
  std::uint64_t cpu_last_ns = 0;  // the newest reading: an exited process has none
  bool has_family = false;        // its rings are in the engine of another member
  std::uint64_t begun_ns = 0;     // as another program, whose rings are not found yet; 0: no
  unsigned code_tries = 0;
  bool is_held = false;         // a command that is still to become itself
  bool rings_may_come = false;  // it has just become another program
  bool is_with_others = false;  // other sources know it
  bool has_ended = false;
  bool is_retired = false;
};

// What is left of the engines of processes that have ended.
struct Retired {
  model::Ledger losses;
  std::vector<std::uint64_t> hits;
  std::uint64_t events = 0;
  std::uint64_t cpu_ns = 0;
};

// ---- processes that come ----

// A process of the cgroup in which there is nothing to record, so far.
struct Bystander {
  target::Process process;
  target::CodeWatch code;
  std::uint64_t next_ns = 0;
  unsigned tries = 0;
};

struct Newcomer {
  std::uint64_t from_ns = 0;                  // it was not there before
  pid_t parent = 0;                           // of one that is followed
  std::optional<target::Points> points = {};  // where they are known
  bool is_last_try = true;                    // it is not to be hoped that it becomes ready yet
};
enum class Joined : std::uint8_t { kYes, kNothing, kLater };

struct LateJoiners {
  std::vector<Bystander> bystanders;
  std::set<pid_t> refused;  // of the cgroup: that cannot be recorded
  std::uint64_t next_look_ns = 0;
  std::uint64_t last_look_ns = 0;
  std::size_t told = 0;
};

// ---- children (--follow) ----

// A forked child that is to be looked at.
struct Child {
  FamilyEvent event;
  std::uint64_t not_before_ns = 0;
  unsigned tries = 0;
};

struct Family {
  std::optional<FamilyWatch> watch;
  std::deque<Child> children;
  std::map<pid_t, FamilyEvent> plain;  // children in which there is nothing to record, so far
  std::vector<pid_t> met;              // by their rings
  bool told_of_brief = false;
};

// ---- code that comes ----

struct CodeLooks {
  std::uint64_t next_ns = 0;  // for libraries that come
  std::uint64_t last_ns = 0;
  std::uint64_t often_until_ns = 0;  // a program has just begun
};

// What a script starts.
struct Launch {
  std::uint64_t next_look_ns = 0;
  std::set<pid_t> missed;           // that ended before their rings were found
  bool has_checked_points = false;  // of what it started
};

}  // namespace sojourn::capture
