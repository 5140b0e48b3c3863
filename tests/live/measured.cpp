#include "tests/live/measured.h"

#include <array>
#include <chrono>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/files/stream_address.h"

namespace sojourn::live {

std::uint16_t free_port() {
  auto address = files::parse_stream_address("127.0.0.1:0");
  REQUIRE(address);
  REQUIRE(files::listen_at(*address));
  return address->port;
}

std::string ask(std::uint16_t port, const std::string& request) {
  auto fd = files::connect_to(files::StreamAddress{.host = "127.0.0.1", .port = port, .path = {}});
  REQUIRE(fd);
  REQUIRE(send(fd->get(), request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size()));
  std::string answer;
  std::array<char, 65'536> piece{};
  for (;;) {
    pollfd wanted{.fd = fd->get(), .events = POLLIN, .revents = 0};
    REQUIRE(poll(&wanted, 1, 30'000) == 1);
    const ssize_t got = read(fd->get(), piece.data(), piece.size());
    if (got <= 0) return answer;
    answer.append(piece.data(), static_cast<std::size_t>(got));
  }
}

std::string get(std::uint16_t port, const std::string& path, const std::string& more) {
  return ask(port, "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n" +
                       more + "\r\n");
}

std::string body_of(const std::string& answer) {
  const auto end = answer.find("\r\n\r\n");
  REQUIRE(end != std::string::npos);
  return answer.substr(end + 4);
}

std::string escaped(const std::string& words) {
  std::string text;
  for (const char letter : words)
    text += fmt::format("%{:02x}", static_cast<unsigned char>(letter));
  return text;
}

Measured::Measured(const std::string& options)
    : capture({"sh", "-c",
               fmt::format("exec '{}' record -p {} -o '{}' --metrics 127.0.0.1:{} {} 2>&1",
                           SJ_SOJOURN, station.pid(), directory.path("run.sjt"), port, options)}) {
  REQUIRE(capture.wait_for_output("/metrics"));
}

void Measured::wait_for_packets() const {
  for (int turn = 0; turn < 600; ++turn) {
    if (get(port, "/metrics").contains("sojourn_latency_seconds_count{direction=\"D\"}")) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  FAIL("no latency was told in a minute");
}

}  // namespace sojourn::live
