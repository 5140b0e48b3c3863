// --where of commands about what threads did.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "analysis/filter/thread_filter.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/threads/activity_selection.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {

class ThreadSelection {
 public:
  static Result<ThreadSelection> of(const WhereOption& where, const trace::Reader& reader);

  // The result refers to this object, which must outlive it and not be moved.
  threads::ActivitySelection of_threads() const;
  profile::SampledWork::SampleFilter of_samples() const;

  // The length of [begin, end) that the selection can include.
  std::uint64_t time_in(std::uint64_t begin_ns, std::uint64_t end_ns) const;

 private:
  explicit ThreadSelection(std::optional<filter::ThreadFilter> filter)
      : filter_(std::move(filter)) {}

  std::optional<filter::ThreadFilter> filter_;
  std::map<std::uint32_t, std::int32_t> cpus_;  // by stream
};

}  // namespace sojourn::cli
