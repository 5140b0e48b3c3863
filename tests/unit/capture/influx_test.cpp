// Where figures are written to, and what becomes of them where the server takes them, refuses them,
// is slow, or is not there.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <poll.h>
#include <sys/socket.h>

#include "userspace/capture/metrics/influx_sender.h"
#include "userspace/files/stream_address.h"
#include "userspace/http/server.h"

namespace sojourn::capture {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A server that answers with one status, and keeps what was posted.
class Database {
 public:
  explicit Database(std::string status) : status_(std::move(status)) {
    signal(SIGPIPE, SIG_IGN);
    auto parsed = files::parse_stream_address("127.0.0.1:0");
    REQUIRE(parsed);
    address_ = *parsed;
    auto listener = files::listen_at(address_);
    REQUIRE(listener);
    server_.emplace(std::move(*listener), http::Limits{},
                    [this](const http::Request& request) { return answer(request); });
    thread_ = std::thread([this] {
      while (!stops_) server_->turn(milliseconds(5), {});
    });
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() {
    stops_ = true;
    thread_.join();
  }

  InfluxOptions options(const std::string& query = "/write?db=gnb") const {
    InfluxOptions options;
    auto url = parse_influx_url("http://127.0.0.1:" + std::to_string(address_.port) + query);
    REQUIRE(url);
    options.url = std::move(*url);
    options.period = seconds(1);
    return options;
  }
  void answer_from_now_on(std::string status) {
    const std::scoped_lock lock(mutex_);
    status_ = std::move(status);
  }
  std::vector<std::string> bodies() const {
    const std::scoped_lock lock(mutex_);
    return bodies_;
  }
  std::size_t requests() const { return requests_; }

 private:
  http::Response answer(const http::Request& request) {
    const std::scoped_lock lock(mutex_);
    ++requests_;
    http::Response response;
    response.status = status_;
    response.body = R"({"error":"so it is"})";
    if (status_.starts_with("204")) {
      response.body.clear();
      bodies_.push_back(request.body);
    }
    return response;
  }

  files::StreamAddress address_;
  mutable std::mutex mutex_;
  std::string status_;
  std::vector<std::string> bodies_;
  std::atomic<std::size_t> requests_ = 0;
  std::optional<http::Server> server_;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

std::vector<metrics::Family> figures(double value) {
  return {{.name = "sojourn_events",
           .help = {},
           .type = metrics::MetricType::kCounter,
           .unit = {},
           .samples = {{.labels = {}, .value = value}}}};
}

model::ClockPair at_second(std::uint64_t second) {
  return {.monotonic_ns = second * 1'000'000'000, .realtime_ns = 1'000 + second};
}

bool is_soon(const std::function<bool()>& condition) {
  for (int turn = 0; turn < 2'000; ++turn) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

std::unique_ptr<InfluxSender> started(InfluxOptions options) {
  auto sender = InfluxSender::start(std::move(options), FileOwner::self());
  REQUIRE(sender);
  return std::move(*sender);
}

TEST_CASE("an address of either version is understood, and one without a database is not") {
  const auto path_of = [](const std::string& text) {
    const auto url = parse_influx_url(text);
    return url ? url->path : url.error().text();
  };
  CHECK(path_of("http://a:8086/write?db=x") == "/write?db=x");
  CHECK(path_of("http://a:8086?db=x&rp=week") == "/write?db=x&rp=week");
  CHECK(path_of("http://a:8086/?org=o&bucket=b") == "/api/v2/write?org=o&bucket=b");
  CHECK(path_of("http://a/behind/proxy/write?db=x") == "/behind/proxy/write?db=x");
  CHECK(path_of("http://a:8086").contains("does not say where to"));
  CHECK(path_of("http://a:8086/write?db=").contains("does not say where to"));
  CHECK(path_of("http://a/write?db=x&precision=s").contains("nanoseconds"));
  CHECK(path_of("https://a/write?db=x").contains("only http:// is spoken"));
  CHECK(path_of("nonsense").contains("to a database such as http://HOST:8086/write?db=NAME"));
}

// An error is printed where others may see it.
TEST_CASE("a secret in the address is refused, and not repeated") {
  for (const char* const query : {"?db=x&u=me&p=hunter2", "?bucket=b&token=hunter2"}) {
    const auto url = parse_influx_url(std::string("http://a:8086/write") + query);
    REQUIRE_FALSE(url);
    CHECK(url.error().text().contains("--influx-token"));
    CHECK_FALSE(url.error().text().contains("hunter2"));
  }
}

TEST_CASE("the writer identifies itself as each version wants it") {
  const auto url = [](const char* const text) { return *parse_influx_url(text); };
  CHECK(influx_authorization(url("http://a/?org=o&bucket=b"), "s3cret") == "Token s3cret");
  CHECK(influx_authorization(url("http://a/?db=x"), "Aladdin:open sesame") ==
        "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  CHECK(influx_authorization(url("http://a/?db=x"), "a:b") == "Basic YTpi");
  CHECK(influx_authorization(url("http://a/?db=x"), "ab:c") == "Basic YWI6Yw==");
  CHECK(influx_authorization(url("http://a/?db=x"), "ab:cd") == "Basic YWI6Y2Q=");
}

TEST_CASE("figures are written once a period, the last ones in any case, and counted") {
  const Database database("204 No Content");
  InfluxOptions options = database.options();
  options.period = seconds(5);
  options.tags = {{"host", "gnb1"}};
  const auto sender = started(std::move(options));
  sender->publish(figures(0), std::nullopt, false);  // when it is, is not known
  for (const std::uint64_t second : {10, 11, 12, 13, 14, 15, 16})
    sender->publish(figures(static_cast<double>(second)), at_second(second), false);
  sender->publish(figures(17), at_second(17), true);
  const InfluxSender::Totals totals = sender->finish();
  CHECK(totals.written == 3);
  CHECK(totals.lost == 0);
  CHECK(database.bodies() == std::vector<std::string>{"sojourn_events,host=gnb1 value=10 1010\n",
                                                      "sojourn_events,host=gnb1 value=15 1015\n",
                                                      "sojourn_events,host=gnb1 value=17 1017\n"});
  CHECK(sender->take_messages().empty());
}

TEST_CASE("lines that a server does not take now are sent again, in order, and reported once") {
  Database database("503 Service Unavailable");
  const auto sender = started(database.options());
  sender->publish(figures(1), at_second(1), false);
  REQUIRE(is_soon([&] { return database.requests() >= 1; }));
  sender->publish(figures(2), at_second(2), false);
  REQUIRE(is_soon([&] { return database.requests() >= 2; }));
  CHECK(database.bodies().empty());
  database.answer_from_now_on("204 No Content");
  REQUIRE(is_soon([&] { return database.bodies().size() == 2; }));
  CHECK(database.bodies().front() == "sojourn_events value=1 1001\n");
  const InfluxSender::Totals totals = sender->finish();
  CHECK(totals.written == 2);
  CHECK(totals.lost == 0);
  const std::vector<std::string> messages = sender->take_messages();
  REQUIRE(messages.size() == 1);
  CHECK(messages.front().ends_with("/write?db=gnb now: 503 so it is"));
}

TEST_CASE("version 2 gets its path, its bucket and its token in a header") {
  auto address = files::parse_stream_address("127.0.0.1:0");
  REQUIRE(address);
  const auto listener = files::listen_at(*address);
  REQUIRE(listener);
  InfluxOptions options;
  options.url = *parse_influx_url("http://127.0.0.1:" + std::to_string(address->port) +
                                  "?org=radio&bucket=gnb");
  options.authorization = influx_authorization(options.url, "s3cret");
  const auto sender = started(std::move(options));
  sender->publish(figures(1), at_second(10), false);
  pollfd wanted{.fd = listener->get(), .events = POLLIN, .revents = 0};
  REQUIRE(poll(&wanted, 1, 10'000) == 1);
  const base::Fd peer(accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
  REQUIRE(peer);
  std::string heard;
  while (!heard.ends_with(" 1010\n")) {
    std::array<char, 4096> piece{};
    const ssize_t got = recv(peer.get(), piece.data(), piece.size(), 0);
    REQUIRE(got > 0);
    heard.append(piece.data(), static_cast<std::size_t>(got));
  }
  CHECK(heard.starts_with("POST /api/v2/write?org=radio&bucket=gnb HTTP/1.1\r\n"));
  CHECK(heard.contains("\r\nAuthorization: Token s3cret\r\n"));
  constexpr std::string_view kTaken = "HTTP/1.1 204 No Content\r\n\r\n";
  REQUIRE(send(peer.get(), kTaken.data(), kTaken.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(kTaken.size()));
  const InfluxSender::Totals totals = sender->finish();
  CHECK(totals.written == 1);
  CHECK(totals.lost == 0);
}

TEST_CASE("points that the server refuses for good are lost and counted, later ones are not") {
  Database database("400 Bad Request");
  const auto sender = started(database.options());
  sender->publish(figures(1), at_second(1), false);
  REQUIRE(is_soon([&] { return database.requests() == 1; }));
  database.answer_from_now_on("204 No Content");
  sender->publish(figures(2), at_second(2), false);
  const InfluxSender::Totals totals = sender->finish();
  CHECK(totals.written == 1);
  CHECK(totals.lost == 1);
  CHECK(totals.why_lost == "400 so it is");
}

TEST_CASE("a server that takes nothing costs a bounded memory, and the oldest points are lost") {
  // Takes connections, and answers none.
  auto address = files::parse_stream_address("127.0.0.1:0");
  REQUIRE(address);
  const auto listener = files::listen_at(*address);
  REQUIRE(listener);
  InfluxOptions options;
  options.url = *parse_influx_url("http://127.0.0.1:" + std::to_string(address->port) + "/?db=x");
  options.period = seconds(1);
  const auto sender = started(std::move(options));
  // More than four times what may wait.
  const std::vector<metrics::Family> many(20'000, figures(1).front());
  const std::size_t bytes = many.size() * std::string("sojourn_events value=1 1001\n").size();
  const std::uint64_t rounds = 4 * InfluxSender::kMaxWaitingBytes / bytes + 4;
  for (std::uint64_t second = 1; second <= rounds; ++second)
    sender->publish(many, at_second(second), false);
  std::vector<metrics::Family> told;
  sender->add_to(told);
  const double lost = std::get<double>(told.front().samples.back().value);
  const double all = static_cast<double>(rounds * many.size());
  CHECK(lost * static_cast<double>(bytes) / static_cast<double>(many.size()) >=
        3 * static_cast<double>(InfluxSender::kMaxWaitingBytes));
  CHECK(lost < all);
  const auto begin = std::chrono::steady_clock::now();
  const InfluxSender::Totals totals = sender->finish();
  CHECK(std::chrono::steady_clock::now() - begin < InfluxSender::kLastPatience + seconds(5));
  CHECK(totals.written == 0);
  CHECK(static_cast<double>(totals.lost) == all);
}

TEST_CASE("a server that is not there is an outage, a name that is unknown an error") {
  auto address = files::parse_stream_address("127.0.0.1:0");
  REQUIRE(address);
  REQUIRE(files::listen_at(*address));  // and is closed again
  InfluxOptions options;
  options.url = *parse_influx_url("http://127.0.0.1:" + std::to_string(address->port) + "/?db=x");
  const auto sender = started(options);
  sender->publish(figures(1), at_second(1), true);
  const InfluxSender::Totals totals = sender->finish();
  CHECK(totals.written == 0);
  CHECK(totals.lost == 1);
  CHECK(totals.why_lost.ends_with("Connection refused"));

  options.url.host = "no-such-host.invalid";
  CHECK_FALSE(InfluxSender::start(options, FileOwner::self()));
}

}  // namespace
}  // namespace sojourn::capture
