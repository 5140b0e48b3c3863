// A real base station as its distribution ships it, stripped and unmodified: osmo-bts-virtual, with
// the controller that it needs, in namespaces of their own that go away with the test.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

// A signal that ends the outermost process ends all of them. It ends with the test at the latest.
constexpr const char* kStart = R"(
cd "$1" && ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo || exit 1
osmo-bsc -c "$2/bsc.cfg" &
exec osmo-bts-virtual -c "$2/bts.cfg")";

// Finds the process of that name among this one and its descendants; 0 if there is none.
pid_t find_below(pid_t pid, const std::string& name) {
  const std::string directory = "/proc/" + std::to_string(pid);
  if (!std::filesystem::exists(directory)) return 0;
  if (test::contents(directory + "/comm") == name + "\n") return pid;
  std::istringstream children(
      test::contents(directory + "/task/" + std::to_string(pid) + "/children"));
  for (pid_t child = 0; children >> child;)
    if (const pid_t found = find_below(child, name); found != 0) return found;
  return 0;
}

class OsmoStation {
 public:
  OsmoStation()
      : child_({"setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--pid", "--fork",
                "--kill-child", "sh", "-c", kStart, "sh", directory_.path(), SJ_OSMO}) {
    // The last word of the controller's at its start: from here on there are blocks to send.
    bool is_up = false;
    for (int tries = 0; tries < 6 && !is_up && child_.running(); ++tries)
      is_up = child_.wait_for_output("bootstrapping RSL");
    if (!is_up && child_.running()) child_.signal(SIGKILL);
    INFO((is_up ? std::string() : child_.wait().err));
    REQUIRE(is_up);
    pid_ = find_below(child_.pid(), "osmo-bts-virtua");
    REQUIRE(pid_ != 0);
  }

  pid_t pid() const { return pid_; }
  bool running() { return child_.running() && find_below(child_.pid(), "osmo-bts-virtua") == pid_; }

 private:
  test::TemporaryDirectory directory_;
  test::Child child_;
  pid_t pid_ = 0;
};

TEST_CASE("the queues of a base station that its distribution ships are seen by its map") {
  need_root();
  if (!std::filesystem::exists("/usr/bin/osmo-bts-virtual") ||
      !std::filesystem::exists("/usr/bin/osmo-bsc"))
    SKIP("osmo-bts and osmo-bsc are not installed: .ci/packages test installs them");
  OsmoStation station;
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const std::string map = std::string(SJ_MAPS) + "/osmo-bts.toml";
  const test::Ended ended =
      sojourn({"record", "-p", std::to_string(station.pid()), "--map", map, "--budget", "none",
               "--context", "sched,irq", "--for", "4s", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK_FALSE(ended.err.contains("not traced"));
  CHECK(ended.err.contains("msgb_enqueue is probed where it is called"));
  CHECK(station.running());

  trace::Reader reader = open_trace(trace);
  std::map<std::string, std::uint64_t> hits;
  std::set<std::uint64_t> queued;
  std::uint64_t sent = 0;  // those that were in a queue
  std::uint64_t last_frame = 0;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::Point& point = reader.schema().points[batch[row].point];
      ++hits[point.dest.empty() ? point.src : point.dest];
      const auto value = [&](const std::string& field) {
        const auto at = std::ranges::find(point.fields, field, &model::Field::name);
        REQUIRE(at != point.fields.end());
        return batch[row].values[static_cast<std::size_t>(at - point.fields.begin())];
      };
      if (point.src == "put.msgb") {
        CHECK(value("queue") != 0);
        queued.insert(value("data"));
      } else if (point.dest == "got.msgb") {
        CHECK(value("item") != value("queue"));
      } else if (point.dest == "air") {
        sent += queued.erase(value("data"));
        // The values are those of bsc.cfg; frames are numbered up to 2,715,647, which takes hours.
        CHECK(value("arfcn") == 600);
        CHECK(value("timeslot") < 8);
        CHECK(value("frame") >= last_frame);
        last_frame = value("frame");
      } else if (point.src == "timer") {
        CHECK(value("microseconds") < 1'000'000);
      } else if (point.src == "loop.handler") {
        CHECK(value("fd") < 1024);
      }
    }
    return true;
  }));
  CHECK(last_frame > 0);
  CHECK(hits["timer"] > 10);
  CHECK(hits["loop.handler"] > 0);
  CHECK(hits["air"] > 5);
  CHECK(hits["msgb"] > 5);
  CHECK(sent > 5);
  CHECK(sent + 5 >= hits["air"]);

  const json report = json::parse(sojourn_done({"report", "--json", trace}));
  CHECK(report.at("journeys").at("D").at("complete") > 5);
  const json& queues = report.at("queues");
  const auto queue =
      std::ranges::find(queues, "msgb", [](const json& one) { return one.at("name"); });
  REQUIRE(queue != queues.end());
  CHECK(queue->at("max") >= 1);
  CHECK(sojourn_done({"report", trace}).contains("  msgb "));

  // The select loop: the time of a turn, and the delay from its wakeup.
  const json& hops = report.at("hops");
  const auto turn =
      std::ranges::find(hops, "loop.turn", [](const json& one) { return one.at("at"); });
  REQUIRE(turn != hops.end());
  CHECK(turn->at("count") > 100);
  CHECK(report.at("journeys").at("U").at("complete") > 100);
  const json threads = json::parse(sojourn_done({"threads", "--json", trace}));
  std::map<std::string, std::uint64_t> reactions;
  for (const json& reaction : threads.at("reactions"))
    if (reaction.at("tid") == station.pid())
      reactions[reaction.at("point")] +=
          reaction.at("since_woken_ns").at("count").get<std::uint64_t>();
  CHECK(reactions["loop.woken--loop.turn"] > 100);
  CHECK(reactions["loop.handler"] > 0);
  CHECK(reactions["loop.handler"] <= hits["loop.handler"]);

  // Without the map: functions that are called for each block, and one that is called once a
  // second, which a short look would miss.
  const test::Ended proposed =
      sojourn({"list", "-p", std::to_string(station.pid()), "--suggest", "--for", "3s"});
  CAPTURE(proposed.err, proposed.out);
  CHECK(proposed.exit_code == 0);
  for (const char* function : {"msgb_dequeue", "abis_sendmsg"}) {
    CAPTURE(function);
    CHECK(proposed.out.contains(std::string("\n[[point]]\nfunction = \"") + function + "\""));
  }

  // The scheduler's events of the thread.
  const auto& of_thread = threads.at("threads");
  const auto loop = std::ranges::find(of_thread, json(station.pid()),
                                      [](const json& one) { return one.at("tid"); });
  REQUIRE(loop != of_thread.end());
  CHECK(loop->at("running_ns") > 0);
  CHECK(loop->at("blocked_ns") > 0);
  CHECK(loop->at("woken_to_running_ns").at("count") > 100);
}

}  // namespace
}  // namespace sojourn::live
