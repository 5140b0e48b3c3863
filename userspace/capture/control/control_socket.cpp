#include "userspace/capture/control/control_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kMaxClients = 16;
constexpr std::size_t kMaxWords = 4096;
constexpr std::size_t kMaxAnswer = 1 << 20;
constexpr timeval kTimeout{.tv_sec = 30, .tv_usec = 0};  // a dump takes its time

std::string prefix_for(pid_t target) {
  return fmt::format("sojourn.ctl.{}.", target);
}

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

// The address of an abstract socket, which begins with a zero.
Address address_of(std::string_view name) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof(address.name.sun_path) - 1);
  std::copy_n(name.begin(), length, address.name.sun_path + 1);
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

std::optional<uid_t> user_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

bool may_talk(int socket) {
  const auto user = user_of(socket);
  return user == geteuid() || user == 0;
}

// The names of the sockets of all captures of the process on this machine.
std::vector<std::string> names_for(pid_t target) {
  std::vector<std::string> names;
  std::ifstream sockets("/proc/net/unix");
  const std::string wanted = "@" + prefix_for(target);
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t at = line.find(wanted);
    if (at == std::string::npos) continue;
    std::string name = line.substr(at + 1);
    // A connection has the name of the socket that it came by.
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

Result<std::string> ask(const std::string& name, std::string_view words) {
  const base::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const Address address = address_of(name);
  if (!socket || connect(socket.get(), address.get(), address.length) != 0)
    return fail_errno("speak to the capture {}", name);
  if (!may_talk(socket.get())) return fail("the capture {} is another user's", name);
  if (user_of(socket.get()) != geteuid() && geteuid() != 0)
    return fail("the capture {} is root's: it takes no requests of other users", name);
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kTimeout, sizeof(kTimeout));
  if (send(socket.get(), words.data(), words.size(), MSG_NOSIGNAL) < 0)
    return fail_errno("ask the capture {}", name);
  std::string answer(kMaxAnswer, '\0');
  const ssize_t size = recv(socket.get(), answer.data(), answer.size(), 0);
  if (size < 0) return fail_errno("hear from the capture {}", name);
  answer.resize(static_cast<std::size_t>(size));
  if (answer.starts_with("ok ")) return answer.substr(3);
  if (answer.starts_with("error ")) return fail("{}", answer.substr(6));
  return fail("the capture {} ended before it answered", name);
}

}  // namespace

Result<ControlSocket> ControlSocket::listen(pid_t target) {
  ControlSocket control;
  control.poll_ = base::Fd(epoll_create1(EPOLL_CLOEXEC));
  if (!control.poll_) return fail_errno("watch for `sojourn ctl`");
  SJ_CHECK(control.add(target));
  return control;
}

Result<void> ControlSocket::add(pid_t target) {
  base::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const Address address = address_of(prefix_for(target) + std::to_string(getpid()));
  if (!socket || bind(socket.get(), address.get(), address.length) != 0 ||
      ::listen(socket.get(), static_cast<int>(kMaxClients)) != 0)
    return fail_errno("listen for `sojourn ctl`");
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = socket.get()}};
  if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, socket.get(), &wanted) != 0)
    return fail_errno("watch for `sojourn ctl`");
  names_.push_back({.target = target, .socket = std::move(socket)});
  return {};
}

void ControlSocket::remove(pid_t target) {
  std::erase_if(names_, [&](const Name& name) { return name.target == target; });
}

void ControlSocket::accept_all(int socket) {
  for (;;) {
    base::Fd fd(accept4(socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    epoll_event wanted{.events = EPOLLIN | EPOLLRDHUP, .data = {.fd = fd.get()}};
    if (clients_.size() >= kMaxClients || !may_talk(fd.get()) ||
        epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd.get(), &wanted) != 0)
      continue;
    clients_.push_back({.number = next_client_++, .fd = std::move(fd), .asked = false});
  }
}

void ControlSocket::hear(Client& client, std::vector<Request>& requests) {
  std::array<char, kMaxWords> words{};
  const ssize_t size = recv(client.fd.get(), words.data(), words.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0 || client.asked) {
    client.fd = base::Fd();  // the client is gone, or sends more than one request
    return;
  }
  client.asked = true;
  requests.push_back({.client = client.number,
                      .words = std::string(words.data(), static_cast<std::size_t>(size))});
}

std::vector<ControlSocket::Request> ControlSocket::take() {
  std::vector<Request> requests;
  for (const Name& name : names_) accept_all(name.socket.get());
  for (Client& client : clients_) hear(client, requests);
  std::erase_if(clients_, [](const Client& client) { return !client.fd; });
  return requests;
}

void ControlSocket::answer(int client, bool worked, std::string_view text) {
  const auto found = std::ranges::find(clients_, client, &Client::number);
  if (found == clients_.end()) return;
  const std::string answer = fmt::format("{} {}", worked ? "ok" : "error", text);
  (void)send(found->fd.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  clients_.erase(found);
}

bool has_capture(pid_t target) {
  return !names_for(target).empty();
}

Result<std::string> ask_capture(pid_t target, std::string_view words) {
  const std::vector<std::string> names = names_for(target);
  if (names.empty())
    return fail("nothing records process {}: start `sojourn record -p {}` first", target, target);
  std::optional<std::string> answers;
  std::optional<Error> problem;
  for (const std::string& name : names) {
    auto answer = ask(name, words);
    if (answer)
      answers = answers ? *answers + '\n' + *answer : *std::move(answer);
    else if (!problem)
      problem = std::move(answer).error();
  }
  if (!answers) return std::unexpected(*std::move(problem));
  return *std::move(answers);
}

}  // namespace sojourn::capture
