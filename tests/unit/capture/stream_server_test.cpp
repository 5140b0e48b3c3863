// Readers on sockets; also run under TSan.
#include "userspace/capture/stream/stream_server.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/certificate.h"
#include "tests/support/child.h"
#include "userspace/files/stream_connection.h"

namespace sojourn::capture {
namespace {

model::Host host() {
  model::Host host;
  host.name = "here";
  return host;
}

StreamOptions listening_at(const std::string& text) {
  auto address = files::parse_stream_address(text);
  REQUIRE(address);
  return {.listen = {*address}, .connect = {}};
}

std::string read_to_end(int fd) {
  std::string all;
  std::vector<char> piece(65'536);
  for (;;) {
    pollfd wanted{.fd = fd, .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, 30'000) != 1) return all + "(nothing comes)";
    const ssize_t got = read(fd, piece.data(), piece.size());
    if (got == 0) return all;
    if (got < 0) return all + "(" + std::strerror(errno) + ")";
    all.append(piece.data(), static_cast<std::size_t>(got));
  }
}

void wait_for_readers(const BlockFeed& feed, std::uint64_t count) {
  while (feed.totals().readers < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_CASE("readers by TCP and by a unix socket get the same, to its end") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("stream");
  BlockFeed feed(host());
  StreamOptions options = listening_at("127.0.0.1:0");
  options.listen.push_back(listening_at("unix:" + path).listen.front());
  auto server = StreamServer::start(options, feed, FileOwner::self());
  REQUIRE(server);
  REQUIRE((*server)->addresses().size() == 2);
  CHECK((*server)->addresses().front().port != 0);
  struct stat status{};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  auto first = files::connect_to((*server)->addresses().front());
  auto second = files::connect_to((*server)->addresses().back());
  REQUIRE(first);
  REQUIRE(second);
  shutdown(first->get(), SHUT_WR);  // as nc does at the end of its input
  wait_for_readers(feed, 2);
  for (int number = 0; number < 1000; ++number)
    feed.take(model::ClockPair{.monotonic_ns = static_cast<std::uint64_t>(number)});
  feed.finish();
  std::string by_tcp;
  std::string by_unix;
  std::thread first_reader([&] { by_tcp = read_to_end(first->get()); });
  std::thread second_reader([&] { by_unix = read_to_end(second->get()); });
  CHECK((*server)->finish());
  first_reader.join();
  second_reader.join();
  CHECK(by_tcp.starts_with("SJTRACE\n"));
  CHECK(by_tcp.size() > 64'000);
  CHECK((by_tcp == by_unix));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a peer that sends without end is cut off, and others are not") {
  BlockFeed feed(model::Host{});
  auto server = StreamServer::start(listening_at("127.0.0.1:0"), feed, FileOwner::self());
  REQUIRE(server);
  auto loud = files::connect_to((*server)->addresses().front());
  auto silent = files::connect_to((*server)->addresses().front());
  REQUIRE(loud);
  REQUIRE(silent);
  wait_for_readers(feed, 2);
  const std::vector<char> rubbish(4096, 'x');
  bool is_cut_off = false;
  for (int piece = 0; piece < 100'000 && !is_cut_off; ++piece) {
    const ssize_t sent = send(loud->get(), rubbish.data(), rubbish.size(), MSG_NOSIGNAL);
    is_cut_off = sent < 0 && errno != EAGAIN;
    if (sent < 0 && errno == EAGAIN) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(is_cut_off);
  feed.finish();
  CHECK((*server)->finish());
  CHECK(read_to_end(silent->get()).starts_with("SJTRACE\n"));
}

TEST_CASE("a reader that takes nothing is not waited for without end") {
  BlockFeed feed(model::Host{});
  auto server = StreamServer::start(listening_at("127.0.0.1:0"), feed, FileOwner::self());
  REQUIRE(server);
  auto dead = files::connect_to((*server)->addresses().front());
  REQUIRE(dead);
  wait_for_readers(feed, 1);
  // More than two sockets' buffers.
  model::Context context;
  for (std::uint64_t id = 0; id < 20'000; ++id)
    context.names.push_back({.kind = model::NameKind::kThread,
                             .id = id,
                             .name = std::to_string(id * 0x9e3779b97f4a7c15),
                             .state = {}});
  for (int block = 0; block < 60; ++block) feed.take(context);
  feed.finish();
  CHECK_FALSE((*server)->finish());
}

TEST_CASE("an address that is taken, or that is a file, is refused") {
  const test::TemporaryDirectory directory;
  BlockFeed feed(model::Host{});
  auto server = StreamServer::start(listening_at("127.0.0.1:0"), feed, FileOwner::self());
  REQUIRE(server);
  const std::string taken = (*server)->addresses().front().text();
  auto again = StreamServer::start(listening_at(taken), feed, FileOwner::self());
  REQUIRE_FALSE(again);
  CHECK(again.error().text() == "listen at " + taken + ": Address already in use");
  const std::string file = directory.path("file");
  test::write_contents(file, "evidence");
  CHECK_FALSE(StreamServer::start(listening_at("unix:" + file), feed, FileOwner::self()));
  CHECK(test::contents(file) == "evidence");
}

// Returns everything that a reader got until the connection ended, or the error.
std::string read_by(const files::StreamAddress& address) {
  auto connection = files::StreamConnection::open(address, std::chrono::seconds(5));
  if (!connection) return connection.error().text();
  std::string all;
  std::vector<std::uint8_t> piece(65'536);
  while (connection->is_open()) {
    const auto got = connection->receive(piece);
    if (!got) return got.error().text();
    all.append(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*got));
    pollfd wanted{.fd = connection->fd(), .events = connection->awaited(), .revents = 0};
    if (*got == 0 && connection->is_open() && poll(&wanted, 1, 30'000) != 1)
      return all + "(nothing comes)";
  }
  return all;
}

// As a reader on this machine reaches it.
files::StreamAddress address_of(const StreamServer& server) {
  files::StreamAddress address = server.addresses().front();
  CHECK(address.text().starts_with("tls://0.0.0.0:"));
  address.host = "127.0.0.1";
  return address;
}

StreamOptions protected_by(const test::Certificate& certificate) {
  StreamOptions options = listening_at("tls://0.0.0.0:0");
  options.token = certificate.token();
  options.certificate = certificate.certificate();
  options.key = certificate.key();
  return options;
}

TEST_CASE("a reader by TLS gets the stream for its token, and nothing for another") {
  const test::Certificate certificate;
  certificate.trust();
  BlockFeed feed(host());
  auto server = StreamServer::start(protected_by(certificate), feed, FileOwner::self());
  REQUIRE(server);
  const files::StreamAddress address = address_of(**server);

  unsetenv("SOJOURN_TOKEN_FILE");
  setenv("SOJOURN_TOKEN", "this-is-another-token", 1);
  CHECK(read_by(address) == address.text() + ": the token is wrong");
  CHECK(feed.totals().readers == 0);
  unsetenv("SOJOURN_TOKEN");
  CHECK(read_by(address).contains("wants a token"));
  certificate.trust();
  unsetenv("SOJOURN_TLS_CA");
  CHECK(read_by(address).contains("its certificate is not trusted: self-signed certificate"));
  certificate.trust();
  files::StreamAddress other_name = address;
  other_name.host = "127.0.0.2";  // the same machine, and not in the certificate
  CHECK(read_by(other_name).contains("its certificate is not trusted"));

  std::string got;
  std::thread reader([&] { got = read_by(address); });
  wait_for_readers(feed, 1);
  for (int number = 0; number < 1000; ++number)
    feed.take(model::ClockPair{.monotonic_ns = static_cast<std::uint64_t>(number)});
  feed.finish();
  CHECK((*server)->finish());
  reader.join();
  CHECK(got.starts_with("SJTRACE\n"));
  CHECK(got.size() > 64'000);
}

TEST_CASE("a peer that does not speak TLS, or says nothing, is no reader, and others are served") {
  const test::Certificate certificate;
  certificate.trust();
  BlockFeed feed(host());
  auto server = StreamServer::start(protected_by(certificate), feed, FileOwner::self());
  REQUIRE(server);
  const files::StreamAddress address = address_of(**server);
  std::vector<base::Fd> silent;
  for (int one = 0; one < 100; ++one) {  // more than may wait at its door
    auto fd = files::connect_to(address);
    REQUIRE(fd);
    silent.push_back(std::move(*fd));
  }
  auto loud = files::connect_to(address);
  REQUIRE(loud);
  const std::string rubbish(4096, 'x');
  CHECK(send(loud->get(), rubbish.data(), rubbish.size(), MSG_NOSIGNAL) > 0);
  CHECK_FALSE(read_to_end(loud->get()).contains("SJTRACE"));
  CHECK(feed.totals().readers == 0);
  std::string got;
  std::thread reader([&] { got = read_by(address); });
  wait_for_readers(feed, 1);
  feed.finish();
  CHECK((*server)->finish());
  reader.join();
  CHECK(got.starts_with("SJTRACE\n"));
}

TEST_CASE("keys that are invalid, or readable by all users, are refused") {
  const test::Certificate certificate;
  BlockFeed feed(model::Host{});
  const auto refused = [&](StreamOptions options) {
    auto server = StreamServer::start(options, feed, FileOwner::self());
    return server ? "" : server.error().text();
  };
  StreamOptions options = protected_by(certificate);
  options.key = certificate.certificate();
  chmod(options.key.c_str(), 0600);
  CHECK(refused(options).contains("no key can be read from it"));
  options = protected_by(certificate);
  options.certificate = certificate.token_file();
  CHECK(refused(options).contains("no certificate can be read from it"));
  const test::Certificate other;
  options = protected_by(certificate);
  options.key = other.key();
  CHECK(refused(options).contains("key values mismatch"));
  chmod(certificate.key().c_str(), 0644);
  CHECK(refused(protected_by(certificate)).contains("chmod 600"));
}

TEST_CASE("a reader that was called is called again where its connection breaks") {
  const test::TemporaryDirectory directory;
  files::StreamAddress address{.host = {}, .path = directory.path("reader")};
  auto listener = files::listen_at(address);
  REQUIRE(listener);
  BlockFeed feed(host());
  StreamOptions options;
  options.connect = {address};
  auto server = StreamServer::start(options, feed, FileOwner::self());
  REQUIRE(server);
  const auto accepted = [&] {
    pollfd wanted{.fd = listener->get(), .events = POLLIN, .revents = 0};
    REQUIRE(poll(&wanted, 1, 30'000) == 1);
    return base::Fd(accept(listener->get(), nullptr, nullptr));
  };
  base::Fd first = accepted();
  first = base::Fd();
  const base::Fd second = accepted();
  wait_for_readers(feed, 2);
  feed.finish();
  std::string got;
  std::thread reader([&] { got = read_to_end(second.get()); });
  CHECK((*server)->finish());
  reader.join();
  CHECK(got.starts_with("SJTRACE\n"));
  CHECK((*server)->reconnections() == 1);
}

}  // namespace
}  // namespace sojourn::capture
