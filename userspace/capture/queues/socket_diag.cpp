#include "userspace/capture/queues/socket_diag.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/privileged_helper.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kAnswerBytes = 64 << 10;

// A copy of the struct at the front of the bytes, if they hold one.
template <typename T>
bool take(std::span<const std::byte> bytes, T& into) {
  if (bytes.size() < sizeof(T)) return false;
  std::memcpy(&into, bytes.data(), sizeof(T));
  return true;
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + 3) & ~std::size_t{3};
}

std::string_view protocol_name(std::uint8_t protocol) {
  if (protocol == IPPROTO_UDP) return "udp";
  return protocol == IPPROTO_TCP ? "tcp" : "sctp";
}

std::string end_name(std::uint8_t family, const void* address, std::uint16_t port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family, address, text.data(), text.size());
  return family == AF_INET6 ? fmt::format("[{}]:{}", text.data(), ntohs(port))
                            : fmt::format("{}:{}", text.data(), ntohs(port));
}

std::string socket_name(const inet_diag_msg& message, std::uint8_t protocol) {
  const inet_diag_sockid& id = message.id;
  std::string name = fmt::format("{} {}", protocol_name(protocol),
                                 end_name(message.idiag_family, id.idiag_src, id.idiag_sport));
  if (id.idiag_dport != 0)
    name += " - " + end_name(message.idiag_family, id.idiag_dst, id.idiag_dport);
  return name;
}

void read_memory(std::span<const std::byte> attribute, SocketState& socket) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
  std::memcpy(info.data(), attribute.data(), std::min(sizeof(info), attribute.size()));
  socket.receive_bytes = info[SK_MEMINFO_RMEM_ALLOC];
  socket.receive_limit = info[SK_MEMINFO_RCVBUF];
  socket.send_limit = info[SK_MEMINFO_SNDBUF];
  socket.backlog_bytes = info[SK_MEMINFO_BACKLOG];
  socket.drops = info[SK_MEMINFO_DROPS];
}

// False: the message is cut short.
bool read_socket(std::span<const std::byte> payload, std::uint8_t protocol, SocketState& socket) {
  inet_diag_msg message{};
  if (!take(payload, message)) return false;
  socket.inode = message.idiag_inode;
  socket.cookie = message.id.idiag_cookie[0] | std::uint64_t{message.id.idiag_cookie[1]} << 32;
  socket.name = socket_name(message, protocol);
  socket.unread_bytes = message.idiag_rqueue;
  socket.send_bytes = message.idiag_wqueue;
  for (auto rest = payload.subspan(std::min(payload.size(), aligned(sizeof(message))));
       !rest.empty();) {
    rtattr attribute{};
    if (!take(rest, attribute) || attribute.rta_len < sizeof(attribute) ||
        attribute.rta_len > rest.size())
      return false;
    if (attribute.rta_type == INET_DIAG_SKMEMINFO)
      read_memory(rest.first(attribute.rta_len).subspan(sizeof(attribute)), socket);
    rest = rest.subspan(std::min(rest.size(), aligned(attribute.rta_len)));
  }
  return true;
}

Result<base::Fd> open_netlink() {
  base::Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!socket) return fail_errno("ask the kernel about sockets");
  // An answer that never comes must not stop the capture.
  const timeval timeout{.tv_sec = 1, .tv_usec = 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  return socket;
}

}  // namespace

Result<bool> read_socket_answer(std::span<const std::byte> answer, std::uint8_t protocol,
                                std::vector<SocketState>& into) {
  while (!answer.empty()) {
    nlmsghdr header{};
    if (!take(answer, header) || header.nlmsg_len < sizeof(header) ||
        header.nlmsg_len > answer.size())
      return fail("the kernel's answer about sockets is cut short");
    const auto payload = answer.first(header.nlmsg_len).subspan(sizeof(header));
    if (header.nlmsg_type == NLMSG_DONE) return true;
    if (header.nlmsg_type == NLMSG_ERROR) {
      nlmsgerr error{};
      if (!take(payload, error)) return fail("the kernel's answer about sockets is cut short");
      if (error.error == 0 || error.error == -ENOENT) return true;
      return fail("ask the kernel about sockets: {}",
                  std::generic_category().message(-error.error));
    }
    SocketState socket;
    if (!read_socket(payload, protocol, socket))
      return fail("the kernel's answer about sockets is cut short");
    into.push_back(std::move(socket));
    answer = answer.subspan(std::min(answer.size(), aligned(header.nlmsg_len)));
  }
  return false;
}

namespace {

Result<base::Fd> ask_helper(const base::PrivilegedHelper& helper, const tracee::Process& process) {
  base::Packer wanted;
  wanted.put(process.pid());
  SJ_TRY(answer, helper.ask(base::PrivilegedRequest::kSockets, std::move(wanted)));
  if (answer.fds.size() != 1) return fail("the process that keeps the rights answered nonsense");
  return std::move(answer.fds.front());
}

}  // namespace

Result<SocketDiag> SocketDiag::open(const tracee::Process& process) {
  if (const auto* const helper = base::PrivilegedHelper::of_this_process()) {
    SJ_TRY(socket, ask_helper(*helper, process));
    return SocketDiag(std::move(socket));
  }
  SJ_TRY(socket, open_in_namespace_of(process));
  return SocketDiag(std::move(socket));
}

Result<base::Fd> SocketDiag::open_in_namespace_of(const tracee::Process& process) {
  const std::string path = process.proc("ns/net");
  const auto own = tracee::read_link("/proc/self/ns/net");
  const auto its = tracee::read_link(path);
  if (!its) return std::unexpected(its.error());
  if (own && *own == *its) return open_netlink();
  const base::Fd name_space(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!name_space) return fail_errno("open {}", path);
  Result<base::Fd> socket = base::Fd();
  // A socket stays in the namespace in which it was made; only this thread ever is there.
  std::thread([&] {
    if (setns(name_space.get(), CLONE_NEWNET) != 0)
      socket = fail_errno("enter the network namespace of {}", process.title());
    else
      socket = open_netlink();
  }).join();
  return socket;
}

Result<void> SocketDiag::dump(std::uint8_t family, std::uint8_t protocol,
                              std::vector<SocketState>& into) {
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } question{};
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.request.sdiag_family = family;
  question.request.sdiag_protocol = protocol;
  question.request.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
  question.request.idiag_states = ~0U;
  if (send(socket_.get(), &question, sizeof(question), 0) != sizeof(question))
    return fail_errno("ask the kernel about sockets");
  std::vector<std::byte> answer(kAnswerBytes);
  for (;;) {
    const ssize_t bytes = recv(socket_.get(), answer.data(), answer.size(), 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return fail_errno("hear from the kernel about sockets");
    SJ_TRY(is_last, read_socket_answer(std::span(answer).first(static_cast<std::size_t>(bytes)),
                                       protocol, into));
    if (is_last) return {};
  }
}

Result<std::vector<SocketState>> SocketDiag::dump() {
  std::vector<SocketState> sockets;
  constexpr std::array<std::uint8_t, 3> kProtocols = {IPPROTO_UDP, IPPROTO_TCP, IPPROTO_SCTP};
  constexpr std::array<std::uint8_t, 2> kFamilies = {AF_INET, AF_INET6};
  for (const std::uint8_t protocol : kProtocols)
    for (const std::uint8_t family : kFamilies) SJ_CHECK(dump(family, protocol, sockets));
  return sockets;
}

std::vector<std::uint64_t> socket_inodes(const tracee::Process& process) {
  std::vector<std::uint64_t> inodes;
  for (const tracee::Link& fd : tracee::read_links(process.proc("fd"))) {
    constexpr std::string_view kSocket = "socket:[";
    const std::string_view link = fd.leads_to;
    if (!link.starts_with(kSocket) || !link.ends_with(']')) continue;
    const std::string_view number = link.substr(kSocket.size(), link.size() - kSocket.size() - 1);
    if (const auto inode = tracee::parse_number(number)) inodes.push_back(*inode);
  }
  std::ranges::sort(inodes);
  return inodes;
}

}  // namespace sojourn::capture
