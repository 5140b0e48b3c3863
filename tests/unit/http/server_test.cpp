// The server and its clients on one thread: the test turns the server while clients wait.
#include "userspace/http/server.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <list>
#include <optional>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/files/stream_address.h"

namespace sojourn::http {
namespace {

using std::chrono::milliseconds;

struct Peer {
  base::Fd fd;
  std::string heard;
  bool is_closed = false;

  void send(const std::string& bytes) const {
    REQUIRE(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  void hear() {
    std::array<char, 65'536> piece{};
    const ssize_t got = recv(fd.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got > 0) heard.append(piece.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EAGAIN)) is_closed = true;
  }
};

struct Served {
  explicit Served(Limits limits = {}) {
    signal(SIGPIPE, SIG_IGN);
    auto parsed = files::parse_stream_address("127.0.0.1:0");
    REQUIRE(parsed);
    address = *parsed;
    auto listener = files::listen_at(address);
    REQUIRE(listener);
    server.emplace(std::move(*listener), limits,
                   [this](const Request& request) { return answer(request); });
  }
  Response answer(const Request& request) const {
    Response response;
    if (request.path == "/events") {
      response.content_type = "text/event-stream";
      response.channel = 7;
      response.body = "first\n\n";
    } else if (request.path == "/file") {
      response.file = {.fd = file, .offset = 10, .bytes = file_bytes};
    } else {
      response.body = request.path + " " + request.body;
    }
    return response;
  }
  Peer& connect() {
    auto fd = files::connect_to(address);
    REQUIRE(fd);
    return peers.emplace_back(Peer{.fd = std::move(*fd), .heard = {}, .is_closed = false});
  }
  Peer& ask(const std::string& request) {
    Peer& peer = connect();
    peer.send(request);
    return peer;
  }
  void turn() { server->turn(milliseconds(1), {}); }
  template <typename Holds>
  bool until(Peer& peer, Holds holds) {
    for (int turns = 0; turns < 5000; ++turns) {
      turn();
      peer.hear();
      if (holds()) return true;
    }
    return false;
  }
  bool closes(Peer& peer) {
    return until(peer, [&peer] { return peer.is_closed; });
  }

  files::StreamAddress address;
  int file = -1;
  std::uint64_t file_bytes = 0;
  std::optional<Server> server;
  std::list<Peer> peers;
};

TEST_CASE("a request in pieces is answered, and the connection ends") {
  Served served;
  Peer& peer = served.connect();
  for (const char letter : std::string("POST /here HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc")) {
    peer.send(std::string(1, letter));
    served.turn();
  }
  REQUIRE(served.closes(peer));
  CHECK(peer.heard.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(peer.heard.contains("\r\nContent-Length: 9\r\n"));
  CHECK(peer.heard.ends_with("\r\n\r\n/here abc"));
}

TEST_CASE("an invalid request, or one without end, gets an error") {
  Served served;
  Peer& nonsense = served.ask("\x16\x03\x01 nonsense\r\n\r\n");
  REQUIRE(served.closes(nonsense));
  CHECK(nonsense.heard.starts_with("HTTP/1.1 400 "));
  Peer& huge = served.connect();
  huge.send("GET / HTTP/1.1\r\nX: " + std::string(30'000, 'x'));
  REQUIRE(served.until(huge, [&huge] { return huge.heard.contains("\r\n\r\n"); }));
  CHECK(huge.heard.starts_with("HTTP/1.1 431 "));
  CHECK(served.closes(huge));
}

TEST_CASE("a part of a file is sent to its end") {
  Served served;
  const base::Fd file(memfd_create("sojourn-test", MFD_CLOEXEC));
  std::string bytes(3'000'000, 'a');
  for (std::size_t at = 0; at < bytes.size(); ++at)
    bytes[at] = static_cast<char>('a' + at * 7 % 26);
  REQUIRE(write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  served.file = file.get();
  served.file_bytes = 2'500'000;
  Peer& peer = served.ask("GET /file HTTP/1.1\r\n\r\n");
  REQUIRE(served.closes(peer));
  CHECK(peer.heard.contains("\r\nContent-Length: 2500000\r\n"));
  CHECK(peer.heard.substr(peer.heard.find("\r\n\r\n") + 4) == bytes.substr(10, 2'500'000));
}

TEST_CASE("events go to all listeners, and a slow one misses some") {
  Served served;
  Peer& quick = served.ask("GET /events HTTP/1.1\r\n\r\n");
  const Peer& slow = served.ask("GET /events HTTP/1.1\r\n\r\n");
  REQUIRE(served.until(quick, [&quick] { return quick.heard.ends_with("first\n\n"); }));
  CHECK(served.server->has_listeners(7));
  CHECK_FALSE(served.server->has_listeners(8));
  const std::string event(50'000, 'e');
  for (int sent = 0; sent < 400; ++sent) {
    quick.heard.clear();
    served.server->send_event(7, event);
    REQUIRE(served.until(quick, [&] { return quick.heard == event; }));
  }
  CHECK(served.server->missed_events() > 0);
  CHECK_FALSE(slow.is_closed);
  served.server->send_event(8, "for nobody");
  quick.fd = base::Fd();
  for (int turns = 0; turns < 100 && served.server->clients() > 1; ++turns) served.turn();
  CHECK(served.server->clients() == 1);
}

TEST_CASE("a client that takes nothing is dropped, and so is one without a request") {
  Served served(
      {.clients = 8, .request = std::chrono::seconds(1), .standstill = std::chrono::seconds(1)});
  Peer& listening = served.ask("GET /events HTTP/1.1\r\n\r\n");
  Peer& silent = served.connect();
  silent.send("GET / HT");
  REQUIRE(served.until(listening, [&] { return listening.heard.ends_with("first\n\n"); }));
  // No more is read from here on.
  const std::string event(1'000'000, 'e');
  for (int sent = 0; sent < 20; ++sent) served.server->send_event(7, event);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (served.server->clients() > 0 && std::chrono::steady_clock::now() < end)
    served.server->turn(milliseconds(20), {});
  CHECK(served.server->clients() == 0);
  CHECK(served.closes(silent));
}

TEST_CASE("a hundred silent connections keep no other client out") {
  Served served({.clients = 10});
  for (int number = 0; number < 100; ++number) {
    served.connect();
    served.turn();
  }
  CHECK(served.server->clients() == 10);
  Peer& peer = served.ask("GET /late HTTP/1.1\r\n\r\n");
  REQUIRE(served.closes(peer));
  CHECK(peer.heard.ends_with("/late "));
}

TEST_CASE("if all clients have requests, a new one too many is closed") {
  Served served({.clients = 3});
  for (int number = 0; number < 3; ++number) {
    Peer& peer = served.ask("GET /events HTTP/1.1\r\n\r\n");
    REQUIRE(served.until(peer, [&] { return peer.heard.ends_with("first\n\n"); }));
  }
  Peer& late = served.ask("GET /late HTTP/1.1\r\n\r\n");
  REQUIRE(served.closes(late));
  CHECK(late.heard.empty());
  CHECK(served.server->clients() == 3);
}

}  // namespace
}  // namespace sojourn::http
