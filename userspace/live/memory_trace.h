// A trace in memory that one process writes and another reads as it grows: no name, no disk, and
// gone with the last of the two. It is bounded: where the reader falls so far behind, blocks of
// events are left out, which shows as gaps in the streams' numbers. Each end belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "analysis/trace/byte_sink.h"
#include "analysis/trace/byte_source.h"
#include "userspace/base/fd.h"

namespace sojourn::live_view {

class MemoryTrace {
 public:
  static Result<MemoryTrace> create(std::uint64_t max_bytes);

  // The end that writes, in a child of `reader`: it fails once that process is gone.
  std::unique_ptr<trace::ByteSink> sink(pid_t reader) const;
  // The end that reads, and gives back the memory of what it has read.
  Result<std::unique_ptr<trace::ByteSource>> source(std::string name) const;

 private:
  MemoryTrace(base::Fd fd, std::uint64_t max_bytes) : fd_(std::move(fd)), max_bytes_(max_bytes) {}

  base::Fd fd_;
  std::uint64_t max_bytes_;
};

}  // namespace sojourn::live_view
