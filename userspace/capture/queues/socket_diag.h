// Asks the kernel's sock_diag for the sockets of a process and how full their buffers are, in the
// process's own network namespace. No code runs in the process. One thread owns a SocketDiag.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

struct SocketState {
  std::uint64_t inode = 0;
  std::uint64_t cookie = 0;         // unique until the machine is rebooted
  std::string name;                 // "udp 127.0.0.1:2152", "tcp [::1]:80 - [::1]:4242"
  std::uint32_t receive_bytes = 0;  // of memory, including the kernel's overhead
  std::uint32_t receive_limit = 0;
  std::uint32_t unread_bytes = 0;  // of data; datagrams count as receive_bytes
  std::uint32_t send_bytes = 0;
  std::uint32_t send_limit = 0;
  std::uint32_t backlog_bytes = 0;  // received while the process held the socket's lock
  std::uint32_t drops = 0;          // since it was made
};

class SocketDiag {
 public:
  // Enters the process's network namespace, if that is another, in a thread that ends at once. The
  // privileged helper does it, if there is one.
  static Result<SocketDiag> open(const tracee::Process& process);

  static Result<base::Fd> open_in_namespace_of(const tracee::Process& process);

  // All UDP, TCP and SCTP sockets over IPv4 and IPv6 of all processes in the namespace.
  Result<std::vector<SocketState>> dump();

 private:
  explicit SocketDiag(base::Fd socket) : socket_(std::move(socket)) {}
  Result<void> dump(std::uint8_t family, std::uint8_t protocol, std::vector<SocketState>& into);

  base::Fd socket_;
};

// Adds the sockets of one answer of the kernel. True: it was the last. An error in the answer is
// returned, unless the kernel lacks the protocol.
Result<bool> read_socket_answer(std::span<const std::byte> answer, std::uint8_t protocol,
                                std::vector<SocketState>& into);

// The inode numbers of the sockets among a process's descriptors.
std::vector<std::uint64_t> socket_inodes(const tracee::Process& process);

}  // namespace sojourn::capture
