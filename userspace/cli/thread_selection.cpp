#include "userspace/cli/thread_selection.h"

namespace sojourn::cli {

Result<ThreadSelection> ThreadSelection::of(const WhereOption& where, const trace::Reader& reader) {
  SJ_TRY(filter, where.threads(reader));
  ThreadSelection made(std::move(filter));
  for (const model::Stream& stream : reader.streams()) made.cpus_[stream.id] = stream.cpu;
  return made;
}

threads::ActivitySelection ThreadSelection::of_threads() const {
  if (!filter_) return {};
  return {.wants = [this](std::uint32_t tid, std::int32_t cpu,
                          std::uint64_t ts_ns) { return (*filter_)(tid, cpu, ts_ns); },
          .time_of =
              [this](std::uint32_t tid, std::int32_t cpu, std::uint64_t begin_ns,
                     std::uint64_t end_ns) {
                std::uint64_t sum_ns = 0;
                filter_->cut(
                    tid, cpu, begin_ns, end_ns,
                    [&](std::uint64_t from_ns, std::uint64_t to_ns) { sum_ns += to_ns - from_ns; });
                return sum_ns;
              }};
}

profile::SampledWork::SampleFilter ThreadSelection::of_samples() const {
  if (!filter_) return {};
  return [this](const model::EventView& sample) {
    const auto cpu = cpus_.find(sample.stream);
    return (*filter_)(sample.tid, cpu == cpus_.end() ? -1 : cpu->second, sample.ts_ns);
  };
}

std::uint64_t ThreadSelection::time_in(std::uint64_t begin_ns, std::uint64_t end_ns) const {
  if (end_ns <= begin_ns) return 0;
  return filter_ ? filter_->time_in(begin_ns, end_ns) : end_ns - begin_ns;
}

}  // namespace sojourn::cli
