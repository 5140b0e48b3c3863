#include "userspace/capture/queues/socket_sampler.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "analysis/base/second.h"
#include "userspace/base/clock.h"
#include "userspace/capture/output/sink.h"

namespace sojourn::capture {

namespace {

model::Point sample_point() {
  model::Point point;
  point.direction = model::Direction::kSample;
  point.src = "socket.sample";
  point.file = "kernel";
  const auto field = [&](const char* name, std::uint8_t bytes) {
    point.fields.push_back({.name = name, .bytes = bytes});
  };
  field("socket", 8);
  for (const char* name :
       {"receive", "receive_limit", "unread", "send", "send_limit", "backlog", "drops"})
    field(name, 4);
  field("took_ns", 8);
  return point;
}

std::array<std::uint64_t, 8> values_of(const SocketState& socket) {
  return {socket.cookie,     socket.receive_bytes, socket.receive_limit, socket.unread_bytes,
          socket.send_bytes, socket.send_limit,    socket.backlog_bytes, socket.drops};
}

}  // namespace

Result<SocketSampler> SocketSampler::open(const tracee::Process& process) {
  SJ_TRY(diag, SocketDiag::open(process));
  return SocketSampler(process, std::move(diag));
}

Result<void> SocketSampler::connect(CaptureOutput& output) {
  SJ_TRY(point, output.add_point(sample_point()));
  point_ = point;
  stream_ = output.new_stream(
      {.engine = model::Engine::kSampler, .cpu = -1, .tid = -1, .pid = process_->pid()});
  sink_ = &output.sink();
  batch_ = sink_->empty_batch();
  return {};
}

void SocketSampler::record(const SocketState& socket, std::uint64_t ts_ns, std::uint64_t took_ns) {
  std::array<std::uint64_t, 9> values{};
  std::ranges::copy(values_of(socket), values.begin());
  values.back() = took_ns;
  batch_.append({.ts_ns = ts_ns,
                 .seq = events_++,
                 .stream = stream_,
                 .tid = static_cast<std::uint32_t>(process_->pid()),
                 .point = point_,
                 .values = values});
}

Result<std::vector<SocketState>> SocketSampler::look(bool in_any_case) {
  std::vector<SocketState> fresh;
  const std::uint64_t begin_ns = base::monotonic_ns();
  if ((begin_ns < next_ns_ && !in_any_case) || !process_->alive()) return fresh;
  next_ns_ = begin_ns + kPeriodNs;
  const std::vector<std::uint64_t> own = socket_inodes(*process_);
  SJ_TRY(sockets, diag_.dump());
  const std::uint64_t took_ns = base::monotonic_ns() - begin_ns;
  for (SocketState& socket : sockets) {
    if (!std::ranges::binary_search(own, socket.inode)) continue;
    const auto [entry, is_new] = known_.try_emplace(socket.cookie);
    if (is_new) fresh.push_back(socket);
    Known& known = entry->second;
    const bool is_told = known.told_ns != 0 && begin_ns - known.told_ns < kNsPerSecond;
    const bool counts = begin_ns >= open_ns_ && begin_ns < close_ns_;
    if (!counts || (is_told && values_of(known.state) == values_of(socket))) continue;
    record(socket, begin_ns, took_ns);
    known = {.state = std::move(socket), .told_ns = begin_ns};
  }
  return fresh;
}

void SocketSampler::flush() {
  if (batch_.empty()) return;
  sink_->push(std::exchange(batch_, sink_->empty_batch()));
}

}  // namespace sojourn::capture
