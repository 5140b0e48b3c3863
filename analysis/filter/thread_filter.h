// Selects spans of threads' activity, for recordings without points: an expression may use `time`,
// `thread`, `tid` and `cpu`. A ThreadFilter is made for one trace, and one thread owns it.
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

  // `cpu` is negative if it is not known.
  bool operator()(std::uint32_t tid, std::int32_t cpu, std::uint64_t ts_ns) const;

  // The parts of [begin, end) for which the expression is true.
  using Take = std::function<void(std::uint64_t begin_ns, std::uint64_t end_ns)>;
  void cut(std::uint32_t tid, std::int32_t cpu, std::uint64_t begin_ns, std::uint64_t end_ns,
           const Take& take) const;

  // The length of [begin, end) in which the expression can be true for any thread and CPU.
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
  std::vector<std::uint64_t> turns_ns_;  // the times at which the result may change, sorted
};

}  // namespace sojourn::filter
