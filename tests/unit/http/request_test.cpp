#include "userspace/http/request.h"

#include <string>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::http {
namespace {

TEST_CASE("a request is understood once its head is whole") {
  bool is_wrong = true;
  const std::string bytes =
      "GET /metrics?x=1 HTTP/1.1\r\nhOsT: 127.0.0.1:9100 \r\nAccept: text/plain\r\n\r\n";
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(parse_request(bytes.substr(0, size), is_wrong));
    CHECK_FALSE(is_wrong);
  }
  const auto request = parse_request(bytes, is_wrong);
  REQUIRE(request);
  CHECK(request->method == "GET");
  CHECK(request->path == "/metrics");
  CHECK(request->query == "x=1");
  CHECK(request->host == "127.0.0.1:9100");
  CHECK(request->accept == "text/plain");
}

TEST_CASE("an invalid request is refused, and so is one without end") {
  for (const std::string bytes :
       {"nonsense\r\n\r\n", "GET\r\n\r\n", "\r\n\r\n", "GET metrics HTTP/1.1\r\n\r\n",
        "GET / HTTP/2\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n"}) {
    CAPTURE(bytes);
    bool is_wrong = false;
    CHECK_FALSE(parse_request(bytes, is_wrong));
    CHECK(is_wrong);
  }
  bool is_wrong = false;
  CHECK_FALSE(parse_request(std::string(20'000, 'x'), is_wrong));
  CHECK(is_wrong);
}

TEST_CASE("a body comes with its length, and a long one is refused") {
  bool is_wrong = true;
  const std::string head = "POST /control HTTP/1.1\r\nContent-Length: 4\r\n\r\n";
  CHECK_FALSE(parse_request(head + "bod", is_wrong));
  CHECK_FALSE(is_wrong);
  const auto request = parse_request(head + "body and more", is_wrong);
  REQUIRE(request);
  CHECK(request->body == "body");
  for (const std::string header :
       {"Content-Length: 5000", "Content-Length: -1", "Content-Length: 1x",
        "Content-Length: 4\r\nContent-Length: 5", "Transfer-Encoding: chunked",
        "Host: localhost\r\nHost: evil.example"}) {
    CAPTURE(header);
    CHECK_FALSE(parse_request("POST / HTTP/1.1\r\n" + header + "\r\n\r\nbody", is_wrong));
    CHECK(is_wrong);
  }
}

TEST_CASE("a value is found by its whole name") {
  CHECK(value_of("a=1; token=x=y; b=2", "token", ';') == "x=y");
  CHECK(value_of("token=1", "token", '&') == "1");
  CHECK(value_of("token=", "token", '&') == "");
  CHECK_FALSE(value_of("mytoken=1; token2=3", "token", ';'));
  CHECK_FALSE(value_of("", "token", ';'));
}

TEST_CASE("a range is a part of the file") {
  ByteRange range;
  CHECK(parse_range("bytes=10-19", 100, range) == Ranged::kPart);
  CHECK(range.offset == 10);
  CHECK(range.bytes == 10);
  CHECK(parse_range("bytes=90-", 100, range) == Ranged::kPart);
  CHECK(range.bytes == 10);
  CHECK(parse_range("bytes=90-1000", 100, range) == Ranged::kPart);
  CHECK(range.bytes == 10);
  CHECK(parse_range("bytes=-7", 100, range) == Ranged::kPart);
  CHECK(range.offset == 93);
  CHECK(parse_range("bytes=0-18446744073709551615", 100, range) == Ranged::kPart);
  CHECK(range.bytes == 100);
  CHECK(parse_range("bytes=100-", 100, range) == Ranged::kNone);
  CHECK(parse_range("bytes=-0", 100, range) == Ranged::kNone);
  CHECK(parse_range("bytes=0-0", 0, range) == Ranged::kNone);
  for (const char* const header :
       {"", "bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "bytes=1-2,4-5", "lines=1-2",
        "bytes=1-2x", "bytes=99999999999999999999-"}) {
    CAPTURE(header);
    CHECK(parse_range(header, 100, range) == Ranged::kWhole);
    CHECK(range.bytes == 100);
  }
}

TEST_CASE("a name that only leads to this machine is not its own") {
  for (const std::string host : {"localhost", "LOCALHOST:9100", "127.0.0.1", "127.0.0.1:9100",
                                 "127.3.2.1:1", "[::1]:9100", "[::1]"}) {
    CAPTURE(host);
    CHECK(is_own_host(host));
  }
  for (const std::string host :
       {"", "evil.example", "evil.example:9100", "127.evil.example:1", "127.0.0.1.evil.example",
        "localhost.evil.example", "[::2]:1", "192.168.1.1", "[::1].evil.example:1"}) {
    CAPTURE(host);
    CHECK_FALSE(is_own_host(host));
  }
}

}  // namespace
}  // namespace sojourn::http
