// The client beside a server of the same folder, which a thread turns.
#include "userspace/http/client.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <sys/eventfd.h>
#include <unistd.h>

#include "userspace/files/stream_address.h"
#include "userspace/http/server.h"

namespace sojourn::http {
namespace {

using std::chrono::milliseconds;

class Turned {
 public:
  explicit Turned(Server::Answer answer) {
    signal(SIGPIPE, SIG_IGN);
    auto parsed = files::parse_stream_address("127.0.0.1:0");
    REQUIRE(parsed);
    auto listener = files::listen_at(*parsed);
    REQUIRE(listener);
    port_ = parsed->port;
    server_.emplace(std::move(*listener), Limits{}, std::move(answer));
    thread_ = std::thread([this] {
      while (!stops_) server_->turn(milliseconds(10), {});
    });
  }
  ~Turned() {
    stops_ = true;
    thread_.join();
  }
  Url url(const std::string& path) const {
    return {.host = "127.0.0.1", .port = port_, .path = path};
  }

 private:
  std::uint16_t port_ = 0;
  std::optional<Server> server_;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

TEST_CASE("addresses are parsed, and unusable ones are refused in words") {
  const auto url = parse_url("http://[::1]:8086/write?db=x");
  REQUIRE(url);
  CHECK(url->host == "::1");
  CHECK(url->port == 8086);
  CHECK(url->path == "/write?db=x");
  CHECK(url->text() == "http://[::1]:8086/write?db=x");
  const auto short_one = parse_url("http://db.example?db=x");
  REQUIRE(short_one);
  CHECK(short_one->host == "db.example");
  CHECK(short_one->port == 80);
  CHECK(short_one->path == "/?db=x");
  CHECK_FALSE(parse_url("https://127.0.0.1/"));
  CHECK_FALSE(parse_url("http://name:word@127.0.0.1/"));
  CHECK_FALSE(parse_url("http://127.0.0.1:0/"));
  CHECK_FALSE(parse_url("http:///write"));
}

TEST_CASE("a body is posted, and the answer comes back") {
  const Turned turned([](const Request& request) {
    Response response;
    response.status = "202 Accepted";
    response.body = request.method + " " + request.path + "?" + request.query + " " + request.body;
    return response;
  });
  Client client(turned.url("/write?db=x"), milliseconds(10'000));
  for (const std::string body : {"one", "two"}) {
    const auto answer = client.post("text/plain", body);
    REQUIRE(answer);
    CHECK(answer->status == 202);
    CHECK(answer->reason == "Accepted");
    CHECK(answer->body == "POST /write?db=x " + body);
  }
}

TEST_CASE("a server that does not listen is an error of its own kind, at once") {
  auto parsed = files::parse_stream_address("127.0.0.1:0");
  REQUIRE(parsed);
  REQUIRE(files::listen_at(*parsed));  // and is closed again
  Client client({.host = "127.0.0.1", .port = parsed->port, .path = "/"}, milliseconds(10'000));
  const auto answer = client.post("text/plain", "x");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().text().ends_with(": Connection refused"));
}

// The listener accepts connections and never answers.
TEST_CASE("a server that does not answer is waited for until the timeout, or until a stop") {
  auto parsed = files::parse_stream_address("127.0.0.1:0");
  REQUIRE(parsed);
  const auto listener = files::listen_at(*parsed);
  REQUIRE(listener);
  const Url url = {.host = "127.0.0.1", .port = parsed->port, .path = "/"};
  Client client(url, milliseconds(1'000));
  const auto begin = std::chrono::steady_clock::now();
  const auto late = client.post("text/plain", "x");
  REQUIRE_FALSE(late);
  CHECK(late.error().text().ends_with(": no answer within 1 s"));
  CHECK(std::chrono::steady_clock::now() - begin >= milliseconds(990));

  const base::Fd stop(eventfd(1, EFD_CLOEXEC));
  Client stopped(url, std::chrono::minutes(1));
  stopped.stop_by(stop.get());
  const auto ended = stopped.post("text/plain", "x");
  REQUIRE_FALSE(ended);
  CHECK(ended.error().text().ends_with(": no answer until the end"));
}

}  // namespace
}  // namespace sojourn::http
