// The network, over loopback and to another machine's `sojourn host --serve`: round trips of ICMP,
// UDP and TCP, peak bandwidth, connection set-up and tear-down.
#include "userspace/host/network_costs.h"

#include <array>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include "userspace/base/fail_errno.h"
#include "userspace/host/echo_service.h"
#include "userspace/host/partner.h"
#include "userspace/host/sockets.h"
#include "userspace/host/subjects.h"

namespace sojourn::host {

namespace {

constexpr const char* kCloseNote =
    "close() sends a FIN and returns: the other side's answer is the kernel's business, so it "
    "costs "
    "a system call";

// The rows' names, of loopback or of a peer.
struct Names {
  std::string prefix;  // "network." or "peer."
  std::string behind;  // " on loopback", " to 10.0.0.2:7788"

  Row row(const char* id, const char* name, std::string method) const {
    return {prefix + id, name + behind, std::move(method)};
  }
};

// Samples of an operation that may fail. If it fails, there are none, and errno says why.
template <typename Once>
void measure_times(Bench& bench, Row row, std::uint64_t most_ns, Once once,
                   const std::string& note = {}) {
  std::vector<double> samples;
  const std::uint64_t end = base::monotonic_ns() + most_ns;
  while (samples.size() < bench.effort().most && base::monotonic_ns() < end) {
    const std::optional<double> ns = once();
    if (!ns) break;
    samples.push_back(*ns);
  }
  if (samples.empty()) {
    const Error error = fail_errno("no answer").error();
    return bench.leave_out(std::move(row), error.text());
  }
  samples.erase(samples.begin(),
                samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 20));
  bench.add(std::move(row), std::move(samples)).note = note;
}

void measure_tcp(Bench& bench, const Names& names, const Address& address) {
  const Row row = names.row("tcp", "TCP round trip", "64 bytes there and back on one connection");
  const auto connection = connect_to(address);
  if (!connection) return bench.leave_out(row, connection.error().text());
  send_all(connection->get(), &kWantsEcho, 1);
  std::array<char, kEchoBytes> message{};
  measure_times(bench, row, 2 * bench.effort().most_ns, [&]() -> std::optional<double> {
    const std::uint64_t before = base::monotonic_ns();
    if (!send_all(connection->get(), message.data(), message.size()) ||
        !receive_all(connection->get(), message.data(), message.size()))
      return std::nullopt;
    return static_cast<double>(base::monotonic_ns() - before);
  });
}

void measure_bandwidth(Bench& bench, const Names& names, const Address& address) {
  const Row row = names.row("bandwidth", "TCP bandwidth",
                            "sent in pieces of 128 KiB, counted by the receiver to the last byte");
  const std::uint64_t span_ns = bench.is_full() ? 500'000'000 : 60'000'000;
  const std::vector<char> piece(128 * 1024, 'p');
  std::vector<double> samples;
  while (samples.size() < kFewestSamples) {
    const auto connection = connect_to(address);
    if (!connection) return bench.leave_out(row, connection.error().text());
    send_all(connection->get(), &kWantsSink, 1);
    const std::uint64_t begin = base::monotonic_ns();
    while (base::monotonic_ns() < begin + span_ns)
      if (!send_all(connection->get(), piece.data(), piece.size())) break;
    shutdown(connection->get(), SHUT_WR);
    std::uint64_t bytes = 0;
    if (!receive_all(connection->get(), &bytes, sizeof(bytes)))
      return bench.leave_out(row, "the other side went away");
    samples.push_back(static_cast<double>(bytes) * 1e9 /
                      static_cast<double>(base::monotonic_ns() - begin));
  }
  bench.add(row, std::move(samples), Unit::kBytesPerSecond);
}

void measure_connections(Bench& bench, const Names& names, const Address& address) {
  const Row row = names.row("connect", "TCP connection set-up", "connect()");
  measure_times(bench, row, 2 * bench.effort().most_ns, [&]() -> std::optional<double> {
    const base::Fd socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return std::nullopt;
    make_prompt(socket, 5000);
    const std::uint64_t before = base::monotonic_ns();
    if (connect(socket.get(), address.get(), address.length) != 0) return std::nullopt;
    return static_cast<double>(base::monotonic_ns() - before);
  });
  measure_times(
      bench, names.row("close", "TCP connection tear-down", "close() of an idle connection"),
      2 * bench.effort().most_ns,
      [&]() -> std::optional<double> {
        auto socket = connect_to(address);
        if (!socket) return std::nullopt;
        const std::uint64_t before = base::monotonic_ns();
        *socket = base::Fd();
        return static_cast<double>(base::monotonic_ns() - before);
      },
      kCloseNote);
}

std::uint16_t checksum(const void* data, std::size_t bytes) {
  std::uint32_t sum = 0;
  const auto* const at = static_cast<const unsigned char*>(data);
  for (std::size_t index = 0; index + 1 < bytes; index += 2)
    sum += static_cast<std::uint32_t>(at[index] | at[index + 1] << 8);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

// The kernel answers echo requests itself, so no process is woken on the other side.
void measure_icmp(Bench& bench, const Names& names, const Address& address) {
  const Row row = names.row("icmp", "ICMP echo", "64 bytes, answered by the other side's kernel");
  if (address.storage.ss_family != AF_INET) return bench.leave_out(row, "only over IPv4");
  bool is_raw = false;
  base::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP));
  if (!socket) {
    is_raw = true;
    socket = base::Fd(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
  }
  if (!socket) {
    const Error error = fail_errno("make an ICMP socket").error();
    return bench.leave_out(row, error.text() + " (root, or net.ipv4.ping_group_range)");
  }
  make_prompt(socket, 1000);
  sockaddr_in to{};
  std::memcpy(&to, &address.storage, sizeof(to));
  to.sin_port = 0;
  std::uint16_t number = 0;
  measure_times(bench, row, 2 * bench.effort().most_ns, [&]() -> std::optional<double> {
    struct {
      icmphdr header;
      char data[56];
    } request{};
    request.header.type = ICMP_ECHO;
    request.header.un.echo.id = htons(0x736a);
    request.header.un.echo.sequence = htons(++number);
    request.header.checksum = checksum(&request, sizeof(request));
    std::array<unsigned char, 256> reply{};
    const std::uint64_t before = base::monotonic_ns();
    if (sendto(socket.get(), &request, sizeof(request), 0, reinterpret_cast<sockaddr*>(&to),
               sizeof(to)) != sizeof(request))
      return std::nullopt;
    while (true) {  // a raw socket also gets what others are sent, and our own requests
      const ssize_t got = recv(socket.get(), reply.data(), reply.size(), 0);
      if (got <= 0) return std::nullopt;
      const std::size_t at = is_raw ? std::size_t{reply[0] & 0xfU} * 4 : 0;
      if (static_cast<std::size_t>(got) < at + sizeof(icmphdr)) continue;
      icmphdr header{};
      std::memcpy(&header, reply.data() + at, sizeof(header));
      const bool is_ours = !is_raw || header.un.echo.id == request.header.un.echo.id;
      if (header.type == ICMP_ECHOREPLY && is_ours && header.un.echo.sequence == htons(number))
        break;
    }
    return static_cast<double>(base::monotonic_ns() - before);
  });
}

void measure_udp(Bench& bench, const Names& names, std::uint32_t cpu) {
  const Row row = names.row("udp", "UDP round trip", "64 bytes there and back");
  Address address;
  if (const auto found = find_address("127.0.0.1:0", true)) address = *found;
  const base::Fd here(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const base::Fd there(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!here || !there || bind(here.get(), address.get(), address.length) != 0 ||
      bind(there.get(), address.get(), address.length) != 0)
    return bench.leave_out(row, "no UDP socket can be made");
  const Address here_at = local_address(here);
  const Address there_at = local_address(there);
  if (connect(here.get(), there_at.get(), there_at.length) != 0 ||
      connect(there.get(), here_at.get(), here_at.length) != 0)
    return bench.leave_out(row, "the sockets cannot be connected");
  make_prompt(here, 1000);
  const PartnerProcess partner(cpu, [&] {
    std::array<char, kEchoBytes> message{};
    while (recv(there.get(), message.data(), message.size(), 0) > 0 &&
           send(there.get(), message.data(), message.size(), 0) > 0) {
    }
  });
  std::array<char, kEchoBytes> message{};
  measure_times(bench, row, 2 * bench.effort().most_ns, [&]() -> std::optional<double> {
    const std::uint64_t before = base::monotonic_ns();
    if (send(here.get(), message.data(), message.size(), 0) <= 0 ||
        recv(here.get(), message.data(), message.size(), 0) <= 0)
      return std::nullopt;
    return static_cast<double>(base::monotonic_ns() - before);
  });
}

}  // namespace

void measure_network(Bench& bench) {
  const Names names{"network.", " on loopback"};
  const std::uint32_t cpu = bench.placement().partner().value_or(bench.placement().home());
  const auto wanted = find_address("127.0.0.1:0", true);
  const auto listening = wanted ? listen_at(*wanted) : Result<base::Fd>(base::Fd());
  if (!wanted || !listening || !*listening)
    return bench.leave_out(names.row("tcp", "TCP round trip", ""),
                           listening ? "no loopback address" : listening.error().text());
  const Address address = local_address(*listening);
  measure_icmp(bench, names, address);
  measure_udp(bench, names, cpu);
  const PartnerProcess partner(cpu, [&] { serve_one_by_one(*listening); });
  if (!partner.is_there())
    return bench.leave_out(names.row("tcp", "TCP round trip", ""), "fork failed");
  measure_tcp(bench, names, address);
  measure_bandwidth(bench, names, address);
  measure_connections(bench, names, address);
}

void measure_peer(Bench& bench, const std::string& peer) {
  const Names names{"peer.", " to " + peer};
  const auto address = find_address(peer, false);
  if (!address)
    return bench.leave_out(names.row("tcp", "TCP round trip", ""), address.error().text());
  measure_icmp(bench, names, *address);
  measure_tcp(bench, names, *address);
  measure_bandwidth(bench, names, *address);
  measure_connections(bench, names, *address);
}

}  // namespace sojourn::host
