// The other end of network measurements, over loopback.
#include "userspace/host/echo_service.h"

#include <array>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include "userspace/host/sockets.h"

namespace sojourn::host {
namespace {

// `serve` in a thread, at a port of its own.
class Service {
 public:
  Service() {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    reading_ = base::Fd(ends[0]);
    writing_ = base::Fd(ends[1]);
    auto wanted = find_address("127.0.0.1:0", true);
    REQUIRE(wanted.has_value());
    auto listening = listen_at(*wanted);
    REQUIRE(listening.has_value());
    listening_ = std::move(*listening);
    thread_ = std::jthread([this] { (void)serve(listening_, reading_); });
  }
  ~Service() { (void)!write(writing_.get(), "x", 1); }

  base::Fd connect(char wanted) const {
    auto connection = connect_to(local_address(listening_));
    REQUIRE(connection.has_value());
    CHECK(send_all(connection->get(), &wanted, 1));
    return std::move(*connection);
  }

 private:
  base::Fd reading_;
  base::Fd writing_;
  base::Fd listening_;
  std::jthread thread_;
};

TEST_CASE("64 bytes come back as they were sent") {
  const Service service;
  const base::Fd connection = service.connect(kWantsEcho);
  std::array<char, kEchoBytes> sent{};
  for (std::size_t at = 0; at < sent.size(); ++at) sent[at] = static_cast<char>(at);
  for (int turn = 0; turn < 3; ++turn) {
    std::array<char, kEchoBytes> got{};
    REQUIRE(send_all(connection.get(), sent.data(), sent.size()));
    REQUIRE(receive_all(connection.get(), got.data(), got.size()));
    CHECK(got == sent);
  }
}

TEST_CASE("discarded bytes are counted exactly") {
  const Service service;
  const base::Fd connection = service.connect(kWantsSink);
  const std::vector<char> bytes(1'000'003, 's');
  REQUIRE(send_all(connection.get(), bytes.data(), bytes.size()));
  shutdown(connection.get(), SHUT_WR);
  std::uint64_t counted = 0;
  REQUIRE(receive_all(connection.get(), &counted, sizeof(counted)));
  CHECK(counted == bytes.size());
}

TEST_CASE("an invalid request is refused, and other clients are served") {
  const Service service;
  const base::Fd stranger = service.connect('?');
  char byte = 0;
  CHECK_FALSE(receive_all(stranger.get(), &byte, 1));
  const base::Fd connection = service.connect(kWantsEcho);
  std::array<char, kEchoBytes> message{};
  CHECK(send_all(connection.get(), message.data(), message.size()));
  CHECK(receive_all(connection.get(), message.data(), message.size()));
}

TEST_CASE("addresses are HOST:PORT, and others are refused") {
  CHECK(find_address("127.0.0.1:80", false)->text() == "127.0.0.1:80");
  CHECK(find_address("[::1]:80", false)->text() == "[::1]:80");
  for (const char* wrong : {"", "127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:http"})
    CHECK_FALSE(find_address(wrong, false).has_value());
}

}  // namespace
}  // namespace sojourn::host
