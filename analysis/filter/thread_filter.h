// The filter language for whoever knows what threads did, for how long and on which CPU, and has no
// events of points: `time`, `thread`, `tid` and `cpu` are known. Made for one trace; one thread
// owns each.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/bind.h"
#include "analysis/filter/program.h"
#include "analysis/filter/syntax.h"

namespace sojourn::filter {

class ThreadFilter {
 public:
  static Result<ThreadFilter> compile(const Expression& expression, const BindContext& around);

  // A CPU below 0 is not known.
  bool operator()(std::uint32_t tid, std::int32_t cpu, std::uint64_t ts_ns) const;

  // The parts of [begin, end) that it is true of.
  using Take = std::function<void(std::uint64_t begin_ns, std::uint64_t end_ns)>;
  void cut(std::uint32_t tid, std::int32_t cpu, std::uint64_t begin_ns, std::uint64_t end_ns,
           const Take& take) const;

  // For how much of [begin, end) it can be true, whatever the thread and the CPU.
  std::uint64_t time_in(std::uint64_t begin_ns, std::uint64_t end_ns) const;

 private:
  ThreadFilter(Condition condition, const BindContext& around);
  void add_turns(const Condition& condition);
  bool may_hold(const Condition& condition, std::uint64_t ts_ns) const;
  template <typename Part>
  void each_part(std::uint64_t begin_ns, std::uint64_t end_ns, const Part& part) const;

  Condition condition_;
  Number origin_ns_ = 0;
  Program program_;
  std::vector<std::uint64_t> turns_ns_;  // between two of them time changes nothing; in order
};

}  // namespace sojourn::filter
