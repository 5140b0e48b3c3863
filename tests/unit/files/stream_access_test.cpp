// Tokens: the places from which they are read, and the refused ones.
#include "userspace/files/stream_access.h"

#include <cstdlib>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>

#include "tests/support/child.h"

namespace sojourn::files {
namespace {

constexpr const char* kToken = "0123456789abcdef";

TEST_CASE("a token is the first line of a file that not everybody may read") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("token");
  const auto refused = [&](const std::string& text) {
    test::write_contents(path, text);
    chmod(path.c_str(), 0600);
    const auto token = read_token(path);
    return token ? "" : token.error().text();
  };
  for (const std::string text :
       {"0123456789abcdef", "0123456789abcdef\n", "0123456789abcdef\r\nmore\n"}) {
    CHECK(refused(text).empty());
    const auto token = read_token(path);
    REQUIRE(token);
    CHECK(*token == kToken);
  }
  CHECK(refused("short\n").contains("openssl rand -hex 16"));
  CHECK(refused("").contains("16 to 256"));
  CHECK(refused("two words are no token\n").contains("one line"));
  CHECK(refused(std::string(257, 'x')).contains("16 to 256"));
  CHECK(refused(std::string(kToken) + "\n").empty());
  chmod(path.c_str(), 0644);
  const auto open_to_all = read_token(path);
  REQUIRE_FALSE(open_to_all);
  CHECK(open_to_all.error().text() ==
        path + ": all users can read or write this token: chmod 600 " + path);
  CHECK_FALSE(read_token(directory.path("none")));
}

TEST_CASE("the environment names a token's file, or says the token") {
  const test::TemporaryDirectory directory;
  unsetenv("SOJOURN_TOKEN_FILE");
  unsetenv("SOJOURN_TOKEN");
  unsetenv("SOJOURN_TLS_CA");
  const auto nothing = access_of_environment();
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().text().contains("SOJOURN_TOKEN_FILE"));
  setenv("SOJOURN_TOKEN", "fedcba9876543210", 1);
  setenv("SOJOURN_TLS_CA", "/etc/gnb.pem", 1);
  const auto said = access_of_environment();
  REQUIRE(said);
  CHECK(said->token == "fedcba9876543210");
  CHECK(said->authorities == "/etc/gnb.pem");
  test::write_contents(directory.path("token"), kToken);
  chmod(directory.path("token").c_str(), 0600);
  setenv("SOJOURN_TOKEN_FILE", directory.path("token").c_str(), 1);
  const auto read = token_of_environment();
  REQUIRE(read);
  CHECK(*read == kToken);
  unsetenv("SOJOURN_TOKEN_FILE");
  unsetenv("SOJOURN_TOKEN");
  unsetenv("SOJOURN_TLS_CA");
}

}  // namespace
}  // namespace sojourn::files
