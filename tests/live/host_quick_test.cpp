// `sojourn host` on this machine: structure and sanity, never times. And what traces say of it.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include "analysis/host/host_json.h"
#include "tests/live/programs.h"
#include "userspace/base/fd.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

const json* measurement(const json& profile, const std::string& id) {
  for (const json& one : profile["measurements"])
    if (one["id"] == id) return &one;
  return nullptr;
}

TEST_CASE("the quick form measures every group, and each row has a figure or a reason") {
  const test::TemporaryDirectory directory;
  const std::string text =
      sojourn_done({"host", "--quick", "--json", "--directory", directory.path()});
  CHECK(std::filesystem::is_empty(directory.path()));
  const json profile = json::parse(text);
  CHECK(profile["form"] == "quick");
  CHECK_FALSE(profile["boot_id"].get<std::string>().empty());
  CHECK(profile["machine"].size() > 10);
  std::set<std::string> groups;
  std::set<std::string> ids;
  for (const json& one : profile["measurements"]) {
    CAPTURE(one.dump(2));
    groups.insert(one["group"]);
    CHECK(ids.insert(one["id"]).second);  // each once
    const json& measured = one["measured"];
    CHECK(measured.is_null() == !one["left_out"].get<std::string>().empty());
    if (measured.is_null()) continue;
    CHECK(measured["count"] > 0);
    CHECK(measured["min"] <= measured["q1"]);
    CHECK(measured["q1"] <= measured["median"]);
    CHECK(measured["median"] <= measured["q3"]);
    CHECK(measured["q3"] <= measured["max"]);
    CHECK(one["stable"] == one["unstable"].get<std::string>().empty());
    CHECK_FALSE(one["method"].get<std::string>().empty());
  }
  CHECK(groups == std::set<std::string>{"calls", "clocks", "cores", "faults", "files", "memory",
                                        "network", "probes", "processes", "switches"});
  const auto profile_read = host::from_json(text);
  REQUIRE(profile_read.has_value());
  for (const host::CpuMatrix& matrix : profile_read->matrices)
    for (const auto& value : matrix.values) {
      CAPTURE(matrix.id);
      if (value && matrix.id == "cores.lines") CHECK(*value > 0);  // not known is not 0
    }
  CHECK_FALSE(text.contains("known to inf"));
}

TEST_CASE("longer operations have longer measurements") {
  const json profile =
      json::parse(sojourn_done({"host", "--quick", "--json", "--only", "clocks,calls,memory"}));
  const auto median = [&](const std::string& id) {
    const json* const one = measurement(profile, id);
    REQUIRE(one != nullptr);
    CAPTURE(one->dump(2));
    REQUIRE((*one)["measured"].is_object());
    return (*one)["measured"]["median"].get<double>();
  };
  CHECK(median("clocks.cycle") > 0.05);
  CHECK(median("clocks.cycle") < 10);
  CHECK(median("clocks.frequency") > 1e6);
  CHECK(median("clocks.monotonic") > median("clocks.monotonic_coarse"));
  CHECK(median("calls.syscall") > median("calls.procedure0"));
  CHECK(median("memory.latency.ram") > median("memory.latency.l1"));
  for (const json& one : profile["measurements"])
    CHECK((one["group"] == "clocks" || one["group"] == "calls" || one["group"] == "memory"));
}

TEST_CASE("a trace has the measurements of its machine, and reports show them") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  const Station station;
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "1s", "-o", path});
  const auto reader = open_trace(path);
  const auto profile = host::from_json(reader.host().measured);
  REQUIRE(profile.has_value());
  CHECK_FALSE(profile->boot_id.empty());
  REQUIRE(profile->median("clocks.monotonic").has_value());
  CHECK(profile->find("calls.syscall")->method.empty());  // traces have no room for it
  const std::string pasted = sojourn_done({"report", path, "--paste"});
  CHECK(pasted.contains("| machine's own costs | reading the clock "));
}

TEST_CASE("a measurement that is killed leaves no file behind") {
  const test::TemporaryDirectory directory;
  for (const int number : {SIGKILL, SIGTERM}) {
    test::Child child(
        {SJ_SOJOURN, "host", "--quick", "--only", "files", "--directory", directory.path()});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    child.signal(number);
    child.wait();
    CHECK(std::filesystem::is_empty(directory.path()));
  }
}

// A port that is free just now.
std::string free_address() {
  const base::Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  REQUIRE(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

TEST_CASE("a peer that serves is measured, and one that does not is left out with the reason") {
  const std::string address = free_address();
  const std::vector<std::string> measure = {"host",    "--quick", "--json", "--only",
                                            "network", "--peer",  address};
  const json without = json::parse(sojourn_done(measure));
  REQUIRE(measurement(without, "peer.tcp") != nullptr);
  CHECK((*measurement(without, "peer.tcp"))["left_out"].get<std::string>().contains(
      "connect to " + address + ": Connection refused"));
  test::Child server({SJ_SOJOURN, "host", "--serve", address});
  REQUIRE(server.wait_for_output("answers at " + address));
  const json with = json::parse(sojourn_done(measure));
  for (const char* id : {"peer.tcp", "peer.bandwidth", "peer.connect", "peer.close"}) {
    CAPTURE(id);
    REQUIRE(measurement(with, id) != nullptr);
    CHECK((*measurement(with, id))["measured"].is_object());
  }
  server.signal(SIGINT);
  CHECK(server.wait().exit_code == 0);
}

}  // namespace
}  // namespace sojourn::live
