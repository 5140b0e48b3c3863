#include "userspace/capture/flight_rings.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <poll.h>

#include "analysis/base/second.h"
#include "userspace/base/clock.h"
#include "userspace/base/count_text.h"
#include "userspace/base/fail_errno.h"
#include "userspace/capture/control/signals.h"
#include "userspace/capture/output/dumps.h"
#include "userspace/capture/output/writable.h"

namespace sojourn::capture {

namespace {}  // namespace

FlightRings::FlightRings(SnapshotRings rings, WriterThread& writer, std::string output)
    : rings_(std::move(rings)), writer_(&writer), output_(std::move(output)), names_(output_) {
  for (const tracee::Process* process : rings_.processes()) {
    if (control_)
      std::ignore = control_->add(process->pid());
    else if (auto listening = ControlSocket::listen(process->pid()))
      control_ = std::move(*listening);
  }
}

std::string FlightRings::dump(const std::string& why, bool& worked) {
  // Only the writer's thread has the rights to look into the directory.
  const Result<std::string> path =
      writer_->run([this] { return Result<std::string>(names_.next()); });
  worked = path.has_value();
  if (!worked) return fmt::format("not dumped: {}", path.error().text());
  const auto written = rings_.write(*writer_, *path, why);
  worked = written.has_value();
  if (!worked) return fmt::format("not dumped: {}", written.error().text());
  ++dumps_;
  const OrphanedTrace& trace = written->trace;
  const std::chrono::nanoseconds span(trace.capture.close_ns - trace.capture.open_ns);
  return fmt::format("{}: {} ({})", *path, dump_size_text(trace.counts.events, span), why);
}

void FlightRings::obey(const ControlSocket::Request& request, const Say& say) {
  if (request.words == "dump") {
    bool worked = false;
    const std::string words = dump("sojourn ctl", worked);
    say(words);
    control_->answer(request.client, worked, words);
  } else if (request.words == "stop") {
    ended_by_ = "sojourn ctl";
    control_->answer(request.client, true, "stopping");
  } else if (request.words == "status") {
    control_->answer(request.client, true,
                     fmt::format("{}: waiting, {} rings hold the newest events, {} dumps", output_,
                                 rings_.rings(), dumps_));
  } else {
    control_->answer(
        request.client, false,
        fmt::format("{}: the target records by itself: dump, status and stop are what there is",
                    request.words));
  }
}

// Takes in the rings of new libraries. One that cannot be taken in is reported; the others go on.
void FlightRings::look_for_libraries(const Say& say) {
  const auto looked = rings_.look_again();
  if (looked) return;
  if (std::exchange(reported_problem_, looked.error().text()) != looked.error().text())
    say(fmt::format("not in the dumps: {}", reported_problem_));
}

// Waits for a request, a signal, the end of a target, or a second.
Result<void> FlightRings::wait(int signals, std::uint64_t end_ns, const Say& say) {
  std::vector<pollfd> watched = {
      {.fd = signals, .events = POLLIN, .revents = 0},
      {.fd = control_ ? control_->fd() : -1, .events = POLLIN, .revents = 0}};
  for (const tracee::Process* process : rings_.processes())
    if (process->alive())
      watched.push_back({.fd = process->pidfd(), .events = POLLIN, .revents = 0});
  const std::uint64_t now_ns = base::monotonic_ns();
  const std::uint64_t wait_ns = std::min(kNsPerSecond, end_ns - std::min(end_ns, now_ns));
  const timespec wait{.tv_sec = static_cast<time_t>(wait_ns / kNsPerSecond),
                      .tv_nsec = static_cast<long>(wait_ns % kNsPerSecond)};
  if (ppoll(watched.data(), watched.size(), &wait, nullptr) < 0 && errno != EINTR)
    return fail_errno("wait for the target");
  if (watched[1].revents != 0)
    for (const ControlSocket::Request& request : control_->take()) obey(request, say);
  if (watched[0].revents != 0) {
    const int signal = read_signal(signals);
    bool worked = false;
    if (signal == SIGUSR1)
      say(dump("SIGUSR1", worked));
    else
      ended_by_ = words_for(signal);
  }
  return {};
}

Result<SnapshotRings::Written> FlightRings::run(int signals,
                                                std::optional<std::chrono::nanoseconds> duration,
                                                const Say& say) {
  std::string left_before;
  SJ_CHECK(writer_->run([&]() -> Result<void> {
    SJ_TRY(put_aside, try_to_write(output_, FileOwner::self()));
    left_before = std::move(put_aside);
    return {};
  }));
  if (!left_before.empty()) say(put_aside_text(left_before));
  const auto processes = rings_.processes();
  say(fmt::format("waiting: {} of {} hold {} newest events: sojourn ctl -p {} dump",
                  base::counted(rings_.rings(), "ring"), rings_.title(),
                  processes.size() == 1 ? "its" : "their", processes.front()->pid()));
  const std::uint64_t end_ns =
      duration ? base::monotonic_ns() + static_cast<std::uint64_t>(duration->count()) : UINT64_MAX;
  while (ended_by_.empty()) {
    SJ_CHECK(wait(signals, end_ns, say));
    if (base::monotonic_ns() >= end_ns) ended_by_ = "duration";
    if (!rings_.any_alive())
      ended_by_ = "target exit";
    else
      look_for_libraries(say);
  }
  return rings_.write(*writer_, output_, ended_by_);
}

}  // namespace sojourn::capture
