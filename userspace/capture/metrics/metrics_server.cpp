#include "userspace/capture/metrics/metrics_server.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <latch>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/base/clock.h"
#include "userspace/base/fail_errno.h"
#include "userspace/capture/metrics/feed_follower.h"
#include "userspace/capture/metrics/http_request.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kMaxClients = 16;
constexpr std::uint64_t kClientNs = 10'000'000'000;  // for a request and its answer
constexpr int kTickMs = 500;

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

struct Client {
  base::Fd fd;
  std::uint64_t until_ns = 0;
  std::string request;
  std::string response;  // what is left of it
  bool is_done = false;

  short events() const { return response.empty() ? POLLIN : POLLOUT; }
};

}  // namespace

class MetricsServer::Loop {
 public:
  Loop(base::Fd listener, bool is_unix, BlockFeed& feed, std::chrono::nanoseconds flush_period,
       std::size_t ues)
      : listener_(std::move(listener)),
        is_unix_(is_unix),
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
  void accept_all();
  void serve(Client& client);
  void receive(Client& client);
  std::string answer(const HttpRequest& request) const;

  base::Fd listener_;
  bool is_unix_;
  Wakeup news_;
  Wakeup requests_;
  std::atomic<bool> stops_ = false;
  FeedFollower follower_;  // one thread's own from its beginning on
  mutable std::mutex mutex_;
  std::shared_ptr<const Expositions> texts_;  // both threads'
  std::list<Client> clients_;                 // the other one's
  std::array<std::thread, 2> threads_;
};

void MetricsServer::Loop::follow() {
  pollfd news{.fd = news_.fd(), .events = POLLIN, .revents = 0};
  if (!follower_.follow()) poll(&news, 1, kTickMs);
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
  std::vector<pollfd> watched = {{.fd = requests_.fd(), .events = POLLIN, .revents = 0},
                                 {.fd = listener_.get(), .events = POLLIN, .revents = 0}};
  for (const Client& client : clients_)
    watched.push_back({.fd = client.fd.get(), .events = client.events(), .revents = 0});
  poll(watched.data(), watched.size(), kTickMs);
  auto client = clients_.begin();
  for (std::size_t index = 2; index < watched.size(); ++index, ++client)
    if (watched[index].revents != 0) serve(*client);
  const std::uint64_t now_ns = base::monotonic_ns();
  clients_.remove_if([now_ns](const Client& one) { return one.is_done || now_ns > one.until_ns; });
  if (watched[1].revents != 0) accept_all();
}

// One too many is closed at once.
void MetricsServer::Loop::accept_all() {
  for (;;) {
    base::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    if (clients_.size() < kMaxClients)
      clients_.push_back({.fd = std::move(fd),
                          .until_ns = base::monotonic_ns() + kClientNs,
                          .request = {},
                          .response = {}});
  }
}

void MetricsServer::Loop::serve(Client& client) {
  if (client.response.empty()) receive(client);
  while (!client.response.empty()) {
    const ssize_t sent =
        send(client.fd.get(), client.response.data(), client.response.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return;
    client.is_done = sent < 0;
    if (client.is_done) return;
    client.response.erase(0, static_cast<std::size_t>(sent));
    client.is_done = client.response.empty();
  }
}

void MetricsServer::Loop::receive(Client& client) {
  std::array<char, 4096> piece{};
  const ssize_t got = recv(client.fd.get(), piece.data(), piece.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  client.is_done = got <= 0;
  if (client.is_done) return;
  client.request.append(piece.data(), static_cast<std::size_t>(got));
  bool is_wrong = false;
  const auto request = parse_http_request(client.request, is_wrong);
  if (is_wrong)
    client.response = http_response("400 Bad Request", "text/plain", "this is no request\n");
  else if (request)
    client.response = answer(*request);
}

std::string MetricsServer::Loop::answer(const HttpRequest& request) const {
  if (!is_unix_ && !is_own_host(request.host))
    return http_response("403 Forbidden", "text/plain",
                         "the Host header must name this machine: localhost or 127.0.0.1\n");
  if (request.method != "GET")
    return http_response("405 Method Not Allowed", "text/plain", "only GET\n");
  if (request.path != "/metrics")
    return http_response("404 Not Found", "text/plain", "there is /metrics\n");
  const metrics::Format format = metrics::format_for(request.accept);
  const std::scoped_lock lock(mutex_);
  return http_response("200 OK", metrics::content_type(format),
                       (*texts_)[static_cast<std::size_t>(format)]);
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
