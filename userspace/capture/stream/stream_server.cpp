#include "userspace/capture/stream/stream_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <latch>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "userspace/base/clock.h"
#include "userspace/base/fail_errno.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kChunksAtOnce = 32;
constexpr std::size_t kTurnBytes = std::size_t{1} << 20;  // then the next reader has its turn
constexpr std::size_t kMaxReceived = std::size_t{64} << 10;
constexpr std::uint64_t kPatienceNs = 2'000'000'000;  // at the end, for a reader that takes nothing
constexpr std::uint64_t kMaxLingerNs = 10'000'000'000;  // and for all of them
constexpr int kTickMs = 200;
constexpr int kKeepAliveSeconds = 30;

// Readers have the numbers that follow.
constexpr std::uint64_t kWakeId = 0;
constexpr std::uint64_t kFirstListenerId = 1;
constexpr std::uint64_t kFirstReaderId = 1000;

Result<void> watch(int epoll, int fd, std::uint32_t events, std::uint64_t id) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) return fail_errno("watch a socket");
  return {};
}

void count_up(int eventfd) {
  const std::uint64_t one = 1;
  std::ignore = write(eventfd, &one, sizeof(one));
}

// A peer that vanished without a word is found out; nobody is hurried.
void keep_alive(int fd) {
  const int yes = 1;
  const int seconds = kKeepAliveSeconds;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
}

struct Connection {
  base::Fd fd;
  std::shared_ptr<BlockFeed::Reader> reader;
  std::size_t sent_of_first = 0;  // of the first chunk that waits
  std::size_t received = 0;
  std::uint64_t progress_ns = 0;
  bool is_blocked = false;    // until its socket has room
  bool says_nothing = false;  // it has shut its side down
};

}  // namespace

class StreamServer::Loop {
 public:
  explicit Loop(BlockFeed& feed)
      : feed_(&feed),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    stops_ = true;
    join();
    for (const auto& [id, connection] : connections_) feed_->leave(connection.reader);
  }

  Result<void> watch_wake() {
    if (!epoll_ || !wake_) return fail_errno("serve readers of the stream");
    return watch(epoll_.get(), wake_.get(), EPOLLIN, kWakeId);
  }
  Result<void> listen(base::Fd fd, const files::StreamAddress& address) {
    SJ_CHECK(watch(epoll_.get(), fd.get(), EPOLLIN, kFirstListenerId + listeners_.size()));
    listeners_.push_back(std::move(fd));
    if (address.is_unix()) paths_.push_back(address.path);
    return {};
  }
  void add(base::Fd fd);

  Result<void> begin(const FileOwner& owner) {
    Result<void> became;
    std::latch has_begun(1);
    thread_ = std::thread([&, this] {
      became = become_writer(owner);
      const bool goes_on = became.has_value();
      has_begun.count_down();
      if (goes_on) run();
    });
    has_begun.wait();
    return became;
  }
  bool finish() {
    finishes_ = true;
    join();
    return !has_cut_off_;
  }

 private:
  void join() {
    if (wake_) count_up(wake_.get());
    if (thread_.joinable()) thread_.join();
  }
  void run();
  void accept_all(int listener);
  void serve(std::uint64_t id, std::uint32_t events);
  bool receive(Connection& connection);
  bool send(Connection& connection);
  void want(std::uint64_t id, const Connection& connection) const;
  void cut_off(std::uint64_t id);
  void send_to_all();
  bool is_done();

  BlockFeed* feed_;
  base::Fd epoll_;
  base::Fd wake_;
  std::vector<base::Fd> listeners_;
  std::vector<std::string> paths_;  // of unix sockets, which go with the thread
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t next_id_ = kFirstReaderId;
  std::uint64_t finishing_since_ns_ = 0;
  bool has_cut_off_ = false;  // a reader at the end, which took nothing
  std::atomic<bool> finishes_ = false;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

// One too many is closed at once.
void StreamServer::Loop::add(base::Fd fd) {
  Connection connection;
  connection.reader = feed_->join([wake = wake_.get()] { count_up(wake); });
  if (!connection.reader) return;
  keep_alive(fd.get());
  connection.fd = std::move(fd);
  connection.progress_ns = base::monotonic_ns();
  const std::uint64_t id = next_id_++;
  if (!watch(epoll_.get(), connection.fd.get(), EPOLLIN, id)) {
    feed_->leave(connection.reader);
    return;
  }
  connections_.emplace(id, std::move(connection));
}

void StreamServer::Loop::run() {
  std::array<epoll_event, 64> events{};
  while (!stops_ && !is_done()) {
    const int count =
        epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), kTickMs);
    for (int index = 0; index < count; ++index) {
      const epoll_event& event = events[static_cast<std::size_t>(index)];
      const std::uint64_t id = event.data.u64;
      if (id == kWakeId) {
        std::uint64_t news = 0;
        std::ignore = read(wake_.get(), &news, sizeof(news));
      } else if (id < kFirstReaderId) {
        accept_all(listeners_[id - kFirstListenerId].get());
      } else {
        serve(id, event.events);
      }
    }
    send_to_all();
  }
  for (const auto& [id, connection] : connections_) shutdown(connection.fd.get(), SHUT_WR);
  while (!connections_.empty()) cut_off(connections_.begin()->first);
  for (const std::string& path : paths_) unlink(path.c_str());
}

void StreamServer::Loop::accept_all(int listener) {
  for (;;) {
    base::Fd fd(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd)
      add(std::move(fd));
    else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
      return static_cast<void>(usleep(10'000));  // else this would be asked again at once
    else if (errno != EINTR && errno != ECONNABORTED)
      return;
  }
}

void StreamServer::Loop::serve(std::uint64_t id, std::uint32_t events) {
  const auto known = connections_.find(id);
  if (known == connections_.end()) return;
  Connection& connection = known->second;
  const bool is_gone = (events & (EPOLLERR | EPOLLHUP)) != 0;
  if (is_gone || ((events & EPOLLIN) != 0 && !receive(connection))) return cut_off(id);
  if ((events & EPOLLOUT) != 0) connection.is_blocked = false;
  want(id, connection);
}

// False: it sends what nobody asked for. Whoever only shuts its side down may go on reading.
bool StreamServer::Loop::receive(Connection& connection) {
  std::array<char, 4096> rubbish{};
  for (;;) {
    const ssize_t got = recv(connection.fd.get(), rubbish.data(), rubbish.size(), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) {
      connection.says_nothing = true;
      return true;
    }
    connection.received += static_cast<std::size_t>(got);
    if (connection.received > kMaxReceived) return false;
  }
}

void StreamServer::Loop::want(std::uint64_t id, const Connection& connection) const {
  epoll_event event{};
  event.events = (connection.says_nothing ? 0U : EPOLLIN) | (connection.is_blocked ? EPOLLOUT : 0U);
  event.data.u64 = id;
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.fd.get(), &event);
}

// False: the reader is gone.
bool StreamServer::Loop::send(Connection& connection) {
  std::size_t turn = 0;
  while (turn < kTurnBytes) {
    const auto chunks = feed_->waiting(*connection.reader, kChunksAtOnce);
    if (chunks.empty()) return true;
    std::array<iovec, kChunksAtOnce> parts{};
    for (std::size_t index = 0; index < chunks.size(); ++index)
      parts[index] = {.iov_base = const_cast<std::uint8_t*>(chunks[index]->data()),
                      .iov_len = chunks[index]->size()};
    parts[0] = {.iov_base = const_cast<std::uint8_t*>(chunks[0]->data()) + connection.sent_of_first,
                .iov_len = chunks[0]->size() - connection.sent_of_first};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = chunks.size();
    const ssize_t sent = sendmsg(connection.fd.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      feed_->consume(*connection.reader, 0);
      connection.is_blocked = errno == EAGAIN;
      return connection.is_blocked;
    }
    turn += static_cast<std::size_t>(sent);
    connection.progress_ns = base::monotonic_ns();
    connection.sent_of_first += static_cast<std::size_t>(sent);
    std::size_t whole = 0;
    while (whole < chunks.size() && connection.sent_of_first >= chunks[whole]->size())
      connection.sent_of_first -= chunks[whole++]->size();
    feed_->consume(*connection.reader, whole);
  }
  count_up(wake_.get());  // there may be more, after the others
  return true;
}

void StreamServer::Loop::send_to_all() {
  std::vector<std::uint64_t> gone;
  for (auto& [id, connection] : connections_) {
    if (connection.is_blocked) continue;
    if (!send(connection))
      gone.push_back(id);
    else if (connection.is_blocked)
      want(id, connection);
  }
  for (const std::uint64_t id : gone) cut_off(id);
}

void StreamServer::Loop::cut_off(std::uint64_t id) {
  const auto known = connections_.find(id);
  feed_->leave(known->second.reader);
  connections_.erase(known);
}

// At the end a reader has as long as it takes something.
bool StreamServer::Loop::is_done() {
  if (!finishes_) return false;
  const std::uint64_t now_ns = base::monotonic_ns();
  if (finishing_since_ns_ == 0) finishing_since_ns_ = now_ns;
  const bool is_over = now_ns - finishing_since_ns_ > kMaxLingerNs;
  bool waits = false;
  for (const auto& [id, connection] : connections_) {
    if (feed_->is_complete(*connection.reader)) continue;
    const std::uint64_t since_ns = std::max(connection.progress_ns, finishing_since_ns_);
    if (is_over || now_ns - since_ns > kPatienceNs)
      has_cut_off_ = true;
    else
      waits = true;
  }
  return !waits;
}

StreamServer::StreamServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
StreamServer::~StreamServer() = default;

bool StreamServer::finish() {
  return loop_->finish();
}

Result<std::unique_ptr<StreamServer>> StreamServer::start(const StreamOptions& options,
                                                          BlockFeed& feed, const FileOwner& owner) {
  auto loop = std::make_unique<Loop>(feed);
  SJ_CHECK(loop->watch_wake());
  std::vector<files::StreamAddress> addresses;
  {
    const WriteAs as(owner);
    for (files::StreamAddress address : options.listen) {
      SJ_TRY(fd, files::listen_at(address));
      SJ_CHECK(loop->listen(std::move(fd), address));
      addresses.push_back(std::move(address));
    }
    for (const files::StreamAddress& address : options.connect) {
      SJ_TRY(fd, files::connect_to(address));
      loop->add(std::move(fd));
    }
  }
  SJ_CHECK(loop->begin(owner));
  std::unique_ptr<StreamServer> server(new StreamServer(std::move(loop)));
  server->addresses_ = std::move(addresses);
  return server;
}

}  // namespace sojourn::capture
