// `sojourn serve` of traces: its answers, its checks of clients, and hostile, slow, or many
// clients. Captures of its own: tests/live/serve_test.cpp; the page: tests/page.
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/trace/format.h"
#include "analysis/trace/writer.h"
#include "tests/cli/programs.h"
#include "tests/support/served.h"
#include "userspace/files/trace_file.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using test::HttpAnswer;
using test::HttpPeer;
using test::Served;

TEST_CASE("the page needs the link's token, and then its cookie") {
  const Traces traces;
  Served served(SJ_SOJOURN, {traces.path("radio")});
  const std::string host = fmt::format("Host: localhost:{}\r\n", served.port());
  CHECK(served.ask("GET /", host).status() == 403);
  CHECK(served.ask("GET /state", host).status() == 403);
  CHECK(served.ask("GET /?token=", host).status() == 403);
  CHECK(served.ask("GET /?token=" + std::string(32, '0'), host).status() == 403);
  CHECK(served.ask("GET /?token=" + served.token() + "0", host).status() == 403);
  CHECK(served.ask("GET /?token=" + served.token().substr(1), host).status() == 403);
  CHECK(served.ask("GET /state?token=" + served.token(), host).status() == 403);

  const HttpAnswer page = served.come_in();
  CHECK(page.status() == 200);
  CHECK(page.body.starts_with("<!doctype html>"));
  CHECK(page.body.ends_with("</html>\n"));
  CHECK(page.head.contains("; HttpOnly; SameSite=Strict; Path=/\r\n"));
  REQUIRE(served.cookie().starts_with("sojourn-"));
  CHECK(served.get("/").body == page.body);
  CHECK_FALSE(served.get("/").head.contains("Set-Cookie"));
  CHECK(served.ask("GET /state", host + "Cookie: sojourn=" + served.token() + "\r\n").status() ==
        403);
  CHECK(served.ask("GET /state", host + "Cookie: " + served.cookie() + "0\r\n").status() == 403);

  // The page may send requests to this server only, and must not be framed.
  CHECK(page.head.contains("Content-Security-Policy: default-src 'none'; connect-src 'self'; "));
  CHECK(page.head.contains("; frame-ancestors 'none'\r\n"));
  CHECK(page.body.contains("content=\"default-src 'none'; connect-src 'self'; "));
  CHECK(page.head.contains("\r\nReferrer-Policy: no-referrer\r\n"));
  CHECK(page.head.contains("\r\nCache-Control: no-store\r\n"));
}

TEST_CASE("a name that only leads to this machine is refused, and so is another site's page") {
  const Traces traces;
  Served served(SJ_SOJOURN, {traces.path("radio")});
  served.come_in();
  const std::string cookie = "Cookie: " + served.cookie() + "\r\n";
  for (const std::string host :
       {"evil.example", "127.0.0.1.evil.example", "[::2]", "10.0.0.1", ""}) {
    CAPTURE(host);
    CHECK(served.ask("GET /state", "Host: " + host + "\r\n" + cookie).status() == 403);
    CHECK(served.ask("GET /?token=" + served.token(), "Host: " + host + "\r\n").status() == 403);
  }
  CHECK(served.ask("GET /state", cookie).status() == 403);

  const std::string own = served.own_headers();
  const std::string stop = R"({"action": "stop"})";
  for (const std::string& origin : std::vector<std::string>{
           "http://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1",
           fmt::format("https://127.0.0.1:{}", served.port())}) {
    CAPTURE(origin);
    CHECK(served.ask("GET /state", own + "Origin: " + origin + "\r\n").status() == 403);
    CHECK(served.ask("POST /control/0", own + "Origin: " + origin + "\r\n", stop).status() == 403);
  }
  CHECK(served.ask("POST /control/0", own, stop).status() == 403);
  CHECK(served.post("/control/0", stop).status() == 409);  // the trace is complete
  CHECK(served.ask("DELETE /state", own).status() == 405);
  CHECK(served.ask("GET /control/0", own).status() == 405);
}

TEST_CASE("the bytes of a trace are given whole and in ranges, and nothing else is") {
  const Traces traces;
  Served served(SJ_SOJOURN, {traces.path("radio"), traces.path("lossy")});
  served.come_in();
  const std::string radio = test::contents(traces.path("radio"));
  const json state = served.state();
  REQUIRE(state["traces"].size() == 2);
  CHECK(state["readonly"] == false);
  CHECK(state["traces"][0]["name"] == "radio.sjt");
  CHECK(state["traces"][0]["size"] == radio.size());
  CHECK(state["traces"][0]["growing"] == false);
  CHECK(served.get("/trace/0").body == radio);
  CHECK(served.get("/trace/1").body == test::contents(traces.path("lossy")));
  const HttpAnswer part = served.get("/trace/0", "Range: bytes=100-299\r\n");
  CHECK(part.status() == 206);
  CHECK(part.body == radio.substr(100, 200));
  CHECK(part.head.contains(fmt::format("\r\nContent-Range: bytes 100-299/{}\r\n", radio.size())));
  CHECK(served.get("/trace/0", "Range: bytes=-50\r\n").body == radio.substr(radio.size() - 50));
  const HttpAnswer behind =
      served.get("/trace/0", fmt::format("Range: bytes={}-\r\n", radio.size()));
  CHECK(behind.status() == 416);
  CHECK(behind.head.contains(fmt::format("\r\nContent-Range: bytes */{}\r\n", radio.size())));
  CHECK(served.get("/trace/0?save").head.contains("Content-Disposition: attachment"));

  for (const std::string path :
       {"/trace/2", "/trace/-1", "/trace/", "/trace/0/", "/trace/99999999999999999999",
        "/trace/../../../../../../etc/passwd", "/../../../../etc/passwd", "/%2e%2e/etc/passwd",
        "//etc/passwd", "/trace/0%00", "/etc/passwd", "/live/7", "/favicon.ico"}) {
    CAPTURE(path);
    const HttpAnswer answer = served.get(path);
    CHECK(answer.status() == 404);
    CHECK_FALSE(answer.body.contains("root:"));
  }
}

TEST_CASE("garbage, huge heads and bodies are refused, and serving goes on") {
  const Traces traces;
  Served served(SJ_SOJOURN, {traces.path("radio")});
  served.come_in();
  for (const std::string& bytes :
       {std::string("nonsense\r\n\r\n"), std::string("\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 11),
        std::string("\r\n\r\n"), std::string("GET state HTTP/1.1\r\n\r\n"),
        std::string("GET / HTTP/9\r\n\r\n"),
        "POST /control/0 HTTP/1.1\r\nContent-Length: 99999999\r\n" + served.own_headers() + "\r\n",
        "POST /control/0 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + served.own_headers() +
            "\r\n"}) {
    CAPTURE(bytes);
    HttpPeer peer(served.port());
    peer.send(bytes);
    CHECK(peer.answer().status() == 400);
  }
  HttpPeer huge(served.port());
  huge.send("GET / HTTP/1.1\r\nX: " + std::string(17'000, 'x'));
  CHECK(huge.hears("HTTP/1.1 431 "));
  // A client that never stops sending is cut off.
  HttpPeer endless(served.port());
  endless.send("GET / HTTP/1.1\r\n");
  bool is_taken = true;
  for (int pieces = 0; pieces < 10'000 && is_taken; ++pieces)
    is_taken = endless.send("X: " + std::string(10'000, 'x') + "\r\n");
  CHECK_FALSE(is_taken);
  for (const std::string body : {"", "{", "[]", "{}", "{\"action\": 5}", "\"stop\""}) {
    CAPTURE(body);
    CHECK(served.post("/control/0", body).status() == 400);
  }
  CHECK(served.get("/state").status() == 200);
  CHECK(served.child().running());
}

TEST_CASE("a hundred clients, dead ones and slow ones keep no other client out") {
  const Traces traces;
  Served served(SJ_SOJOURN, {traces.path("radio"), "--clients", "20"});
  served.come_in();
  std::vector<std::unique_ptr<HttpPeer>> silent;
  for (int number = 0; number < 100; ++number)
    silent.push_back(std::make_unique<HttpPeer>(served.port()));
  for (std::size_t number = 0; number < silent.size(); number += 2)
    silent[number]->send("GET /state HTTP/1.1\r\nHo");
  CHECK(served.get("/state").status() == 200);
  // These clients never read their answers.
  std::vector<std::unique_ptr<HttpPeer>> slow;
  for (int number = 0; number < 10; ++number) {
    slow.push_back(std::make_unique<HttpPeer>(served.port()));
    slow.back()->send("GET / HTTP/1.1\r\n" + served.own_headers() + "\r\n");
  }
  CHECK(served.get("/state").status() == 200);
  CHECK(served.get("/").body.ends_with("</html>\n"));
  CHECK(served.child().running());
}

TEST_CASE("a listener gets the figures of a growing trace, to its end") {
  const Traces traces;
  const std::string bytes = test::contents(traces.path("radio"));
  const std::string growing = traces.directory().path("growing.sjt");
  test::write_contents(growing, bytes.substr(0, 10));
  Served served(SJ_SOJOURN, {growing});
  served.come_in();
  CHECK(served.state()["traces"][0]["growing"] == true);
  const auto peer = served.listen();
  REQUIRE(peer->hears("event: figures\n"));
  CHECK(test::newest_figures(peer->heard())["waiting"] == true);
  std::ofstream file(growing, std::ios::binary | std::ios::app);
  for (std::size_t at = 10; at < bytes.size(); at += bytes.size() / 4) {
    file << bytes.substr(at, bytes.size() / 4) << std::flush;
    std::this_thread::sleep_for(milliseconds(100));
    // Whole blocks are given: a trace that can be read.
    const HttpAnswer so_far = served.get("/trace/0");
    CHECK(bytes.starts_with(so_far.body));
    if (so_far.body.size() < 100) continue;
    const std::string copy = traces.directory().path("copy.sjt");
    test::write_contents(copy, so_far.body);
    CHECK(sojourn({"events", copy}).exit_code == 0);
  }
  REQUIRE(peer->hears("\"growing\":false"));
  REQUIRE(peer->hears("\n\n"));
  const json figures = test::newest_figures(peer->heard());
  const json report = json::parse(output_of({"report", traces.path("radio"), "--json"}));
  CHECK(figures["ended"] == true);
  CHECK(figures["events"] == report["events"]);
  CHECK(figures["size"] == bytes.size());
  CHECK(figures["journeys"]["D"]["complete"] == report["journeys"]["D"]["complete"]);
  CHECK(served.get("/trace/0").body == bytes);
  CHECK(peer->hears("event: alive\n"));
}

// A trace of ten seconds. In each second a packet passes more places than a page gets at once.
std::string trace_of_many_places(const test::TemporaryDirectory& directory) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  constexpr std::uint64_t kOpenNs = 5 * kSecondNs;
  constexpr std::size_t kPoints = 600;
  model::Schema schema;
  for (std::size_t point = 0; point < kPoints; ++point)
    schema.points.push_back(*model::parse_point(
        fmt::format("D a.place.with.a.long.name.{}--a.place.with.a.long.name.{}", point, point + 1),
        "len:rnti:sn"));
  const std::string path = directory.path("places.sjt");
  auto writer = files::create_trace(path);
  REQUIRE(writer);
  REQUIRE(writer->write(schema));
  REQUIRE(writer->write(model::ClockPair{.monotonic_ns = kOpenNs - 1}));
  model::Capture about;
  about.open_ns = kOpenNs;
  REQUIRE(writer->write(about));
  std::uint64_t seq = 0;
  for (std::uint64_t second = 0; second < 10; ++second) {
    model::EventBatch events;
    for (std::size_t point = 0; point < kPoints; ++point) {
      const std::uint64_t values[] = {100, 1, second};
      const std::uint64_t at_ns = kOpenNs + second * kSecondNs + point * 1'000;
      events.append({at_ns, seq++, 0, 1, static_cast<model::PointId>(point), values});
    }
    REQUIRE(writer->write(events));
    // The clock pair says that the events of the second before are complete. The newest may still
    // wait.
    REQUIRE(writer->write(
        model::ClockPair{.monotonic_ns = kOpenNs + second * kSecondNs - kSecondNs / 2}));
  }
  REQUIRE(writer->finish());
  return test::contents(path);
}

TEST_CASE("a page gets figures at most twice a second, and no more than it can take at once") {
  const Traces traces;
  const std::string bytes = trace_of_many_places(traces.directory());
  const std::string growing = traces.directory().path("growing.sjt");
  test::write_contents(growing, bytes.substr(0, 10));
  Served served(SJ_SOJOURN, {growing});
  served.come_in();
  const auto peer = served.listen();
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(peer->hears("event: figures\n"));
  std::ofstream file(growing, std::ios::binary | std::ios::app);
  const std::size_t piece = bytes.size() / 60;
  for (std::size_t at = 10; at < bytes.size(); at += piece) {
    file << bytes.substr(at, piece) << std::flush;
    std::this_thread::sleep_for(milliseconds(50));
  }
  json figures;
  while (figures["ended"] != true) {
    REQUIRE(peer->hears("event: figures\n"));
    REQUIRE(peer->hears("\n\n"));
    figures = test::newest_figures(peer->heard());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::size_t told = 0;
  const std::string& heard = peer->heard();
  constexpr std::string_view kFigures = "event: figures\n";
  for (auto at = heard.find(kFigures); at != std::string::npos; at = heard.find(kFigures, at + 1)) {
    ++told;
    CHECK(heard.find("\n\n", at) + 2 - at <= 50'001);
  }
  CHECK(told >= 4);
  // A new client gets the first event at once; it is one of the two extra ones.
  CHECK(static_cast<double>(told) <= 2 * seconds.count() + 2);
  CHECK(figures["cut"] == true);
  CHECK(figures["journeys"]["D"]["complete"] == 10);
  CHECK(figures["hops"].size() > 10);
  CHECK(figures["hops"].size() < 599);
}

// Serves files that nobody writes.
class Left {
 public:
  std::string file(const std::string& name, const std::string& bytes) const {
    test::write_contents(directory_.path(name), bytes);
    return directory_.path(name);
  }

 private:
  test::TemporaryDirectory directory_;
};

TEST_CASE("a file that nobody writes, and in which there is nothing, ends with an error") {
  const Traces traces;
  const Left left;
  const std::string bytes = test::contents(traces.path("radio"));
  const std::string empty = left.file("empty.sjt", "");
  const std::string text = left.file("text.sjt", "hello\n");
  const std::string header = left.file("header.sjt", bytes.substr(0, sizeof(trace::FileHeader)));
  test::Child of_empty({SJ_SOJOURN, "serve", empty});
  test::Child of_text({SJ_SOJOURN, "serve", text});
  test::Child of_header({SJ_SOJOURN, "serve", header});
  const auto check_ends = [](test::Child& child, const std::string& words) {
    const test::Ended ended = child.wait();
    CAPTURE(ended.err);
    CHECK(ended.exit_code == 1);
    CHECK(ended.err.ends_with("\nsojourn: " + words + "\n"));
  };
  check_ends(of_empty, empty + ": no sojourn trace: only 0 bytes long");
  check_ends(of_text, text + ": no sojourn trace: only 6 bytes long");
  check_ends(of_header, header + ": has no event and no end, and nothing more comes");
}

TEST_CASE("what a killed capture has left is served, and does not grow") {
  const Traces traces;
  const Left left;
  const std::string bytes = test::contents(traces.path("radio"));
  const std::string killed = left.file("killed.sjt", bytes.substr(0, bytes.size() * 6 / 10));
  const std::string text = left.file("text.sjt", "hello\n");
  Served served(SJ_SOJOURN, {killed, text});
  served.come_in();
  REQUIRE(served.child().wait_for_output("text.sjt: no sojourn trace: only 6 bytes long"));
  REQUIRE(served.child().wait_for_output("killed.sjt: has no end, and nothing more comes"));
  const json state = served.state();
  CHECK(state["traces"][0]["growing"] == false);
  CHECK(state["traces"][0]["size"] == bytes.size() * 6 / 10);
  CHECK(state["traces"][1]["growing"] == false);
  const auto peer = served.listen(1);
  REQUIRE(peer->hears("event: figures\n"));
  REQUIRE(peer->hears("\n\n"));
  const json figures = test::newest_figures(peer->heard());
  CHECK(figures["waiting"] == false);
  CHECK(figures["problem"].get<std::string>().contains("no sojourn trace"));
  CHECK(served.child().running());
}

TEST_CASE("a filter that does not fit a file that grows ends with an error") {
  const Traces traces;
  const Left left;
  const std::string bytes = test::contents(traces.path("radio"));
  const std::string killed = left.file("killed.sjt", bytes.substr(0, bytes.size() * 6 / 10));
  const test::Ended ended = sojourn({"serve", killed, "--filter", "nosuchfield == 1"});
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("\nsojourn: "));
  CHECK(ended.err.contains("nosuchfield"));
}

TEST_CASE("with --readonly no request changes anything") {
  const Traces traces;
  Served served(SJ_SOJOURN, {traces.path("radio"), "--readonly"});
  served.come_in();
  CHECK(served.state()["readonly"] == true);
  const HttpAnswer answer = served.post("/control/0", R"({"action": "stop"})");
  CHECK(answer.status() == 403);
  CHECK(json::parse(answer.body)["error"] == "not with --readonly");
}

TEST_CASE("a trace or a process is wanted, and an address of this machine") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  CHECK(sojourn({"serve"}).exit_code == 2);
  CHECK(sojourn({"serve", trace, "-p", "1"}).exit_code == 2);
  for (const std::string listen : {"0.0.0.0:8080", "192.168.1.1:8080", "[::]:8080"}) {
    const test::Ended ended = sojourn({"serve", trace, "--listen", listen});
    CAPTURE(listen, ended.err);
    CHECK(ended.exit_code == 2);
    CHECK(ended.err.contains("ssh -L 8080:127.0.0.1:8080"));
  }
  CHECK(sojourn({"serve", trace, "--listen", "unix:/tmp/x"}).exit_code == 2);
  CHECK(sojourn({"serve", trace, "--listen", "8080"}).exit_code == 2);
  // Only the commands that record have metrics.
  CHECK(sojourn({"serve", trace, "--metrics", "127.0.0.1:0"}).exit_code == 2);
  CHECK(sojourn({"serve", trace, "--influx", "http://127.0.0.1:8086?db=x"}).exit_code == 2);
  require_error(sojourn({"serve", traces.directory().path("none.sjt")}), "none.sjt");
  require_error(sojourn({"serve", "/etc/passwd"}), "/etc/passwd");
  require_error(sojourn({"serve", "tcp://127.0.0.1:9"}), "stream");
  Served served(SJ_SOJOURN, {trace});
  require_error(sojourn({"serve", trace, "--listen", fmt::format("127.0.0.1:{}", served.port())}),
                "Address already in use");
  served.child().signal(SIGTERM);
  const test::Ended ended = served.child().wait();
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains(fmt::format("ssh -L {0}:127.0.0.1:{0} ", served.port())));
}

}  // namespace
}  // namespace sojourn::cli_tests
