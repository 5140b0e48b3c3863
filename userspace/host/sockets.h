// TCP and UDP sockets over IPv4 and IPv6, set up for measuring. Stateless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <sys/socket.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::host {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  std::string text() const;  // "127.0.0.1:7788"
};

// Accepts "HOST:PORT" and "[::1]:7788". Names are looked up.
Result<Address> find_address(const std::string& host_and_port, bool to_listen);

Result<base::Fd> listen_at(const Address& address);
Result<base::Fd> connect_to(const Address& address);
Address local_address(const base::Fd& socket);

// Turns off Nagle's delay, and bounds each wait by the timeout.
void make_prompt(const base::Fd& socket, int timeout_ms);

bool send_all(int socket, const void* data, std::size_t bytes);
bool receive_all(int socket, void* data, std::size_t bytes);

}  // namespace sojourn::host
