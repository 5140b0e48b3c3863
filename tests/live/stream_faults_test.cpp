// Faults of readers of a running capture: cuts, slow readers, full disks, networks that go away.
// Each fault costs only events that are counted.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analysis/trace/completeness.h"
#include "tests/live/streamed.h"
#include "tests/support/certificate.h"
#include "userspace/files/stream_address.h"

namespace sojourn::live {
namespace {

using std::chrono::milliseconds;

std::uint64_t lost_by(const trace::Reader& trace, model::LossCause cause) {
  std::uint64_t sum = 0;
  for (const model::LedgerEntry& entry : trace.ledger())
    if (entry.cause == cause) sum += entry.count;
  return sum;
}

// Every hit since the trace's open mark is in it, or in its ledger.
void check_accounted(const trace::Reader& trace) {
  const auto found = trace::completeness_of(trace);
  CHECK(found.unaccounted == 0);
  CHECK(found.damaged_places == 0);
  CHECK(found.ended_in_order);
  CHECK(found.missing == found.lost);
  CHECK(found.events > 0);
}

// Forwards a connection, as `ssh -L` does, until it is cut.
class Relay {
 public:
  Relay(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) { open(); }
  ~Relay() { cut(); }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  void open() {
    files::StreamAddress address{.host = {}, .path = from_};
    auto fd = files::listen_at(address);
    REQUIRE(fd);
    is_cut_ = false;
    thread_ = std::thread([this, listener = std::move(*fd)] { run(listener.get()); });
  }
  void cut() {
    is_cut_ = true;
    if (thread_.joinable()) thread_.join();
    unlink(from_.c_str());
  }
  std::uint64_t passed() const { return passed_; }

 private:
  void run(int listener) {
    while (!is_cut_) {
      pollfd wanted{.fd = listener, .events = POLLIN, .revents = 0};
      if (poll(&wanted, 1, 10) != 1) continue;
      const base::Fd reader(accept(listener, nullptr, nullptr));
      const auto recorder = files::connect_to(files::StreamAddress{.host = {}, .path = to_});
      if (!recorder) continue;
      pump(recorder->get(), reader.get());
    }
  }
  void pump(int from, int to) {
    std::array<char, 4096> piece{};
    while (!is_cut_) {
      pollfd wanted{.fd = from, .events = POLLIN, .revents = 0};
      if (poll(&wanted, 1, 10) != 1) continue;
      const ssize_t got = recv(from, piece.data(), piece.size(), 0);
      if (got <= 0 || send(to, piece.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got)
        return;
      passed_ += static_cast<std::uint64_t>(got);
    }
  }

  std::string from_;
  std::string to_;
  std::atomic<bool> is_cut_ = false;
  std::atomic<std::uint64_t> passed_ = 0;
  std::thread thread_;
};

void wait_until_passed(const Relay& relay, std::uint64_t bytes) {
  for (int turn = 0; relay.passed() < bytes && turn < 3000; ++turn)
    std::this_thread::sleep_for(milliseconds(10));
  REQUIRE(relay.passed() >= bytes);
}

TEST_CASE(
    "a command whose connection breaks reads on, and its first line shows the events in between") {
  need_root();
  Streamed streamed;
  Relay relay(streamed.file("relay"), streamed.path());
  test::Child report({"sh", "-c",
                      std::string("exec '") + SJ_SOJOURN + "' report " +
                          quoted("unix:" + streamed.file("relay")) + " 2>&1"});
  wait_until_passed(relay, 40'000);
  relay.cut();
  std::this_thread::sleep_for(milliseconds(1500));
  relay.open();
  wait_until_passed(relay, relay.passed() + 40'000);
  streamed.stop();
  const test::Ended reported = report.wait();
  CAPTURE(reported.out);
  CHECK(reported.exit_code == 0);
  CHECK(reported.out.contains("the connection broke before the capture ended; trying again"));
  CHECK(reported.out.contains("connected again"));
  CHECK(reported.out.contains("has gaps, which its ledger counts:"));
  CHECK(reported.out.contains("passed while the connection was broken"));
  CHECK(reported.out.contains("connection cut"));
  check_whole(streamed.trace());
}

TEST_CASE("live reads on when its connection breaks, and counts the events in between as lost") {
  need_root();
  Streamed streamed;
  Relay relay(streamed.file("relay"), streamed.path());
  test::Child view({SJ_SOJOURN, "live", "unix:" + streamed.file("relay"), "--json", "-n", "9"});
  REQUIRE(view.wait_for_output("\n"));
  relay.cut();
  std::this_thread::sleep_for(milliseconds(1500));
  relay.open();
  const test::Ended viewed = view.wait();
  CAPTURE(viewed.err);
  CHECK(viewed.exit_code == 0);
  std::istringstream lines(viewed.out);
  nlohmann::json last;
  std::uint64_t events = 0;
  for (std::string line; std::getline(lines, line);) {
    last = nlohmann::json::parse(line);
    CHECK(last["events"].get<std::uint64_t>() >= events);
    events = last["events"].get<std::uint64_t>();
  }
  CAPTURE(last.dump());
  CHECK(last["lost"].get<std::uint64_t>() > 0);
  CHECK(last["losses"].dump().contains("connection cut"));
  CHECK(last["damaged"] == 0);
  streamed.stop();
}

TEST_CASE("a sender connects again, and both connections' bytes in one file are one trace") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("stream");
  const std::string file = directory.path("read.sjt");
  const std::vector<std::string> listen = {"sh", "-c",
                                           "rm -f " + quoted(path) + "; exec nc -lU " +
                                               quoted(path) + " >> " + quoted(file) +
                                               " </dev/null"};
  std::optional<test::Child> listener;
  listener.emplace(listen);
  while (!std::filesystem::exists(path)) std::this_thread::sleep_for(milliseconds(10));
  Recorder recorder({"--stream", "unix:" + path, "--flush-every", "50ms", "--budget", "none"});
  wait_until_filled(file, 40'000);
  listener->signal(SIGKILL);
  listener->wait();
  std::this_thread::sleep_for(milliseconds(300));
  const std::uint64_t before = std::filesystem::file_size(file);
  listener.emplace(listen);
  wait_until_filled(file, before + 40'000);
  CHECK(recorder.ctl("stop").exit_code == 0);
  const test::Ended ended = recorder.capture->wait();
  CAPTURE(ended.out);
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.contains("connections were made again 1 time"));
  CHECK(listener->wait().exit_code == 0);

  const trace::Reader trace = open_trace(file);
  const auto found = trace::completeness_of(trace);
  CHECK(found.cut > 0);
  CHECK(found.unaccounted == 0);
  CHECK(found.ended_in_order);
  CHECK(found.damaged_places <= 1);  // the block in which it was cut
  const trace::Reader whole = open_trace(recorder.directory.path("run.sjt"));
  CHECK(found.events + found.lost == whole.events() + trace::completeness_of(whole).lost);
  check_whole(recorder.directory.path("run.sjt"));
}

TEST_CASE("a slow reader loses blocks that its own ledger counts, and no other reader loses any") {
  need_root();
  const test::TemporaryDirectory directory;
  Station station;
  test::Child capture({"sh", "-c",
                       std::string("exec '") + SJ_SOJOURN + "' record -p " +
                           std::to_string(station.pid()) + " --budget none -o " +
                           quoted(directory.path("run.sjt")) +
                           " --listen unix:" + directory.path("stream") + " 2>&1"});
  REQUIRE(capture.wait_for_output("readers may connect"));
  const auto reader = [&](const std::string& name) {
    return std::vector<std::string>{"sh", "-c",
                                    "exec nc -U " + quoted(directory.path("stream")) + " > " +
                                        quoted(directory.path(name)) + " </dev/null"};
  };
  test::Child slow(reader("slow.sjt"));
  test::Child quick(reader("quick.sjt"));
  wait_until_filled(directory.path("slow.sjt"), 40'000);
  slow.signal(SIGSTOP);
  std::this_thread::sleep_for(milliseconds(7000));
  slow.signal(SIGCONT);
  std::this_thread::sleep_for(milliseconds(2500));
  CHECK(sojourn({"ctl", "-p", std::to_string(station.pid()), "stop"}).exit_code == 0);
  const test::Ended ended = capture.wait();
  CAPTURE(ended.out);
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.contains("slow ones lost"));
  CHECK(slow.wait().exit_code == 0);
  CHECK(quick.wait().exit_code == 0);

  const trace::Reader slow_trace = open_trace(directory.path("slow.sjt"));
  check_accounted(slow_trace);
  CHECK(lost_by(slow_trace, model::LossCause::kWriterBehind) > 0);
  const trace::Reader quick_trace = open_trace(directory.path("quick.sjt"));
  check_accounted(quick_trace);
  CHECK(lost_by(quick_trace, model::LossCause::kWriterBehind) == 0);
  const trace::Reader file = open_trace(directory.path("run.sjt"));
  check_accounted(file);
  CHECK(lost_by(file, model::LossCause::kWriterBehind) == 0);
}

// A file system that is soon full.
class SmallDisk : public test::TemporaryDirectory {
 public:
  explicit SmallDisk(const char* size) {
    REQUIRE(mount("tmpfs", path().c_str(), "tmpfs", 0, size) == 0);
  }
  ~SmallDisk() { umount2(path().c_str(), MNT_DETACH); }
};

TEST_CASE("if the recorder's disk is full, its readers get everything and the reason") {
  need_root();
  const test::TemporaryDirectory directory;
  const SmallDisk disk("size=400k");
  Station station;
  test::Child capture({"sh", "-c",
                       std::string("exec '") + SJ_SOJOURN + "' record -p " +
                           std::to_string(station.pid()) + " --wait --budget none -o " +
                           quoted(disk.path("run.sjt")) +
                           " --listen unix:" + directory.path("stream") + " 2>&1"});
  REQUIRE(capture.wait_for_output("readers may connect"));
  test::Child reader({"sh", "-c",
                      "exec nc -U " + quoted(directory.path("stream")) + " > " +
                          quoted(directory.path("read.sjt")) + " </dev/null"});
  std::this_thread::sleep_for(milliseconds(500));
  CHECK(sojourn({"ctl", "-p", std::to_string(station.pid()), "start"}).exit_code == 0);
  const test::Ended ended = capture.wait();
  CAPTURE(ended.out);
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.contains("No space left on device"));
  CHECK(reader.wait().exit_code == 0);
  CHECK(station.running());
  const trace::Reader trace = open_trace(directory.path("read.sjt"));
  check_accounted(trace);
  CHECK(trace.capture().ended_by == "write error");
  CHECK(trace::completeness_of(trace).lost == 0);
}

TEST_CASE("a reader whose disk is full ends with one line, and the recorder goes on") {
  need_root();
  Streamed streamed;
  const SmallDisk disk("size=100k");
  test::Child report({"sh", "-c",
                      "TMPDIR=" + quoted(disk.path()) + " exec '" SJ_SOJOURN "' report " +
                          quoted(streamed.address()) + " 2>&1"});
  const test::Ended reported = report.wait();
  CAPTURE(reported.out);
  CHECK(reported.exit_code == 1);
  CHECK(reported.out.contains("in a temporary file: No space left on device"));
  streamed.stop();
  check_whole(streamed.trace());
}

TEST_CASE(
    "with --unread-only the file has the events without a reader, and counts the others as "
    "streamed") {
  need_root();
  Streamed streamed({"--unread-only"});
  std::this_thread::sleep_for(milliseconds(1500));
  test::Child reader(streamed.nc("read.sjt"));
  wait_until_filled(streamed.file("read.sjt"), 40'000);
  reader.signal(SIGKILL);
  reader.wait();
  std::this_thread::sleep_for(milliseconds(1500));
  streamed.stop();
  const trace::Reader file = open_trace(streamed.trace());
  check_accounted(file);
  const std::uint64_t only_streamed = lost_by(file, model::LossCause::kStreamed);
  CHECK(only_streamed > 0);
  CHECK(only_streamed >= open_trace(streamed.file("read.sjt")).events());
  CHECK(sojourn_done({"report", streamed.trace()}).contains("went to readers of the stream only"));
}

TEST_CASE("a flush sends the held events, to readers and as text") {
  need_root();
  Recorder recorder({"--text", "--flush-every", "1min", "--budget", "none"});
  std::this_thread::sleep_for(milliseconds(700));
  CHECK_FALSE(recorder.capture->output().contains(" tid "));
  CHECK(recorder.ctl("flush").exit_code == 0);
  CHECK(recorder.ctl("flush").exit_code == 0);
  CHECK(recorder.capture->wait_for_output(" tid "));
  CHECK(recorder.ctl("stop").exit_code == 0);
  const test::Ended ended = recorder.capture->wait();
  CHECK(ended.exit_code == 0);
  std::uint64_t lines = 0;
  std::istringstream text(ended.out);
  for (std::string line; std::getline(text, line);) lines += line.contains(" tid ") ? 1 : 0;
  CHECK(lines == open_trace(recorder.directory.path("run.sjt")).events());
}

TEST_CASE("events that standard output did not take are told, and no reader is blamed") {
  need_root();
  const test::TemporaryDirectory directory;
  Station station;
  const std::string errors = directory.path("errors");
  const test::Ended ended =
      test::run({"sh", "-c",
                 std::string("'") + SJ_SOJOURN + "' record -p " + std::to_string(station.pid()) +
                     " --budget none --for 5s --text -o " + quoted(directory.path("run.sjt")) +
                     " 2> " + quoted(errors) + " | { sleep 11; grep -c ' tid '; }"});
  CHECK(ended.exit_code == 0);
  const std::string said = test::contents(errors);
  CAPTURE(said, ended.out);
  const trace::Reader file = open_trace(directory.path("run.sjt"));
  const std::string lead = "printing was slower than the events: ";
  REQUIRE(said.contains(lead));
  std::string number = said.substr(said.find(lead) + lead.size());
  CHECK(number.contains(" events not printed\n"));
  number.erase(number.find(' '));
  std::erase(number, ',');
  CHECK(std::stoull(ended.out) + std::stoull(number) == file.events());
  CHECK_FALSE(said.contains("slow ones lost"));
  CHECK_FALSE(said.contains("cut off"));
  CHECK(said.contains("\nnext: sojourn report "));
  check_accounted(file);
}

TEST_CASE("a full disk behind standard output is an error, and the trace is whole") {
  need_root();
  const test::TemporaryDirectory directory;
  Station station;
  const test::Ended ended =
      test::run({"sh", "-c",
                 std::string("'") + SJ_SOJOURN + "' record -p " + std::to_string(station.pid()) +
                     " --for 2s --text -o " + quoted(directory.path("run.sjt")) + " > /dev/full"});
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.ends_with("sojourn: write standard output: No space left on device\n"));
  CHECK_FALSE(ended.err.contains("not printed"));
  const trace::Reader file = open_trace(directory.path("run.sjt"));
  CHECK(file.events() > 1000);
  check_accounted(file);
}

// Two hosts with a cable between them: network namespaces, which go away with it.
class TwoHosts {
 public:
  TwoHosts() {
    const std::string script = "set -e; ip netns add " + a() + "; ip netns add " + b() +
                               "; ip -n " + a() +
                               " link add cable type veth peer name cable netns " + b() +
                               "; ip -n " + a() + " addr add 10.91.7.1/24 dev cable; ip -n " + b() +
                               " addr add 10.91.7.2/24 dev cable; ip -n " + a() +
                               " link set cable up; ip -n " + b() + " link set cable up";
    const test::Ended made = test::run({"sh", "-c", script});
    CAPTURE(made.err);
    REQUIRE(made.exit_code == 0);
  }
  ~TwoHosts() {
    test::run({"ip", "netns", "del", a()});
    test::run({"ip", "netns", "del", b()});
  }
  TwoHosts(const TwoHosts&) = delete;
  TwoHosts& operator=(const TwoHosts&) = delete;

  std::string a() const { return "sjstream" + std::to_string(getpid()) + "a"; }
  std::string b() const { return "sjstream" + std::to_string(getpid()) + "b"; }
  // Neither side learns that packets are lost.
  void pull_cable() const { set_cable("down"); }
  void plug_cable() const { set_cable("up"); }

 private:
  void set_cable(const std::string& state) const {
    REQUIRE(test::run({"ip", "-n", a(), "link", "set", "cable", state}).exit_code == 0);
  }
};

TEST_CASE("a reader on another host goes on by TLS after its network was cut") {
  need_root();
  const TwoHosts hosts;
  const test::Certificate certificate("IP:10.91.7.1");
  const test::TemporaryDirectory directory;
  Station station;
  test::Child capture({"sh", "-c",
                       "exec ip netns exec " + hosts.a() + " '" SJ_SOJOURN "' record -p " +
                           std::to_string(station.pid()) + " --engine ring --budget none -o " +
                           quoted(directory.path("run.sjt")) +
                           " --listen tls://10.91.7.1:9000 --tls-cert " +
                           certificate.certificate() + " --tls-key " + certificate.key() +
                           " --token-file " + certificate.token_file() + " 2>&1"});
  REQUIRE(capture.wait_for_output("readers may connect"));
  test::Child report({"sh", "-c",
                      "SOJOURN_TLS_CA=" + certificate.certificate() + " SOJOURN_TOKEN_FILE=" +
                          certificate.token_file() + " exec ip netns exec " + hosts.b() +
                          " '" SJ_SOJOURN "' report tls://10.91.7.1:9000 2>&1"});
  REQUIRE(report.wait_for_output("reading tls://"));
  std::this_thread::sleep_for(milliseconds(3000));
  hosts.pull_cable();
  CHECK(report.wait_for_output("the connection broke"));
  hosts.plug_cable();
  CHECK(report.wait_for_output("connected again"));
  std::this_thread::sleep_for(milliseconds(2500));
  // A capture is asked in its own network.
  CHECK(test::run({"ip", "netns", "exec", hosts.a(), SJ_SOJOURN, "ctl", "-p",
                   std::to_string(station.pid()), "stop"})
            .exit_code == 0);
  const test::Ended reported = report.wait();
  CAPTURE(reported.out);
  CHECK(reported.exit_code == 0);
  CHECK(reported.out.contains("passed while the connection was broken"));
  CHECK(reported.out.contains("connection cut"));
  CHECK(capture.wait().exit_code == 0);
  const trace::Reader file = open_trace(directory.path("run.sjt"));
  check_accounted(file);
  CHECK(trace::completeness_of(file).lost == 0);
}

}  // namespace
}  // namespace sojourn::live
