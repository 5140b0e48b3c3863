#include "userspace/capture/control_service.h"

#include <csignal>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "userspace/base/clock.h"
#include "userspace/capture/control/signals.h"

namespace sojourn::capture {

ControlService::ControlService(const Options& options, CaptureRecord& record, const Sink& sink,
                               EventPump& pump, const ProgressReporter& progress,
                               std::function<Result<void>()> open)
    : options_(&options),
      record_(&record),
      sink_(&sink),
      pump_(&pump),
      progress_(&progress),
      open_(std::move(open)) {}

void ControlService::listen(const TracedProcesses& processes) {
  for (const auto& one : processes.all()) {
    if (socket_)
      std::ignore = socket_->add(one->process.pid());
    else if (auto listening = ControlSocket::listen(one->process.pid()))
      socket_ = std::move(*listening);
  }
}

Result<void> ControlService::on_joined(const TracedProcess& process) {
  if (socket_) std::ignore = socket_->add(process.process.pid());
  return {};
}

void ControlService::on_ended(const TracedProcess& process) {
  if (socket_) socket_->remove(process.process.pid());
}

void ControlService::answer(int client, bool worked, const std::string& words) {
  socket_->answer(client, worked, words);
}

Result<void> ControlService::take_requests() {
  for (const ControlSocket::Request& request : socket_->take()) SJ_CHECK(obey(request));
  return {};
}

void ControlService::on_signal(int signal) {
  if (signal != SIGUSR1)
    record_->end(words_for(signal));
  else if (is_holding())
    recorder_->ask_dump("SIGUSR1");
  else
    pump_->flush();
}

std::string ControlService::status() const {
  const std::uint64_t now = base::monotonic_ns();
  return fmt::format("{}: {:.1f} s, {} events, {} lost, {} bytes {}, {} dumps", options_->output,
                     record_->is_open() ? static_cast<double>(now - record_->open_ns()) / 1e9 : 0.0,
                     pump_->events(), progress_->lost(), sink_->bytes(),
                     is_holding() ? "held" : "written",
                     recorder_ != nullptr ? recorder_->dumps() : 0U);
}

Result<void> ControlService::obey(const ControlSocket::Request& request) {
  const int client = request.client;
  if (request.words == "status") {
    answer(client, true, status());
  } else if (request.words == "start") {
    return start(client);
  } else if (request.words == "stop") {
    record_->end("sojourn ctl");
    answer(client, true, "stopping");
  } else if (request.words == "flush") {
    SJ_CHECK(pump_->catch_up());
    answer(client, true, "flushed");
  } else if (request.words == "dump") {
    dump(client);
  } else {
    answer(client, false, fmt::format("unknown request \"{}\"", request.words));
  }
  return {};
}

Result<void> ControlService::start(int client) {
  if (record_->is_open()) {
    answer(client, false, "it is running already");
    return {};
  }
  SJ_CHECK(open_());
  answer(client, true, "started");
  return {};
}

void ControlService::dump(int client) {
  if (!is_holding())
    answer(client, false,
           options_->flight ? "nothing is held any more: all is written to the file"
                            : "nothing is held to be dumped: the capture was started without "
                              "--flight");
  else if (!record_->is_open())
    answer(client, false, "it was not started yet");
  else
    recorder_->ask_dump("sojourn ctl", client);
}

}  // namespace sojourn::capture
