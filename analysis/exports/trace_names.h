// The names of the numbers in a trace's events: CPUs, threads, processes, wall time. Made once for
// an export; immutable. The reader must outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/exports/rows.h"
#include "analysis/model/wall_clock.h"
#include "analysis/trace/reader.h"

namespace sojourn::exports {

class TraceNames {
 public:
  explicit TraceNames(const trace::Reader& reader);

  std::string_view thread(std::uint32_t tid) const;  // empty where it has no name
  std::optional<std::int32_t> cpu(std::uint32_t stream) const;
  // The process of the stream; else the process of the thread; else the only target.
  std::optional<std::int32_t> pid(std::uint32_t stream, std::uint32_t tid) const;
  std::optional<std::uint64_t> unix_ns(std::uint64_t ts_ns) const;

  Cell thread_cell(std::uint32_t tid) const;
  Cell cpu_cell(std::uint32_t stream) const;
  Cell pid_cell(std::uint32_t stream, std::uint32_t tid) const;
  Cell unix_cell(std::uint64_t ts_ns) const;

 private:
  struct StreamOwner {
    std::int32_t cpu = -1;
    std::int32_t pid = -1;
  };

  std::map<std::uint32_t, std::string> threads_;
  std::unordered_map<std::uint32_t, std::int32_t> pids_;  // by thread
  std::unordered_map<std::uint32_t, StreamOwner> streams_;
  std::optional<std::int32_t> only_pid_;
  model::WallClock wall_clock_;
};

}  // namespace sojourn::exports
