#include "userspace/host/echo_service.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include <poll.h>

#include "userspace/base/fail_errno.h"
#include "userspace/host/sockets.h"

namespace sojourn::host {

namespace {

constexpr int kSilenceMs = 10'000;
constexpr std::size_t kMostConnections = 8;

void echo(const base::Fd& connection) {
  std::array<char, kEchoBytes> message{};
  while (receive_all(connection.get(), message.data(), message.size()) &&
         send_all(connection.get(), message.data(), message.size())) {
  }
}

void sink(const base::Fd& connection) {
  std::vector<char> buffer(256 * 1024);
  std::uint64_t bytes = 0;
  while (true) {
    const ssize_t got = recv(connection.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) break;
    bytes += static_cast<std::uint64_t>(got);
  }
  send_all(connection.get(), &bytes, sizeof(bytes));
}

struct Served {
  std::shared_ptr<std::atomic<bool>> is_done;
  std::jthread thread;
};

}  // namespace

void serve_connection(const base::Fd& connection) {
  make_prompt(connection, kSilenceMs);
  char wanted = 0;
  if (!receive_all(connection.get(), &wanted, 1)) return;
  if (wanted == kWantsEcho) echo(connection);
  if (wanted == kWantsSink) sink(connection);
}

void serve_one_by_one(const base::Fd& listening) {
  while (true) {
    const base::Fd connection(accept(listening.get(), nullptr, nullptr));
    if (connection) serve_connection(connection);
  }
}

Result<void> serve(const base::Fd& listening, const base::Fd& stop) {
  std::list<Served> served;
  while (true) {
    std::array<pollfd, 2> watched = {pollfd{listening.get(), POLLIN, 0},
                                     pollfd{stop.get(), POLLIN, 0}};
    if (poll(watched.data(), watched.size(), 1000) < 0 && errno != EINTR)
      return fail_errno("wait for connections");
    if (watched[1].revents != 0) break;
    std::erase_if(served, [](const Served& one) { return one.is_done->load(); });
    if ((watched[0].revents & POLLIN) == 0) continue;
    auto connection =
        std::make_shared<base::Fd>(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    // The connection of a client above the limit is closed at once.
    if (!*connection || served.size() >= kMostConnections) continue;
    auto is_done = std::make_shared<std::atomic<bool>>(false);
    served.push_back({is_done, std::jthread([connection, is_done] {
                        serve_connection(*connection);
                        *is_done = true;
                      })});
  }
  return {};
}

}  // namespace sojourn::host
