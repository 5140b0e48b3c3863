// UDP on the loopback in batches: one buffer for each message of a batch, allocated once.
// A socket belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

#include "analysis/base/result.h"

namespace sojourn::basestation {

class UdpSocket {
 public:
  static Result<UdpSocket> bind_loopback();  // on a port of the kernel's choice
  ~UdpSocket();
  UdpSocket(UdpSocket&& other) noexcept;
  UdpSocket& operator=(UdpSocket&&) = delete;

  Result<void> connect_to(const UdpSocket& other);
  int fd() const { return fd_; }

 private:
  explicit UdpSocket(int fd) : fd_(fd) {}
  int fd_;
};

class MessageBatch {
 public:
  MessageBatch(std::size_t messages, std::size_t largest);
  MessageBatch(const MessageBatch&) = delete;
  MessageBatch& operator=(const MessageBatch&) = delete;

  std::size_t capacity() const { return headers_.size(); }
  std::size_t filled() const { return filled_; }

  // Room for the next message of the batch.
  std::span<std::byte> add(std::size_t bytes);
  // Sends the batch, and empties it. Returns how many messages the kernel took.
  std::size_t send(const UdpSocket& socket);

  // Waits a while for the first message, then takes all that have come.
  void receive(const UdpSocket& socket);
  std::span<const std::byte> message(std::size_t index) const;

 private:
  std::span<std::byte> buffer(std::size_t index);

  std::size_t largest_;
  std::vector<std::byte> buffers_;
  std::vector<iovec> parts_;
  std::vector<mmsghdr> headers_;
  std::size_t filled_ = 0;
};

}  // namespace sojourn::basestation
