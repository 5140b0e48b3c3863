#include "userspace/base/message.h"

#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::base {

namespace {

constexpr std::uint32_t kMaxBytes = 64U << 20U;  // ten times the sites that can be traced at once
constexpr std::size_t kMaxFds = 128;

struct Header {
  std::uint32_t kind = 0;
  std::uint32_t bytes = 0;
};

// The buffer for a message's descriptors, in the kernel's layout.
struct alignas(cmsghdr) FdRoom {
  std::array<char, CMSG_SPACE(kMaxFds * sizeof(int))> bytes{};
};

// Takes the descriptors. They arrive with the first part of the message.
std::vector<Fd> take_fds(msghdr& part) {
  std::vector<Fd> fds;
  for (cmsghdr* control = CMSG_FIRSTHDR(&part); control != nullptr;
       control = CMSG_NXTHDR(&part, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t index = 0; index < count; ++index) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + index * sizeof(fd), sizeof(fd));
      fds.emplace_back(fd);
    }
  }
  return fds;
}

Result<void> send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return fail_errno("send to another process");
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<void> receive_all(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = recv(socket, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("hear from another process");
    if (got == 0) return fail("the other process is gone");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace

Result<void> send_message(int socket, const Message& message) {
  if (message.bytes.size() > kMaxBytes || message.fds.size() > kMaxFds)
    return fail("a message of {} bytes and {} descriptors is too long", message.bytes.size(),
                message.fds.size());
  Header header{.kind = message.kind, .bytes = static_cast<std::uint32_t>(message.bytes.size())};
  iovec data{.iov_base = &header, .iov_len = sizeof(header)};
  FdRoom room;
  msghdr part{};
  part.msg_iov = &data;
  part.msg_iovlen = 1;
  if (!message.fds.empty()) {
    part.msg_control = room.bytes.data();
    part.msg_controllen = CMSG_SPACE(message.fds.size() * sizeof(int));
    cmsghdr* const control = CMSG_FIRSTHDR(&part);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(message.fds.size() * sizeof(int));
    for (std::size_t index = 0; index < message.fds.size(); ++index) {
      const int fd = message.fds[index].get();
      std::memcpy(CMSG_DATA(control) + index * sizeof(fd), &fd, sizeof(fd));
    }
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &part, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent != sizeof(header)) return fail_errno("send to another process");
  return send_all(socket, message.bytes);
}

Result<Message> receive_message(int socket) {
  Header header;
  iovec data{.iov_base = &header, .iov_len = sizeof(header)};
  FdRoom room;
  msghdr part{};
  part.msg_iov = &data;
  part.msg_iovlen = 1;
  part.msg_control = room.bytes.data();
  part.msg_controllen = sizeof(room.bytes);
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &part, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return fail_errno("hear from another process");
  if (got == 0) return fail("the other process is gone");
  Message message;
  message.fds = take_fds(part);
  SJ_CHECK(receive_all(
      socket,
      std::as_writable_bytes(std::span(&header, 1)).subspan(static_cast<std::size_t>(got))));
  if (header.bytes > kMaxBytes || (part.msg_flags & MSG_CTRUNC) != 0)
    return fail("another process sent more than a message may hold");
  message.kind = header.kind;
  message.bytes.resize(header.bytes);
  SJ_CHECK(receive_all(socket, message.bytes));
  return message;
}

bool has_other_end(int socket) {
  pollfd hung_up{.fd = socket, .events = 0, .revents = 0};
  return poll(&hung_up, 1, 0) == 0;
}

Result<std::pair<Fd, Fd>> make_connection() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("make a socket");
  return std::pair(Fd(ends[0]), Fd(ends[1]));
}

}  // namespace sojourn::base
