#include "userspace/capture/stream/stream_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <latch>
#include <map>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/base/clock.h"
#include "userspace/base/fail_errno.h"
#include "userspace/capture/stream/reader_connection.h"
#include "userspace/tls/session.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kPatienceNs = 2'000'000'000;  // for a reader that takes nothing at the end
constexpr std::uint64_t kMaxLingerNs = 10'000'000'000;  // for all readers at the end
constexpr std::uint64_t kFirstDialNs = 5'000'000'000;   // to reach a reader at the start
constexpr std::uint64_t kBetweenDialsNs = 1'000'000'000;
constexpr std::size_t kMaxEntering = 64;  // connections that have not shown a token yet
constexpr int kTickMs = 200;
constexpr int kKeepAliveSeconds = 30;
constexpr int kUnheardMs = 20'000;

// Ids of epoll events: the wakeup, then listeners, then connections.
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

// Detects peers that vanished without closing the connection; slow peers stay connected.
void keep_alive(int fd) {
  const int yes = 1;
  const int seconds = kKeepAliveSeconds;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
}

// A lost connection to a reader that we called is made again, so its loss must be noticed soon.
void notice_silence(int fd) {
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnheardMs, sizeof(kUnheardMs));
}

// The certificates and the token for addresses with TLS.
struct Protection {
  std::optional<tls::Context> server;
  std::optional<tls::Context> client;
  std::string token;

  static Result<Protection> of(const StreamOptions& options) {
    Protection made{.server = {}, .client = {}, .token = options.token};
    if (std::ranges::any_of(options.listen, &files::StreamAddress::is_tls)) {
      SJ_TRY(context, tls::Context::for_server(options.certificate, options.key));
      made.server = std::move(context);
    }
    if (std::ranges::any_of(options.connect, &files::StreamAddress::is_tls)) {
      SJ_TRY(context, tls::Context::for_client(options.authorities));
      made.client = std::move(context);
    }
    return made;
  }
};

struct Listener {
  base::Fd fd;
  bool is_tls = false;
};

// A reader that this process connects to, and connects to again.
struct Dial {
  files::StreamAddress address;
  files::Endpoint endpoint;
  std::uint64_t id = 0;  // its connection; 0: there is none
  std::uint64_t next_ns = 0;
  bool was_reader = false;  // the present connection has become a reader
};

}  // namespace

class StreamServer::Loop {
 public:
  Loop(BlockFeed& feed, Protection protection)
      : feed_(&feed),
        protection_(std::move(protection)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    stops_ = true;
    join();
  }

  Result<void> watch_wake() {
    if (!epoll_ || !wake_) return fail_errno("serve readers of the stream");
    return watch(epoll_.get(), wake_.get(), EPOLLIN, kWakeId);
  }
  Result<void> listen(base::Fd fd, const files::StreamAddress& address) {
    SJ_CHECK(watch(epoll_.get(), fd.get(), EPOLLIN, kFirstListenerId + listeners_.size()));
    listeners_.push_back({.fd = std::move(fd), .is_tls = address.is_tls});
    if (address.is_unix()) paths_.push_back(address.path);
    return {};
  }
  // Adds a reader in this process, and returns its end of the socket.
  Result<base::Fd> add_own_reader();
  // The reader has been reached when this returns.
  Result<void> dial(const files::StreamAddress& address);

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
  std::uint64_t reconnections() const { return reconnections_; }

 private:
  using Connections = std::map<std::uint64_t, ReaderConnection>;

  void join() {
    if (wake_) count_up(wake_.get());
    if (thread_.joinable()) thread_.join();
  }
  void run();
  void accept_all(const Listener& listener);
  void add(base::Fd fd, ReaderConnection::Guard guard);
  Result<std::uint64_t> call(const files::StreamAddress& address, const files::Endpoint& endpoint);
  Result<void> wait_until_reader(std::uint64_t id, const files::StreamAddress& address);
  void call_again();
  void count_reconnections();
  void drop_late_ones();
  void serve(std::uint64_t id, std::uint32_t events);
  void want(std::uint64_t id, const ReaderConnection& connection) const;
  void cut_off(std::uint64_t id);
  void send_to_all();
  bool is_done();

  BlockFeed* feed_;
  const Protection protection_;
  base::Fd epoll_;
  base::Fd wake_;
  std::vector<Listener> listeners_;
  std::vector<std::string> paths_;  // unix sockets, removed when the thread ends
  Connections connections_;         // the oldest first
  std::vector<Dial> dials_;
  std::uint64_t next_id_ = kFirstReaderId;
  std::uint64_t finishing_since_ns_ = 0;
  std::uint64_t reconnections_ = 0;
  bool has_cut_off_ = false;  // at the end, a reader that took nothing
  std::atomic<bool> finishes_ = false;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

// ---- new connections ----

void StreamServer::Loop::accept_all(const Listener& listener) {
  for (;;) {
    base::Fd fd(accept4(listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      ReaderConnection::Guard guard;
      if (listener.is_tls) {
        auto session = protection_.server->accept(fd.get());
        if (!session) continue;
        guard = {.session = std::move(*session), .token = protection_.token};
      }
      add(std::move(fd), std::move(guard));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      // Without a pause epoll would report it again at once.
      return static_cast<void>(usleep(10'000));
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

// Closes the connection at once if there are too many readers. If too many peers have not shown a
// token yet, closes the oldest of these.
void StreamServer::Loop::add(base::Fd fd, ReaderConnection::Guard guard) {
  keep_alive(fd.get());
  const std::uint64_t id = next_id_++;
  const auto [added, is_new] = connections_.try_emplace(id, std::move(fd), std::move(guard), *feed_,
                                                        [wake = wake_.get()] { count_up(wake); });
  ReaderConnection& connection = added->second;
  if (!connection.receive(0) || !watch(epoll_.get(), connection.fd(), connection.awaited(), id))
    return cut_off(id);
  const auto is_entering = [](const auto& one) { return !one.second.is_reader(); };
  if (std::ranges::count_if(connections_, is_entering) > std::ptrdiff_t{kMaxEntering})
    cut_off(std::ranges::find_if(connections_, is_entering)->first);
}

// This reader keeps nothing, so the file still gets all events.
Result<base::Fd> StreamServer::Loop::add_own_reader() {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return fail_errno("make a socket for the stream");
  base::Fd theirs(pair[1]);
  add(base::Fd(pair[0]), {.kind = BlockFeed::Kind::kWatcher});
  return theirs;
}

Result<std::uint64_t> StreamServer::Loop::call(const files::StreamAddress& address,
                                               const files::Endpoint& endpoint) {
  SJ_TRY(fd, files::begin_to_connect(endpoint, address));
  ReaderConnection::Guard guard;
  if (address.is_tls) {
    SJ_TRY(session, protection_.client->connect(fd.get(), address.host));
    guard = {.session = std::move(session), .token = protection_.token};
  }
  if (!address.is_unix()) {
    keep_alive(fd.get());
    notice_silence(fd.get());
  }
  const std::uint64_t id = next_id_++;
  const auto [added, is_new] = connections_.try_emplace(id, std::move(fd), std::move(guard), *feed_,
                                                        [wake = wake_.get()] { count_up(wake); });
  const auto watched = watch(epoll_.get(), added->second.fd(), added->second.awaited(), id);
  if (watched) return id;
  connections_.erase(added);
  return std::unexpected(watched.error());
}

Result<void> StreamServer::Loop::dial(const files::StreamAddress& address) {
  SJ_TRY(endpoints, files::endpoints_of(address));
  Result<void> tried;
  for (const files::Endpoint& endpoint : endpoints) {
    const auto id = call(address, endpoint);
    tried = id ? wait_until_reader(*id, address) : std::unexpected(id.error());
    if (!tried) continue;
    dials_.push_back({.address = address, .endpoint = endpoint, .id = *id, .was_reader = true});
    return {};
  }
  return tried;
}

Result<void> StreamServer::Loop::wait_until_reader(std::uint64_t id,
                                                   const files::StreamAddress& address) {
  ReaderConnection& connection = connections_.at(id);
  const std::uint64_t until_ns = base::monotonic_ns() + kFirstDialNs;
  while (!connection.is_reader()) {
    const std::uint64_t now_ns = base::monotonic_ns();
    pollfd wanted{
        .fd = connection.fd(), .events = static_cast<short>(connection.awaited()), .revents = 0};
    const int left_ms = now_ns < until_ns ? static_cast<int>((until_ns - now_ns) / 1'000'000) : 0;
    const int ready = left_ms == 0 ? 0 : poll(&wanted, 1, left_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready > 0 && connection.receive(static_cast<std::uint32_t>(wanted.revents))) continue;
    const std::string why = ready > 0        ? connection.failure()
                            : address.is_tls ? "no answer, or no token"
                                             : "no answer";
    connections_.erase(id);
    return fail("connect to {}: {}", address.text(),
                why.empty() ? "it closed the connection" : why);
  }
  want(id, connection);
  return {};
}

void StreamServer::Loop::count_reconnections() {
  for (Dial& dial : dials_) {
    const auto known = connections_.find(dial.id);
    if (dial.was_reader || known == connections_.end() || !known->second.is_reader()) continue;
    dial.was_reader = true;
    ++reconnections_;
  }
}

void StreamServer::Loop::call_again() {
  const std::uint64_t now_ns = base::monotonic_ns();
  for (Dial& dial : dials_) {
    if (connections_.contains(dial.id)) continue;
    if (dial.id != 0) {
      dial.id = 0;
      dial.next_ns = now_ns + kBetweenDialsNs;
    }
    if (now_ns < dial.next_ns) continue;
    dial.next_ns = now_ns + kBetweenDialsNs;
    const auto id = call(dial.address, dial.endpoint);
    if (!id) continue;
    dial.id = *id;
    dial.was_reader = false;
  }
}

// ---- the thread ----

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
        accept_all(listeners_[id - kFirstListenerId]);
      } else {
        serve(id, event.events);
      }
    }
    send_to_all();
    drop_late_ones();
    count_reconnections();
    if (!finishes_) call_again();
  }
  for (auto& [id, connection] : connections_) connection.say_goodbye();
  connections_.clear();
  for (const std::string& path : paths_) unlink(path.c_str());
}

void StreamServer::Loop::serve(std::uint64_t id, std::uint32_t events) {
  const auto known = connections_.find(id);
  if (known == connections_.end()) return;
  if (!known->second.receive(events)) return cut_off(id);
  want(id, known->second);
}

void StreamServer::Loop::want(std::uint64_t id, const ReaderConnection& connection) const {
  epoll_event event{};
  event.events = connection.awaited();
  event.data.u64 = id;
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.fd(), &event);
}

void StreamServer::Loop::send_to_all() {
  std::vector<std::uint64_t> gone;
  bool is_any_left = false;
  for (auto& [id, connection] : connections_) {
    const std::uint32_t awaited = connection.awaited();
    bool has_more = false;
    if (!connection.send(has_more))
      gone.push_back(id);
    else if (connection.awaited() != awaited)
      want(id, connection);
    is_any_left = is_any_left || has_more;
  }
  for (const std::uint64_t id : gone) cut_off(id);
  if (is_any_left) count_up(wake_.get());  // the others have their turn first
}

void StreamServer::Loop::drop_late_ones() {
  const std::uint64_t now_ns = base::monotonic_ns();
  std::erase_if(connections_, [&](const auto& one) { return one.second.is_late(now_ns); });
}

void StreamServer::Loop::cut_off(std::uint64_t id) {
  connections_.erase(id);
}

// At the end a reader is served as long as it goes on taking chunks.
bool StreamServer::Loop::is_done() {
  if (!finishes_) return false;
  const std::uint64_t now_ns = base::monotonic_ns();
  if (finishing_since_ns_ == 0) finishing_since_ns_ = now_ns;
  const bool is_over = now_ns - finishing_since_ns_ > kMaxLingerNs;
  bool waits = false;
  for (const auto& [id, connection] : connections_) {
    if (!connection.is_reader() || connection.has_everything()) continue;
    const std::uint64_t since_ns = std::max(connection.progress_ns(), finishing_since_ns_);
    if (!is_over && now_ns - since_ns <= kPatienceNs)
      waits = true;
    else if (!connection.is_watcher())  // which says itself what it lacks
      has_cut_off_ = true;
  }
  return !waits;
}

// ---- the server ----

StreamServer::StreamServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
StreamServer::~StreamServer() = default;

bool StreamServer::finish() {
  return loop_->finish();
}

std::uint64_t StreamServer::reconnections() const {
  return loop_->reconnections();
}

Result<std::unique_ptr<StreamServer>> StreamServer::start(const StreamOptions& options,
                                                          BlockFeed& feed, const FileOwner& owner) {
  std::unique_ptr<Loop> loop;
  std::vector<files::StreamAddress> addresses;
  base::Fd own_stream;
  {
    const WriteAs as(owner);
    SJ_TRY(protection, Protection::of(options));
    loop = std::make_unique<Loop>(feed, std::move(protection));
    SJ_CHECK(loop->watch_wake());
    for (files::StreamAddress address : options.listen) {
      SJ_TRY(fd, files::listen_at(address));
      SJ_CHECK(loop->listen(std::move(fd), address));
      addresses.push_back(std::move(address));
    }
    for (const files::StreamAddress& address : options.connect) SJ_CHECK(loop->dial(address));
    if (options.has_own_reader) {
      SJ_TRY(fd, loop->add_own_reader());
      own_stream = std::move(fd);
    }
  }
  SJ_CHECK(loop->begin(owner));
  std::unique_ptr<StreamServer> server(new StreamServer(std::move(loop)));
  server->addresses_ = std::move(addresses);
  server->own_stream_ = std::move(own_stream);
  return server;
}

}  // namespace sojourn::capture
