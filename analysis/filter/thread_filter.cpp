#include "analysis/filter/thread_filter.h"

#include <algorithm>
#include <utility>

namespace sojourn::filter {

namespace {

// More CPUs than any machine has. The program's streams are the CPUs here.
constexpr std::int32_t kMaxCpus = 1 << 16;

// A schema whose only point represents the activity of threads.
model::Schema nothing_but_threads() {
  model::Schema schema;
  schema.points.emplace_back();
  return schema;
}

bool is_time(const Leaf& leaf) {
  return leaf.kind == Leaf::Kind::kNumber && leaf.steps.front().kind == Step::Kind::kWord &&
         leaf.steps.front().word == Keyword::kTime;
}

}  // namespace

Result<ThreadFilter> ThreadFilter::compile(const Expression& expression,
                                           const BindContext& around) {
  SJ_TRY(condition, bind(expression, Scope::kThread, nothing_but_threads(), around));
  return ThreadFilter(std::move(condition), around);
}

ThreadFilter::ThreadFilter(Condition condition, const BindContext& around)
    : condition_(std::move(condition)),
      origin_ns_(around.origin_ns),
      program_(condition_, nothing_but_threads(), around.origin_ns, Missing::kReject) {
  std::int32_t cpus = 0;
  for (const model::Stream& stream : around.streams)
    cpus = std::max(cpus, std::min(stream.cpu, kMaxCpus - 1) + 1);
  for (std::int32_t cpu = 0; cpu < cpus; ++cpu)
    program_.add_stream({.id = static_cast<std::uint32_t>(cpu), .cpu = cpu});
  add_turns(condition_);
  std::ranges::sort(turns_ns_);
  const auto twice = std::ranges::unique(turns_ns_);
  turns_ns_.erase(twice.begin(), twice.end());
}

void ThreadFilter::add_turns(const Condition& condition) {
  for (const Condition& part : condition.parts) add_turns(part);
  if (condition.kind != Condition::Kind::kLeaf || !is_time(condition.leaf)) return;
  const auto add = [&](Number ns) {
    if (ns + origin_ns_ > 0 && ns + origin_ns_ <= Number{UINT64_MAX})
      turns_ns_.push_back(static_cast<std::uint64_t>(ns + origin_ns_));
  };
  for (const Range& range : condition.leaf.ranges) {
    if (range.low != kMinNumber) add(range.low);
    if (range.high != kMaxNumber) add(range.high + 1);
  }
}

bool ThreadFilter::operator()(std::uint32_t tid, std::int32_t cpu, std::uint64_t ts_ns) const {
  return program_.matches({.ts_ns = ts_ns,
                           .seq = 0,
                           .stream = static_cast<std::uint32_t>(cpu),  // negative: not known
                           .tid = tid,
                           .point = 0,
                           .values = {}});
}

template <typename Part>
void ThreadFilter::each_part(std::uint64_t begin_ns, std::uint64_t end_ns, const Part& part) const {
  auto turn = std::ranges::upper_bound(turns_ns_, begin_ns);
  for (; turn != turns_ns_.end() && *turn < end_ns; ++turn)
    part(std::exchange(begin_ns, *turn), *turn);
  if (begin_ns < end_ns) part(begin_ns, end_ns);
}

void ThreadFilter::cut(std::uint32_t tid, std::int32_t cpu, std::uint64_t begin_ns,
                       std::uint64_t end_ns, const Take& take) const {
  each_part(begin_ns, end_ns, [&](std::uint64_t from_ns, std::uint64_t to_ns) {
    if ((*this)(tid, cpu, from_ns)) take(from_ns, to_ns);
  });
}

// A condition on the thread or the CPU may be true or false.
bool ThreadFilter::may_hold(const Condition& condition, std::uint64_t ts_ns) const {
  const auto part_may = [&](const Condition& part) { return may_hold(part, ts_ns); };
  switch (condition.kind) {
    case Condition::Kind::kAnd:
      return std::ranges::all_of(condition.parts, part_may);
    case Condition::Kind::kOr:
      return std::ranges::any_of(condition.parts, part_may);
    case Condition::Kind::kLeaf:
      break;
  }
  if (!is_time(condition.leaf)) return true;
  const Number shown_ns = Number{ts_ns} - origin_ns_;
  const bool holds = std::ranges::any_of(
      condition.leaf.ranges, [shown_ns](const Range& range) { return range.holds(shown_ns); });
  return holds != condition.is_negated;
}

std::uint64_t ThreadFilter::time_in(std::uint64_t begin_ns, std::uint64_t end_ns) const {
  std::uint64_t sum_ns = 0;
  each_part(begin_ns, end_ns, [&](std::uint64_t from_ns, std::uint64_t to_ns) {
    if (may_hold(condition_, from_ns)) sum_ns += to_ns - from_ns;
  });
  return sum_ns;
}

}  // namespace sojourn::filter
