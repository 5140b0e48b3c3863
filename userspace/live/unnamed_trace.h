// A trace without a name that one process writes and another reads as it grows: it is gone with the
// last of the two. In memory it is bounded: if the reader falls far behind, blocks of events are
// left out, which shows as gaps in the streams' numbers. On disk all of it stays. Each end belongs
// to one thread.
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

class UnnamedTrace {
 public:
  static Result<UnnamedTrace> in_memory(std::uint64_t max_bytes);
  // In the directory for temporary files: $TMPDIR, or /var/tmp.
  static Result<UnnamedTrace> on_disk();

  // The end that writes, in a child of `reader`: it fails once that process is gone.
  std::unique_ptr<trace::ByteSink> sink(pid_t reader) const;
  // The end that reads forward. A file in memory gives back the part that was read.
  Result<std::unique_ptr<trace::ByteSource>> source(std::string name) const;
  // The file, to read any of it.
  Result<base::Fd> file() const;

 private:
  UnnamedTrace(base::Fd fd, std::uint64_t max_bytes) : fd_(std::move(fd)), max_bytes_(max_bytes) {}

  base::Fd fd_;
  std::uint64_t max_bytes_;  // UINT64_MAX: on disk
};

}  // namespace sojourn::live_view
