#include "userspace/http/server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "userspace/base/clock.h"

namespace sojourn::http {

namespace {

constexpr std::chrono::seconds kLingering(2);
constexpr std::size_t kMaxThrownAway = 1 << 20;
constexpr std::size_t kMaxAtOnce = 4 << 20;  // of a file, for one client in a turn

Response refusal(std::string_view status, std::string_view words) {
  Response response;
  response.status = status;
  response.body = fmt::format("{}\n", words);
  return response;
}

std::string head_of(const Response& response) {
  const std::uint64_t bytes = response.body.size() + response.lasting_body.size() +
                              (response.file ? response.file->bytes : 0);
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\n{}Connection: close\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\n{}\r\n",
      response.status, response.content_type,
      response.channel ? "" : fmt::format("Content-Length: {}\r\n", bytes), response.headers);
}

}  // namespace

void Server::extend(Client& client, std::chrono::seconds by) const {
  client.until_ns =
      base::monotonic_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(by).count());
}

void Server::turn(std::chrono::milliseconds timeout, std::span<pollfd> also) {
  std::vector<pollfd> watched(also.begin(), also.end());
  watched.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
  for (const Client& client : clients_)
    watched.push_back({.fd = client.fd.get(),
                       .events = static_cast<short>((client.hears ? POLLIN : 0) |
                                                    (client.has_more() ? POLLOUT : 0)),
                       .revents = 0});
  if (poll(watched.data(), watched.size(), static_cast<int>(timeout.count())) < 0)
    for (pollfd& one : watched) one.revents = 0;
  std::copy_n(watched.begin(), also.size(), also.begin());
  auto client = clients_.begin();
  for (std::size_t index = also.size() + 1; index < watched.size(); ++index, ++client)
    if (watched[index].revents != 0) serve(*client, watched[index].revents);
  const std::uint64_t now_ns = base::monotonic_ns();
  // A stream without data to send has no time limit.
  std::erase_if(clients_, [now_ns](const Client& one) {
    return one.is_done || (now_ns > one.until_ns && (!one.channel || one.has_more()));
  });
  if (watched[also.size()].revents != 0) accept_all();
}

// Clients that have not sent a request yet are dropped first, so that silent connections keep no
// other client out.
bool Server::make_room() {
  if (clients_.size() < limits_.clients) return true;
  const auto idle = std::ranges::find(clients_, false, &Client::has_asked);
  if (idle == clients_.end()) return false;
  clients_.erase(idle);
  return true;
}

// If there is no room the new connection is closed at once.
void Server::accept_all() {
  for (std::size_t accepted = 0; accepted < limits_.clients; ++accepted) {
    base::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    if (!make_room()) continue;
    Client& client = clients_.emplace_back();
    client.fd = std::move(fd);
    extend(client, limits_.request);
  }
}

void Server::serve(Client& client, short events) {
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && client.hears) {
    if (client.has_asked)
      discard_input(client);
    else
      receive(client);
  }
  if (!client.is_done && client.has_more()) send_more(client);
}

void Server::receive(Client& client) {
  std::array<char, 4096> piece{};
  const ssize_t got = recv(client.fd.get(), piece.data(), piece.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  client.is_done = got <= 0;
  if (client.is_done) return;
  client.request.append(piece.data(), static_cast<std::size_t>(got));
  bool is_wrong = false;
  const auto request = parse_request(client.request, is_wrong);
  if (!request && !is_wrong) return;
  client.has_asked = true;
  if (request)
    begin_answer(client, answer_(*request));
  else if (client.request.size() > kMaxHeadBytes)
    begin_answer(client, refusal("431 Request Header Fields Too Large", "the request is too long"));
  else
    begin_answer(client, refusal("400 Bad Request", "this is no request"));
  client.request = {};
}

// A connection that is closed while bytes wait in it is reset, and its answer lost with it.
void Server::discard_input(Client& client) {
  std::array<char, 16'384> piece{};
  const ssize_t got = recv(client.fd.get(), piece.data(), piece.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  client.thrown_away += got > 0 ? static_cast<std::size_t>(got) : 0;
  // A client that has shut down only its own side still reads.
  client.hears = got > 0;
  client.is_done = got < 0 || client.thrown_away > kMaxThrownAway ||
                   (got == 0 && (client.channel || !client.has_more()));
}

void Server::begin_answer(Client& client, Response response) const {
  client.answer = head_of(response) + response.body;
  client.sent = 0;
  client.lasting = response.lasting_body;
  client.file = response.file;
  client.channel = response.channel;
  extend(client, limits_.standstill);
}

// Returns how many bytes were taken, or below 0 as send() does.
std::ptrdiff_t Server::send_some(Client& client) {
  const int fd = client.fd.get();
  if (client.sent < client.answer.size()) {
    const ssize_t sent = send(fd, client.answer.data() + client.sent,
                              client.answer.size() - client.sent, MSG_NOSIGNAL);
    if (sent > 0) client.sent += static_cast<std::size_t>(sent);
    return sent;
  }
  if (!client.lasting.empty()) {
    const ssize_t sent = send(fd, client.lasting.data(), client.lasting.size(), MSG_NOSIGNAL);
    if (sent > 0) client.lasting.remove_prefix(static_cast<std::size_t>(sent));
    return sent;
  }
  Response::FilePart& file = *client.file;
  off_t offset = static_cast<off_t>(file.offset);
  const std::uint64_t most = std::min<std::uint64_t>(file.bytes, kMaxAtOnce);
  const ssize_t sent =
      most == 0 ? 0 : sendfile(fd, file.fd, &offset, static_cast<std::size_t>(most));
  if (sent > 0) {
    file.offset += static_cast<std::uint64_t>(sent);
    file.bytes -= static_cast<std::uint64_t>(sent);
  }
  // The file is shorter than it was, so the answer ends early.
  if (sent == 0 && file.bytes != 0) client.is_done = true;
  if (file.bytes == 0) client.file.reset();
  return sent;
}

void Server::send_more(Client& client) {
  std::size_t at_once = 0;
  while (client.has_more() && !client.is_done && at_once < kMaxAtOnce) {
    const std::ptrdiff_t sent = send_some(client);
    if (sent < 0) {
      client.is_done = errno != EAGAIN && errno != EINTR;
      return;
    }
    at_once += static_cast<std::size_t>(sent);
    if (sent > 0) extend(client, limits_.standstill);
  }
  if (client.has_more() || client.is_done || client.channel) return;
  client.is_done = !client.hears;
  shutdown(client.fd.get(), SHUT_WR);
  extend(client, kLingering);
}

void Server::send_event(std::size_t channel, std::string_view event) {
  for (Client& client : clients_) {
    if (client.channel != channel || client.is_done) continue;
    if (client.has_more()) {
      ++missed_events_;
      continue;
    }
    client.answer = event;
    client.sent = 0;
    extend(client, limits_.standstill);
    send_more(client);
  }
}

bool Server::has_listeners(std::size_t channel) const {
  return std::ranges::any_of(clients_,
                             [channel](const Client& client) { return client.channel == channel; });
}

}  // namespace sojourn::http
