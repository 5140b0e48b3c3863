// A core file: the memory of a process when it crashed, and facts about the process by the kernel
// (or by a debugger that wrote the core). Hostile until checked, as any file of a target: sizes are
// compared with the file's before anything is sized by them, and all spans lie inside of it. A core
// that was cut short (by a limit, by a full disk) can still be read as far as it goes. One thread
// owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::tracee {

// A range of the process's memory.
struct CoreSegment {
  std::uint64_t address = 0;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t bytes = 0;   // in the file; fewer than in memory if the core was cut
};

// A thread as it was at the end.
struct CoreThread {
  pid_t tid = 0;                  // in its own namespace
  std::uint64_t instruction = 0;  // its next instruction
};

class CoreFile {
 public:
  // Returns whether the file's header says that it is a core.
  static bool is_core(int file);
  // `name` is the file's name in errors.
  static Result<CoreFile> open(base::Fd file, std::uint64_t file_bytes, const std::string& name);

  const std::string& name() const { return name_; }
  // In the order of the file.
  const std::vector<CoreSegment>& segments() const { return segments_; }
  std::uint64_t missing_bytes() const { return missing_bytes_; }  // not 0: it was cut short

  pid_t pid() const { return pid_; }  // in its own namespace
  // The signal that ended it; 0: unknown.
  int signal() const { return signal_; }
  const std::string& comm() const { return comm_; }            // at most 15 characters
  const std::string& arguments() const { return arguments_; }  // in one line, at most 79 characters

  const std::vector<CoreThread>& threads() const { return threads_; }

  // Fails if the file does not have as many bytes there.
  Result<void> read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  Result<void> read_segments();
  Result<void> read_notes(std::uint64_t offset, std::uint64_t bytes);
  void read_note(std::uint32_t type, std::span<const std::byte> description);

  std::string name_;
  base::Fd file_;
  std::uint64_t file_bytes_ = 0;
  std::vector<CoreSegment> segments_;
  std::uint64_t missing_bytes_ = 0;
  pid_t pid_ = 0;
  int signal_ = 0;
  std::vector<CoreThread> threads_;
  bool has_status_ = false;
  std::uint64_t note_bytes_ = 0;  // of all note segments, which may overlap
  std::string comm_;
  std::string arguments_;
};

}  // namespace sojourn::tracee
