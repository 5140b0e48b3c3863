#include "userspace/files/stream_address.h"

#include <string>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::files {
namespace {

TEST_CASE("addresses of this machine are understood") {
  const auto text = [](std::string_view given) {
    const auto address = parse_stream_address(given);
    return address ? address->text() : "refused";
  };
  CHECK(text("127.0.0.1:9000") == "tcp://127.0.0.1:9000");
  CHECK(text("tcp://127.1.2.3:1") == "tcp://127.1.2.3:1");
  CHECK(text("localhost:65535") == "tcp://127.0.0.1:65535");
  CHECK(text("[::1]:9000") == "tcp://[::1]:9000");
  CHECK(text("unix:/run/gnb.sock") == "unix:/run/gnb.sock");
}

TEST_CASE("TLS reaches every host, for streams only") {
  for (const std::string text : {"tls://0.0.0.0:9000", "tls://gnb.example:9000", "tls://[::]:9000",
                                 "tls://127.0.0.1:0", "tls://[2001:db8::1]:9000"}) {
    CAPTURE(text);
    const auto address = parse_stream_address(text);
    REQUIRE(address);
    CHECK(address->is_tls);
    CHECK(address->text() == text);
    const auto local = parse_local_address(text);
    REQUIRE_FALSE(local);
    CHECK(local.error().text().contains("only streams of a trace know TLS"));
  }
  CHECK_FALSE(parse_stream_address("tls://:9000"));
  CHECK_FALSE(parse_stream_address("tls://gnb"));
  CHECK(is_stream("tls://gnb:9000"));
  const auto plain = parse_stream_address("192.168.1.2:9000");
  REQUIRE_FALSE(plain);
  CHECK(plain.error().text().contains("tls://192.168.1.2:9000 is encrypted"));
}

TEST_CASE("an address that others can reach is refused, and the way is named") {
  for (const std::string text : {"0.0.0.0:9000", "192.168.1.2:9000", "[::]:9000", "gnb:9000",
                                 "[::ffff:192.168.1.2]:9000", ":9000", "128.0.0.1:1"}) {
    CAPTURE(text);
    const auto address = parse_stream_address(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().text().contains("ssh -L"));
  }
}

TEST_CASE("a server without TLS is not offered any") {
  const auto refusal = [](const auto& address) {
    REQUIRE_FALSE(address);
    return address.error().text();
  };
  for (const std::string text : {"0.0.0.0:9464", "[::]:9464", "tcp://gnb:9464"}) {
    CAPTURE(text);
    const std::string said = refusal(parse_local_address(text));
    CHECK(said.contains("127.0.0.1:9464 can be listened at"));
    CHECK(said.contains("reverse proxy"));
    CHECK_FALSE(said.contains("tls://"));
  }
  CHECK(parse_local_address("unix:/run/gnb.sock"));
  CHECK(refusal(parse_local_address("nonsense")).contains("unix:PATH"));
  CHECK(parse_local_port("127.0.0.1:8080"));
  for (const std::string text : {"nonsense", "unix:/run/gnb.sock"}) {
    CAPTURE(text);
    CHECK(refusal(parse_local_port(text)) ==
          "\"" + text + "\" is not an address with a port, such as 127.0.0.1:8080");
  }
}

TEST_CASE("an invalid address is refused") {
  for (const std::string text : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
                                 "127.0.0.1:9x", "unix:", "tcp://"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_stream_address(text));
  }
  for (const std::string text : {"127.0.0.1:65536", "127.0.0.1:99999999999", "tls://gnb:99999"}) {
    CAPTURE(text);
    const auto address = parse_stream_address(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().text() == "\"" + text + "\": ports end at 65535");
  }
  CHECK(is_stream("-"));
  CHECK(is_stream("tcp://x"));
  CHECK_FALSE(is_stream("run.sjt"));
}

}  // namespace
}  // namespace sojourn::files
