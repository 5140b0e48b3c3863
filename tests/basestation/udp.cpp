#include "tests/basestation/udp.h"

#include <utility>

#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::basestation {
namespace {

constexpr int kSocketBufferBytes = 8 * 1024 * 1024;
constexpr timeval kReceiveTimeout{0, 50'000};

// More than rmem_max needs a privilege; without it the kernel's limit has to do.
void set_receive_buffer(int fd) {
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kSocketBufferBytes, sizeof kSocketBufferBytes) !=
      0) {
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kSocketBufferBytes, sizeof kSocketBufferBytes);
  }
}

}  // namespace

Result<UdpSocket> UdpSocket::bind_loopback() {
  UdpSocket made(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (made.fd_ < 0) return fail_errno("open a UDP socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(made.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail_errno("bind a UDP socket to 127.0.0.1");
  }
  set_receive_buffer(made.fd_);
  if (setsockopt(made.fd_, SOL_SOCKET, SO_RCVTIMEO, &kReceiveTimeout, sizeof kReceiveTimeout) !=
      0) {
    return fail_errno("set a UDP socket's timeout");
  }
  return made;
}

UdpSocket::~UdpSocket() {
  if (fd_ >= 0) close(fd_);
}

UdpSocket::UdpSocket(UdpSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Result<void> UdpSocket::connect_to(const UdpSocket& other) {
  sockaddr_in address{};
  socklen_t bytes = sizeof address;
  if (getsockname(other.fd_, reinterpret_cast<sockaddr*>(&address), &bytes) != 0 ||
      connect(fd_, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
    return fail_errno("connect two UDP sockets on 127.0.0.1");
  }
  return {};
}

MessageBatch::MessageBatch(std::size_t messages, std::size_t largest)
    : largest_(largest),
      buffers_(messages * largest),
      parts_(messages),
      headers_(messages, mmsghdr{}) {
  for (std::size_t index = 0; index < messages; ++index) {
    headers_[index].msg_hdr.msg_iov = &parts_[index];
    headers_[index].msg_hdr.msg_iovlen = 1;
  }
}

std::span<std::byte> MessageBatch::buffer(std::size_t index) {
  return std::span(buffers_).subspan(index * largest_, largest_);
}

std::span<std::byte> MessageBatch::add(std::size_t bytes) {
  const auto room = buffer(filled_).first(bytes);
  parts_[filled_++] = {room.data(), room.size()};
  return room;
}

std::size_t MessageBatch::send(const UdpSocket& socket) {
  std::size_t sent = 0;
  while (sent < filled_) {
    const int count =
        sendmmsg(socket.fd(), &headers_[sent], static_cast<unsigned>(filled_ - sent), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  filled_ = 0;
  return sent;
}

void MessageBatch::receive(const UdpSocket& socket) {
  for (std::size_t index = 0; index < capacity(); ++index) {
    parts_[index] = {buffer(index).data(), largest_};
  }
  const int count = recvmmsg(socket.fd(), headers_.data(), static_cast<unsigned>(capacity()),
                             MSG_WAITFORONE, nullptr);
  filled_ = count > 0 ? static_cast<std::size_t>(count) : 0;
}

std::span<const std::byte> MessageBatch::message(std::size_t index) const {
  return std::span(buffers_).subspan(index * largest_, headers_[index].msg_len);
}

}  // namespace sojourn::basestation
