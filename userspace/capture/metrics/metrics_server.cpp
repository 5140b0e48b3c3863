#include "userspace/capture/metrics/metrics_server.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/capture/metrics/wakeup.h"
#include "userspace/http/server.h"

namespace sojourn::capture {

namespace {

constexpr http::Limits kLimits = {
    .clients = 16, .request = std::chrono::seconds(10), .standstill = std::chrono::seconds(10)};
constexpr std::chrono::milliseconds kTick(500);

// The figures in each form, by metrics::Format.
using Expositions = std::array<std::string, 3>;
constexpr std::array kFormats = {metrics::Format::kPrometheus, metrics::Format::kOpenMetrics,
                                 metrics::Format::kProtobuf};

}  // namespace

class MetricsServer::Loop {
 public:
  Loop(base::Fd listener, bool is_unix)
      : is_unix_(is_unix),
        server_(std::move(listener), kLimits,
                [this](const http::Request& request) { return answer(request); }) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    stops_ = true;
    requests_.send();
    if (thread_.joinable()) thread_.join();
  }

  Result<void> begin(const FileOwner& owner) {
    if (!requests_.is_there()) return fail_errno("serve metrics");
    Result<void> became;
    std::latch has_begun(1);
    thread_ = std::thread([&became, &has_begun, &owner, this] {
      became = become_writer(owner);
      const bool goes_on = became.has_value();
      has_begun.count_down();
      while (goes_on && !stops_) turn();
    });
    has_begun.wait();
    return became;
  }

  void take(std::shared_ptr<const Expositions> texts) {
    const std::scoped_lock lock(mutex_);
    texts_ = std::move(texts);
  }

 private:
  void turn();
  http::Response answer(const http::Request& request) const;

  bool is_unix_;
  http::Server server_;  // used by the thread alone
  Wakeup requests_;
  std::atomic<bool> stops_ = false;
  mutable std::mutex mutex_;
  std::shared_ptr<const Expositions> texts_ = std::make_shared<Expositions>();
  std::thread thread_;
};

void MetricsServer::Loop::turn() {
  pollfd requests{.fd = requests_.fd(), .events = POLLIN, .revents = 0};
  server_.turn(kTick, {&requests, 1});
}

http::Response MetricsServer::Loop::answer(const http::Request& request) const {
  http::Response response;
  const auto refuse = [&response](const char* status, const char* words) {
    response.status = status;
    response.body = words;
    return response;
  };
  if (!is_unix_ && !http::is_own_host(request.host))
    return refuse("403 Forbidden",
                  "the Host header must name this machine: localhost or 127.0.0.1\n");
  if (request.method != "GET") return refuse("405 Method Not Allowed", "only GET\n");
  if (request.path != "/metrics") return refuse("404 Not Found", "there is /metrics\n");
  const metrics::Format format = metrics::format_for(request.accept);
  response.content_type = metrics::content_type(format);
  const std::scoped_lock lock(mutex_);
  response.body = (*texts_)[static_cast<std::size_t>(format)];
  return response;
}

MetricsServer::MetricsServer(std::unique_ptr<Loop> loop, files::StreamAddress address)
    : address_(std::move(address)), loop_(std::move(loop)) {}

MetricsServer::~MetricsServer() {
  loop_.reset();
  if (address_.is_unix()) unlink(address_.path.c_str());
}

void MetricsServer::publish(const std::vector<metrics::Family>& families,
                            const std::optional<model::ClockPair>& clock, bool /*is_last*/) {
  auto texts = std::make_shared<Expositions>();
  for (const metrics::Format format : kFormats)
    (*texts)[static_cast<std::size_t>(format)] = metrics::exposition(families, format, clock);
  loop_->take(std::move(texts));
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(files::StreamAddress address,
                                                            const FileOwner& owner) {
  const auto listen = [&] {
    const WriteAs as(owner);
    return files::listen_at(address);
  };
  SJ_TRY(fd, listen());
  auto loop = std::make_unique<Loop>(std::move(fd), address.is_unix());
  SJ_CHECK(loop->begin(owner));
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(loop), std::move(address)));
}

}  // namespace sojourn::capture
