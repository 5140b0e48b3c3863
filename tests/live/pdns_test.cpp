// A program of C++ as its distribution ships it, stripped and unmodified: the name server
// pdns_server, which throws at each malformed question, in namespaces of its own that go away with
// the test. It is met as an unknown program is: by `doctor`, `list --suggest`, `record --auto` and
// `record --map`.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/live/programs.h"
#include "userspace/base/fd.h"

namespace sojourn::live {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr const char* kServer = "/usr/sbin/pdns_server";
constexpr std::uint16_t kPort = 5300;
constexpr const char* kZones = R"(options { directory "."; };
zone "test.example" { type master; file "test.zone"; };
)";
constexpr const char* kZone = R"($ORIGIN test.example.
$TTL 60
@ IN SOA ns hostmaster 1 3600 600 86400 60
@ IN NS ns
ns IN A 127.0.0.1
www IN A 192.0.2.1
)";
// A signal that ends the outermost process ends all of them. It ends with the test at the latest.
constexpr const char* kStart = R"(
cd "$1" && ip link set lo up || exit 1
exec pdns_server --daemon=no --guardian=no --config-dir="$1" --socket-dir="$1" --write-pid=no \
  --disable-syslog --local-address=127.0.0.1 --local-port=5300 --launch=bind \
  --bind-config="$1/zones" --cache-ttl=0 --query-cache-ttl=0)";

// The address of www.test.example; malformed with a record that is announced and not there.
std::string question(bool is_malformed) {
  using namespace std::string_literals;
  const std::string header = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00"s;
  const std::string rest = "\3www\4test\7example\0\0\1\0\1"s;
  return header + (is_malformed ? "\1"s : "\0"s) + rest + (is_malformed ? "\xc0"s : ""s);
}

// Asks from inside of the server's network namespace, a malformed question before each good one.
class Asker {
 public:
  explicit Asker(pid_t server)
      : thread_([this, server](const std::stop_token& end) { ask(server, end); }) {}

  unsigned answers() const { return answers_; }

 private:
  void ask(pid_t server, const std::stop_token& end) {
    // The network name space is changed for this thread only.
    const base::Fd space(open(("/proc/" + std::to_string(server) + "/ns/net").c_str(), O_RDONLY));
    if (setns(space.get(), CLONE_NEWNET) != 0) return;
    const base::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(kPort);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 2, .tv_usec = 0};
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) return;
    const std::string good = question(false);
    const std::string malformed = question(true);
    std::array<char, 512> answer{};
    while (!end.stop_requested()) {
      (void)send(socket.get(), malformed.data(), malformed.size(), 0);
      (void)send(socket.get(), good.data(), good.size(), 0);
      ssize_t bytes = 0;
      do {
        bytes = recv(socket.get(), answer.data(), answer.size(), 0);
      } while (bytes > 0 && bytes <= static_cast<ssize_t>(good.size()));  // what refuses the other
      if (bytes > 0 && std::string_view(answer.data(), static_cast<std::size_t>(bytes))
                           .ends_with(std::string_view("\xc0\x00\x02\x01", 4)))
        ++answers_;
      std::this_thread::sleep_for(2ms);
    }
  }

  std::atomic<unsigned> answers_ = 0;
  std::jthread thread_;
};

class NameServer {
 public:
  NameServer() : child_(start(directory_)) {
    const bool is_up = child_.wait_for_output("ready to distribute questions");
    if (!is_up && child_.running()) child_.signal(SIGKILL);
    INFO((is_up ? std::string() : child_.wait().err));
    REQUIRE(is_up);
    std::istringstream children(test::contents("/proc/" + std::to_string(child_.pid()) + "/task/" +
                                               std::to_string(child_.pid()) + "/children"));
    REQUIRE(children >> pid_);
    REQUIRE(test::contents("/proc/" + std::to_string(pid_) + "/comm") == "pdns_server\n");
  }

  pid_t pid() const { return pid_; }
  bool running() { return child_.running(); }
  // Each was an exception.
  unsigned malformed() const {
    const test::Ended said =
        test::run({"pdns_control", "--config-dir=" + directory_.path(),
                   "--socket-dir=" + directory_.path(), "show", "corrupt-packets"});
    INFO(said.out << said.err);
    REQUIRE(said.exit_code == 0);
    return static_cast<unsigned>(std::stoul(said.out));
  }

 private:
  static std::vector<std::string> start(const test::TemporaryDirectory& directory) {
    test::write_contents(directory.path("zones"), kZones);
    test::write_contents(directory.path("test.zone"), kZone);
    test::write_contents(directory.path("pdns.conf"), "");
    return {"setpriv",      "--pdeathsig", "KILL", "unshare", "--net", "--pid",         "--fork",
            "--kill-child", "sh",          "-c",   kStart,    "sh",    directory.path()};
  }

  test::TemporaryDirectory directory_;
  test::Child child_;
  pid_t pid_ = 0;
};

// The number of wakeups of threads of that name by this cause.
std::uint64_t wakes(const json& threads, std::string_view name, const char* by) {
  std::uint64_t count = 0;
  for (const json& thread : threads)
    if (thread.at("name") == name) count += thread.at("wakes").at(by).get<std::uint64_t>();
  return count;
}

TEST_CASE("an unknown program of C++ is met, mapped and traced, and its exceptions are its own") {
  need_root();
  if (!std::filesystem::exists(kServer))
    SKIP("pdns-server is not installed: .ci/packages test installs it");
  NameServer server;
  const Asker asker(server.pid());
  const std::string pid = std::to_string(server.pid());
  const test::TemporaryDirectory directory;

  const test::Ended met = sojourn({"doctor", "-p", pid});
  CAPTURE(met.out);
  CHECK(met.exit_code == 0);
  CHECK(met.out.contains("recording will work by eBPF"));
  CHECK(met.out.contains("list -p PID --suggest"));

  const std::string trace = directory.path("run.sjt");
  sojourn_done({"record", "-p", pid, "--auto", "--for", "1s", "-o", trace});
  const json threads = json::parse(sojourn_done({"threads", "--json", trace})).at("threads");
  // Packets drive the receiver, which wakes the distributors. The packets that they send are known
  // if system calls can be recorded, which is too expensive on a busy machine.
  CHECK(wakes(threads, "pdns/receiver", "network") > 20);
  CHECK(wakes(threads, "pdns/distributo", "thread") > 20);

  const test::Ended proposed = sojourn({"list", "-p", pid, "--suggest", "--for", "1s"});
  CAPTURE(proposed.err, proposed.out);
  REQUIRE(proposed.exit_code == 0);
  // It is proposed as a point, and not listed among the functions that were not called.
  CHECK(proposed.out.contains("\n[[point]]\nfunction = \"PacketHandler::doQuestion(DNSPacket&)\""));
  const std::string map = directory.path("my.toml");
  test::write_contents(map, proposed.out);

  const unsigned answers_before = asker.answers();
  const unsigned malformed_before = server.malformed();
  const test::Ended recorded = sojourn(
      {"record", "-p", pid, "--map", map, "--budget", "none", "--for", "1500ms", "-o", trace});
  CAPTURE(recorded.err);
  REQUIRE(recorded.exit_code == 0);
  CHECK_FALSE(recorded.err.contains("not traced"));
  CHECK(server.malformed() > malformed_before + 20);
  const unsigned answers = asker.answers() - answers_before;
  CHECK(answers > 20);

  const json report = json::parse(sojourn_done({"report", "--json", trace}));
  CHECK(report.at("lost") == 0);
  CHECK(report.at("events").get<std::uint64_t>() > 20);
  // A scalar, or a place on the questions' way: so few are under way at once that their addresses
  // may be too few for a guess.
  const std::string questions =
      sojourn_done({"events", trace, "--points", "*PacketHandler::doQuestion"});
  const auto asked = std::ranges::count(questions, '\n');
  CAPTURE(asked, answers);
  CHECK(asked > 20);
  CHECK(asked <= static_cast<std::ptrdiff_t>(answers + 2));
  CHECK(server.running());
}

}  // namespace
}  // namespace sojourn::live
