#include "userspace/capture/metrics/http_request.h"

#include <string>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

TEST_CASE("a request is understood once its head is whole") {
  bool is_wrong = true;
  const std::string bytes =
      "GET /metrics?x=1 HTTP/1.1\r\nhOsT: 127.0.0.1:9100 \r\nAccept: text/plain\r\n\r\n";
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(parse_http_request(bytes.substr(0, size), is_wrong));
    CHECK_FALSE(is_wrong);
  }
  const auto request = parse_http_request(bytes, is_wrong);
  REQUIRE(request);
  CHECK(request->method == "GET");
  CHECK(request->path == "/metrics");
  CHECK(request->host == "127.0.0.1:9100");
  CHECK(request->accept == "text/plain");
}

TEST_CASE("what is no request is refused, and so is one without end") {
  for (const std::string bytes :
       {"nonsense\r\n\r\n", "GET\r\n\r\n", "\r\n\r\n", "GET metrics HTTP/1.1\r\n\r\n",
        "GET / HTTP/2\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n"}) {
    CAPTURE(bytes);
    bool is_wrong = false;
    CHECK_FALSE(parse_http_request(bytes, is_wrong));
    CHECK(is_wrong);
  }
  bool is_wrong = false;
  CHECK_FALSE(parse_http_request(std::string(20'000, 'x'), is_wrong));
  CHECK(is_wrong);
}

TEST_CASE("a name that only leads to this machine is not its own") {
  for (const std::string host : {"localhost", "LOCALHOST:9100", "127.0.0.1", "127.0.0.1:9100",
                                 "127.3.2.1:1", "[::1]:9100", "[::1]"}) {
    CAPTURE(host);
    CHECK(is_own_host(host));
  }
  for (const std::string host :
       {"", "evil.example", "evil.example:9100", "127.evil.example:1", "127.0.0.1.evil.example",
        "localhost.evil.example", "[::2]:1", "192.168.1.1"}) {
    CAPTURE(host);
    CHECK_FALSE(is_own_host(host));
  }
}

}  // namespace
}  // namespace sojourn::capture
