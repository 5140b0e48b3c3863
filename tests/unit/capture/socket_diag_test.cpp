// The kernel's answers about sockets, whole and in pieces.
#include "userspace/capture/queues/socket_diag.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include <arpa/inet.h>
#include <catch2/catch_test_macros.hpp>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/base/fd.h"

namespace sojourn::capture {
namespace {

using Bytes = std::vector<std::byte>;

template <typename T>
void put(Bytes& bytes, const T& value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(value));
}

// One UDP socket on 127.0.0.1:2152 that has dropped 7 packets.
Bytes one_socket() {
  inet_diag_msg message{};
  message.idiag_family = AF_INET;
  message.idiag_inode = 4711;
  message.idiag_rqueue = 100;
  message.id.idiag_sport = htons(2152);
  message.id.idiag_src[0] = htonl(INADDR_LOOPBACK);
  message.id.idiag_cookie[0] = 5;
  message.id.idiag_cookie[1] = 1;
  std::uint32_t memory[SK_MEMINFO_VARS] = {};
  memory[SK_MEMINFO_RMEM_ALLOC] = 768;
  memory[SK_MEMINFO_RCVBUF] = 4096;
  memory[SK_MEMINFO_DROPS] = 7;
  Bytes bytes;
  put(bytes,
      nlmsghdr{.nlmsg_len = sizeof(nlmsghdr) + sizeof(message) + sizeof(rtattr) + sizeof(memory),
               .nlmsg_type = SOCK_DIAG_BY_FAMILY,
               .nlmsg_flags = NLM_F_MULTI,
               .nlmsg_seq = 0,
               .nlmsg_pid = 0});
  put(bytes, message);
  put(bytes, rtattr{.rta_len = sizeof(rtattr) + sizeof(memory), .rta_type = INET_DIAG_SKMEMINFO});
  put(bytes, memory);
  return bytes;
}

Bytes end(int error, std::uint16_t type) {
  Bytes bytes;
  put(bytes, nlmsghdr{.nlmsg_len = sizeof(nlmsghdr) + sizeof(nlmsgerr),
                      .nlmsg_type = type,
                      .nlmsg_flags = 0,
                      .nlmsg_seq = 0,
                      .nlmsg_pid = 0});
  nlmsgerr content{};
  content.error = error;
  put(bytes, content);
  return bytes;
}

TEST_CASE("a socket's name, memory and drops are in the kernel's answer") {
  std::vector<SocketState> sockets;
  const auto last = read_socket_answer(one_socket(), IPPROTO_UDP, sockets);
  REQUIRE(last);
  CHECK(!*last);
  REQUIRE(sockets.size() == 1);
  CHECK(sockets[0].name == "udp 127.0.0.1:2152");
  CHECK(sockets[0].inode == 4711);
  CHECK(sockets[0].cookie == (std::uint64_t{1} << 32) + 5);
  CHECK(sockets[0].unread_bytes == 100);
  CHECK(sockets[0].receive_bytes == 768);
  CHECK(sockets[0].receive_limit == 4096);
  CHECK(sockets[0].drops == 7);
}

TEST_CASE("an answer that is cut anywhere is refused, and read no further") {
  const Bytes whole = one_socket();
  for (std::size_t bytes = 1; bytes < whole.size(); ++bytes) {
    CAPTURE(bytes);
    std::vector<SocketState> sockets;
    CHECK(!read_socket_answer(std::span(whole).first(bytes), IPPROTO_UDP, sockets));
    CHECK(sockets.empty());
  }
}

TEST_CASE("an attribute that claims more than there is, or nothing, is refused") {
  for (const int claimed : {0, 3, 41, 65535}) {
    const auto length = static_cast<unsigned short>(claimed);
    CAPTURE(length);
    Bytes bytes = one_socket();
    std::memcpy(bytes.data() + sizeof(nlmsghdr) + sizeof(inet_diag_msg), &length, sizeof(length));
    std::vector<SocketState> sockets;
    CHECK(!read_socket_answer(bytes, IPPROTO_UDP, sockets));
  }
}

TEST_CASE("the end of the answers, and a protocol that is not there, are no errors") {
  std::vector<SocketState> sockets;
  CHECK(read_socket_answer(end(0, NLMSG_DONE), IPPROTO_UDP, sockets).value());
  CHECK(read_socket_answer(end(-ENOENT, NLMSG_ERROR), IPPROTO_SCTP, sockets).value());
  const auto refused = read_socket_answer(end(-EPERM, NLMSG_ERROR), IPPROTO_UDP, sockets);
  REQUIRE(!refused);
  CHECK(refused.error().text().ends_with("Operation not permitted"));
}

TEST_CASE("the kernel reports a socket of this process") {
  const base::Fd socket(::socket(AF_INET, SOCK_DGRAM, 0));
  REQUIRE(socket);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  const auto self = tracee::Process::open(getpid());
  REQUIRE(self);
  auto diag = SocketDiag::open(*self);
  REQUIRE(diag);
  const auto sockets = diag->dump();
  REQUIRE(sockets);
  const auto own = socket_inodes(*self);
  CHECK(std::ranges::any_of(*sockets, [&](const SocketState& state) {
    return std::ranges::binary_search(own, state.inode) &&
           state.name.starts_with("udp 127.0.0.1:") && state.receive_limit > 0;
  }));
}

}  // namespace
}  // namespace sojourn::capture
