#include "analysis/exports/trace_names.h"

namespace sojourn::exports {

TraceNames::TraceNames(const trace::Reader& reader) : wall_clock_(reader.clocks()) {
  for (const model::Stream& stream : reader.streams())
    streams_[stream.id] = {.cpu = stream.cpu, .pid = stream.pid};
  for (const model::ContextName& name : reader.context().names) {
    if (name.kind != model::NameKind::kThread) continue;
    const auto tid = static_cast<std::uint32_t>(name.id);
    threads_[tid] = name.name;
    if (name.pid != 0) pids_[tid] = static_cast<std::int32_t>(name.pid);
  }
  if (reader.targets().size() == 1 && reader.target().pid != 0) only_pid_ = reader.target().pid;
}

std::string_view TraceNames::thread(std::uint32_t tid) const {
  const auto found = threads_.find(tid);
  return found == threads_.end() ? std::string_view() : found->second;
}

std::optional<std::int32_t> TraceNames::cpu(std::uint32_t stream) const {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || found->second.cpu < 0) return std::nullopt;
  return found->second.cpu;
}

std::optional<std::int32_t> TraceNames::pid(std::uint32_t stream, std::uint32_t tid) const {
  const auto found = streams_.find(stream);
  if (found != streams_.end() && found->second.pid >= 0) return found->second.pid;
  const auto of_thread = pids_.find(tid);
  return of_thread == pids_.end() ? only_pid_ : of_thread->second;
}

std::optional<std::uint64_t> TraceNames::unix_ns(std::uint64_t ts_ns) const {
  if (!wall_clock_.known()) return std::nullopt;
  return wall_clock_.realtime_ns(ts_ns);
}

Cell TraceNames::thread_cell(std::uint32_t tid) const {
  const std::string_view name = thread(tid);
  return cell_if(!name.empty(), name);
}

Cell TraceNames::cpu_cell(std::uint32_t stream) const {
  const auto found = cpu(stream);
  return cell_if(found.has_value(), static_cast<std::uint64_t>(found.value_or(0)));
}

Cell TraceNames::pid_cell(std::uint32_t stream, std::uint32_t tid) const {
  const auto found = pid(stream, tid);
  return cell_if(found.has_value(), static_cast<std::uint64_t>(found.value_or(0)));
}

Cell TraceNames::unix_cell(std::uint64_t ts_ns) const {
  const auto found = unix_ns(ts_ns);
  return cell_if(found.has_value(), found.value_or(0));
}

}  // namespace sojourn::exports
