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
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
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

void read_memory(const nlattr& attribute, SocketState& socket) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
  std::memcpy(info.data(), mnl_attr_get_payload(&attribute),
              std::min<std::size_t>(sizeof(info), mnl_attr_get_payload_len(&attribute)));
  socket.receive_bytes = info[SK_MEMINFO_RMEM_ALLOC];
  socket.receive_limit = info[SK_MEMINFO_RCVBUF];
  socket.send_limit = info[SK_MEMINFO_SNDBUF];
  socket.backlog_bytes = info[SK_MEMINFO_BACKLOG];
  socket.drops = info[SK_MEMINFO_DROPS];
}

// Reads one socket. False: the message is cut short.
bool read_socket(const nlmsghdr& header, std::uint8_t protocol, SocketState& socket) {
  if (mnl_nlmsg_get_payload_len(&header) < sizeof(inet_diag_msg)) return false;
  const auto& message = *static_cast<const inet_diag_msg*>(mnl_nlmsg_get_payload(&header));
  socket.inode = message.idiag_inode;
  socket.cookie = message.id.idiag_cookie[0] | std::uint64_t{message.id.idiag_cookie[1]} << 32;
  socket.name = socket_name(message, protocol);
  socket.unread_bytes = message.idiag_rqueue;
  socket.send_bytes = message.idiag_wqueue;
  const auto* attribute =
      static_cast<const nlattr*>(mnl_nlmsg_get_payload_offset(&header, sizeof(message)));
  const auto* const end = static_cast<const std::byte*>(mnl_nlmsg_get_payload_tail(&header));
  const auto left = [&] {
    return static_cast<int>(end - reinterpret_cast<const std::byte*>(attribute));
  };
  for (; mnl_attr_ok(attribute, left()); attribute = mnl_attr_next(attribute))
    if (mnl_attr_get_type(attribute) == INET_DIAG_SKMEMINFO) read_memory(*attribute, socket);
  return left() == 0;
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
  auto left = static_cast<int>(answer.size());
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  for (; left > 0; header = mnl_nlmsg_next(header, &left)) {
    SocketState socket;
    const bool is_whole = mnl_nlmsg_ok(header, left);
    if (is_whole && header->nlmsg_type == NLMSG_DONE) return true;
    if (is_whole && header->nlmsg_type == NLMSG_ERROR &&
        mnl_nlmsg_get_payload_len(header) >= sizeof(nlmsgerr)) {
      const int error = static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(header))->error;
      if (error == 0 || error == -ENOENT) return true;
      return fail("ask the kernel about sockets: {}", std::generic_category().message(-error));
    }
    if (!is_whole || header->nlmsg_type == NLMSG_ERROR || !read_socket(*header, protocol, socket))
      return fail("the kernel's answer about sockets is cut short");
    into.push_back(std::move(socket));
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
  // A socket stays in the namespace in which it was made, so only this thread has to enter it.
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
  alignas(nlmsghdr) std::array<std::byte, MNL_NLMSG_HDRLEN + sizeof(inet_diag_req_v2)> question{};
  nlmsghdr* const header = mnl_nlmsg_put_header(question.data());
  header->nlmsg_type = SOCK_DIAG_BY_FAMILY;
  header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  auto& request =
      *static_cast<inet_diag_req_v2*>(mnl_nlmsg_put_extra_header(header, sizeof(inet_diag_req_v2)));
  request.sdiag_family = family;
  request.sdiag_protocol = protocol;
  request.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
  request.idiag_states = ~0U;
  if (send(socket_.get(), header, header->nlmsg_len, 0) != header->nlmsg_len)
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
