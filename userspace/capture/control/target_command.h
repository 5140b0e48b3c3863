// A command that the tracer starts itself: forked, and held before its first instruction until the
// probes are in place. A script is a command like any other: the kernel runs its interpreter.
// Destroying a TargetCommand that was never released kills the held child (it is ours, and has run
// nothing); a released one is left to run. One thread owns it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/capture/rings/ring_directory.h"

namespace sojourn::capture {

class TargetCommand {
 public:
  // Sizes of rings that record from the start; 0: the program's own defaults.
  struct RingSizes {
    std::size_t ring_bytes = 0;
    std::size_t memory_ceiling = 0;
  };

  // Finds the program as a shell would and forks; argv[0] is the name to be found.
  static Result<TargetCommand> prepare(std::vector<std::string> argv,
                                       const RingSizes& sizes = {0, 0});
  TargetCommand(TargetCommand&& other) noexcept;
  TargetCommand& operator=(TargetCommand&&) = delete;
  ~TargetCommand();

  pid_t pid() const { return pid_; }

  // Returns whether the executed file is the command's interpreter.
  bool is_script() const { return is_script_; }

  // The executable and every library that it will start with, as the dynamic loader resolves them.
  const std::vector<std::string>& files() const { return files_; }

  // The directory of its rings, if they record from the start. Empty if none could be made, or if
  // $SJ_RING_DIR names another.
  std::string ring_directory() const { return rings_ ? rings_->path() : std::string(); }

  // Lets it run, on request with its rings recording from the start. Returns once it is the new
  // program; an error where that failed.
  Result<void> release(bool arm_rings = false);

 private:
  TargetCommand() = default;

  std::vector<std::string> argv_;
  std::vector<std::string> files_;
  pid_t pid_ = -1;
  base::Fd go_;      // a byte lets the child run, and says how; closing it ends the child
  base::Fd failed_;  // the child's errno where exec failed, end of file where it worked
  bool released_ = false;
  bool is_script_ = false;
  std::optional<RingDirectory> rings_;
};

}  // namespace sojourn::capture
