#include "userspace/capture/metrics/metrics_server.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/capture/metrics/feed_follower.h"
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

// Waits for what it is woken for, or for something to look at again.
class Wakeup {
 public:
  bool is_there() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  void send() const {
    const std::uint64_t one = 1;
    std::ignore = write(fd_.get(), &one, sizeof(one));
  }
  void take() const {
    std::uint64_t news = 0;
    std::ignore = read(fd_.get(), &news, sizeof(news));
  }

 private:
  base::Fd fd_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

}  // namespace

class MetricsServer::Loop {
 public:
  Loop(base::Fd listener, bool is_unix, BlockFeed& feed, std::chrono::nanoseconds flush_period,
       std::size_t ues)
      : is_unix_(is_unix),
        server_(std::move(listener), kLimits,
                [this](const http::Request& request) { return answer(request); }),
        follower_(feed, flush_period, ues, [this] { news_.send(); }) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    stops_ = true;
    news_.send();
    requests_.send();
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

  Result<void> begin(const FileOwner& owner) {
    if (!news_.is_there() || !requests_.is_there()) return fail_errno("serve metrics");
    publish();
    SJ_CHECK(begin(owner, threads_[0], [this] { follow(); }));
    return begin(owner, threads_[1], [this] { turn(); });
  }

 private:
  template <typename Turn>
  Result<void> begin(const FileOwner& owner, std::thread& thread, const Turn& turn) {
    Result<void> became;
    std::latch has_begun(1);
    thread = std::thread([&became, &has_begun, &owner, turn, this] {
      became = become_writer(owner);
      const bool goes_on = became.has_value();
      has_begun.count_down();
      while (goes_on && !stops_) turn();
    });
    has_begun.wait();
    return became;
  }
  void follow();
  void publish();
  void turn();
  http::Response answer(const http::Request& request) const;

  bool is_unix_;
  http::Server server_;  // the other thread's own
  Wakeup news_;
  Wakeup requests_;
  std::atomic<bool> stops_ = false;
  FeedFollower follower_;  // one thread's own from its beginning on
  mutable std::mutex mutex_;
  std::shared_ptr<const Expositions> texts_;  // both threads'
  std::array<std::thread, 2> threads_;
};

void MetricsServer::Loop::follow() {
  pollfd news{.fd = news_.fd(), .events = POLLIN, .revents = 0};
  if (!follower_.follow()) poll(&news, 1, static_cast<int>(kTick.count()));
  news_.take();
  if (follower_.has_news()) publish();
}

void MetricsServer::Loop::publish() {
  const std::vector<metrics::Family> families = follower_.families();
  auto texts = std::make_shared<Expositions>();
  for (const metrics::Format format : kFormats)
    (*texts)[static_cast<std::size_t>(format)] =
        metrics::exposition(families, format, follower_.clock());
  const std::scoped_lock lock(mutex_);
  texts_ = std::move(texts);
}

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

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(files::StreamAddress address,
                                                            BlockFeed& feed,
                                                            std::chrono::nanoseconds flush_period,
                                                            std::size_t ues,
                                                            const FileOwner& owner) {
  const auto listen = [&] {
    const WriteAs as(owner);
    return files::listen_at(address);
  };
  SJ_TRY(fd, listen());
  auto loop = std::make_unique<Loop>(std::move(fd), address.is_unix(), feed, flush_period, ues);
  SJ_CHECK(loop->begin(owner));
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(loop), std::move(address)));
}

}  // namespace sojourn::capture
