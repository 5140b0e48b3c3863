// The sampled counts of the base station's queues beside its own record.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "analysis/model/queue_info.h"
#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

struct Counts {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

// A queue's operations are stamped under its lock and counted before it is let go. So a count is
// the sum of all operations up to some moment, or lies between that and the sum before the last
// stamp.
class History {
 public:
  void add(const truth::QueueOp& operation) {
    if (steps_.empty() || steps_.back().ts_ns != operation.ts_ns)
      steps_.push_back({operation.ts_ns, now_, now_});
    ++(operation.action == truth::QueueAction::kEnqueue ? now_.in : now_.out);
    steps_.back().after = now_;
  }

  // The least and the most that may be counted at some moment of the span.
  std::pair<Counts, Counts> between(std::uint64_t from_ns, std::uint64_t to_ns) const {
    return {at(from_ns).before, at(to_ns).after};
  }
  const Counts& total() const { return now_; }

 private:
  struct Step {
    std::uint64_t ts_ns = 0;
    Counts before;
    Counts after;
  };

  Step at(std::uint64_t ts_ns) const {
    const auto next = std::ranges::upper_bound(steps_, ts_ns, {}, &Step::ts_ns);
    return next == steps_.begin() ? Step{} : *std::prev(next);
  }

  std::vector<Step> steps_;
  Counts now_;
};

std::map<std::string, History> histories_of(const truth::Truth& truth) {
  std::map<std::string, History> histories;
  for (const truth::QueueName& queue : truth.queues) histories[queue.name];
  for (const truth::QueueOp& operation : truth.queue_ops)
    histories[truth.queues[operation.queue].name].add(operation);
  return histories;
}

std::map<std::uint64_t, std::string> names_of(const trace::Reader& reader) {
  std::map<std::uint64_t, std::string> names;
  for (const model::QueueChange& change : reader.queue_changes())
    names[change.about.id] = change.about.name;
  return names;
}

// Calls `check` with every sample.
template <typename Check>
void each_sample(trace::Reader& reader, Check check) {
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row)
      if (const auto sample = model::queue_sample(reader.schema(), batch[row]))
        check(batch.ts_ns()[row], *sample);
    return true;
  }));
}

std::vector<std::string> sampling(const std::string& mode) {
  if (mode == "busy") return {"--queues", "--queue-mode", "busy", "--queue-cpu", "0"};
  return {"--queues", "200us", "--queue-mode", mode};
}

std::string record(const Station& station, const std::string& trace, const std::string& mode) {
  std::vector<std::string> arguments = {"record", "-p",       std::to_string(station.pid()),
                                        "--for",  "1s",       "-o",
                                        trace,    "--engine", "ring"};
  for (std::string& word : sampling(mode)) arguments.push_back(std::move(word));
  return sojourn_done(std::move(arguments));
}

TEST_CASE("every sample of a queue is possible at its moment by the truth") {
  const std::string mode = GENERATE("fixed", "adaptive", "busy");
  CAPTURE(mode);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--ues", "3", "--bearers", "2", "--air-loss", "0.1"});
  record(station, trace, mode);
  const auto histories = histories_of(station.finish());

  trace::Reader reader = open_trace(trace);
  const auto names = names_of(reader);
  CHECK(names.size() == histories.size());
  std::size_t samples = 0;
  std::size_t deep = 0;
  each_sample(reader, [&](std::uint64_t ts_ns, const model::QueueSample& sample) {
    REQUIRE(names.contains(sample.queue));
    const std::string& name = names.at(sample.queue);
    const auto [least, most] = histories.at(name).between(ts_ns, ts_ns + sample.span_ns);
    CAPTURE(name, ts_ns, sample.in, sample.out, sample.slack, sample.span_ns);
    REQUIRE(sample.in >= least.in);
    REQUIRE(sample.in <= most.in);
    REQUIRE(sample.out + sample.slack >= least.out);
    REQUIRE(sample.out <= most.out);
    ++samples;
    if (sample.depth() != 0) ++deep;
  });
  CHECK(samples > 1000);
  CHECK(deep > 100);
  CHECK(reader.sampling().looks >= samples);
  CHECK(reader.gaps().empty());
}

TEST_CASE("a queue that did not change between two samples did not change in the truth either") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--ues", "1", "--bearers", "1", "--rate-dl", "300", "--rate-ul", "300"});
  record(station, trace, "fixed");
  const auto histories = histories_of(station.finish());

  trace::Reader reader = open_trace(trace);
  const auto names = names_of(reader);
  std::map<std::uint64_t, model::QueueSample> before;
  std::size_t rests = 0;
  each_sample(reader, [&](std::uint64_t ts_ns, const model::QueueSample& sample) {
    const auto found = before.find(sample.queue);
    if (found != before.end() && found->second.slack == 0) {
      const std::uint64_t seen_ns = ts_ns - sample.gap_ns;
      const auto [least, most] = histories.at(names.at(sample.queue)).between(seen_ns, seen_ns);
      REQUIRE(found->second.in >= least.in);
      REQUIRE(found->second.in <= most.in);
      REQUIRE(found->second.out >= least.out);
      REQUIRE(found->second.out <= most.out);
      ++rests;
    }
    before[sample.queue] = sample;
  });
  CHECK(rests > 100);
}

TEST_CASE("a target that is killed while it is sampled leaves its last counts in the trace") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child station({SJ_BASESTATION, "--ready-fd", "3"});
  REQUIRE(station.wait_for_ready_line() == "ready\n");
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "-o", trace,
                      "--engine", "ring", "--queues", "--queue-mode", "adaptive"});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  station.signal(SIGKILL);
  const test::Ended ended = tracer.wait();
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);

  trace::Reader reader = open_trace(trace);
  CHECK(reader.capture().ended_by == "target exit");
  std::map<std::uint64_t, model::QueueSample> last;
  each_sample(reader, [&](std::uint64_t, const model::QueueSample& sample) {
    last[sample.queue] = sample;
  });
  CHECK(last.size() == names_of(reader).size());
  std::uint64_t items = 0;
  for (const auto& [id, sample] : last) items += sample.in;
  CHECK(items > 1000);
}

TEST_CASE("sojourn queues agrees with the base station's own counts") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--ues", "2", "--bearers", "1"});
  record(station, trace, "fixed");
  const auto histories = histories_of(station.finish());

  const auto document =
      nlohmann::json::parse(sojourn_done({"queues", trace, "--json", "--depths"}));
  CHECK(document["queues"].size() == histories.size());
  CHECK(document["sampling"]["mode"] == "fixed");
  for (const auto& queue : document["queues"]) {
    const std::string name = queue["name"];
    CAPTURE(name);
    CHECK(queue["kind"] == "stage");
    const auto [least, most] = histories.at(name).between(queue["last_ns"], queue["last_ns"]);
    CHECK(queue["counters"]["in"] >= least.in);
    CHECK(queue["in"] <= histories.at(name).total().in);
    CHECK(queue["depth"]["max"] <= queue["capacity"]);
    std::uint64_t lasted_ns = 0;
    for (const auto& level : queue["depths"]) lasted_ns += level["ns"].get<std::uint64_t>();
    CHECK(lasted_ns ==
          queue["last_ns"].get<std::uint64_t>() - queue["first_ns"].get<std::uint64_t>());
    const auto& peaks = queue["over_time"]["max"];
    CHECK(*std::ranges::max_element(peaks) == queue["depth"]["max"]);
  }
  const std::string text = sojourn_done({"queues", trace, "--topology"});
  CHECK(text.contains("dl-gtp 0   ->  dl-pdcp"));
  CHECK(text.contains("longest wait: rlc.tx"));
  CHECK(text.contains(" items, drained by mac 0\n"));
  CHECK(sojourn_done({"queues", trace, "--dot"}).starts_with("digraph queues {\n"));
  // Its queues make no events.
  const test::Ended ended = sojourn({"queues", trace, "--verify"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("there is nothing to compare"));
}

// A program with queues of a known life, recorded from before it begins until it is done.
struct KnownLife {
  test::TemporaryDirectory directory;
  std::string trace = directory.path("run.sjt");

  KnownLife(long items, const std::vector<std::string>& options) {
    test::Child target({SJ_SUBJECT_QUEUES, std::to_string(items)});
    REQUIRE(target.wait_for_ready_line() == "ready\n");
    std::vector<std::string> arguments = {
        SJ_SOJOURN, "record", "-p", std::to_string(target.pid()), "-o", trace, "--engine", "ring"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    test::Child tracer(std::move(arguments));
    REQUIRE(target.wait_for_output("done"));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    tracer.signal(SIGINT);
    const test::Ended ended = tracer.wait();
    INFO(ended.err);
    REQUIRE(ended.exit_code == 0);
  }
};

TEST_CASE("samples and the events of a queue's operations agree, sample by sample and in total") {
  constexpr long kItems = 2000;
  const KnownLife life(kItems, {"--queues", "200us"});
  const auto document =
      nlohmann::json::parse(sojourn_done({"queues", life.trace, "--verify", "--json"}));
  const auto& verify = document["verify"];
  REQUIRE(verify["queues"].size() == 1);
  const auto& queue = verify["queues"][0];
  CHECK(verify["discrepancies"].empty());
  CHECK(queue["different"] == 0);
  CHECK(queue["equal"] > 500);
  CHECK(queue["in_by_events"] == kItems);
  CHECK(queue["in_by_counters"] == kItems);
  CHECK(queue["out_by_events"] == kItems);
  CHECK(queue["out_by_counters"] == kItems);

  // The queue by its events alone: one item at a time, inside for 300 us at least.
  REQUIRE(document["operations"].size() == 1);
  const auto& operated = document["operations"][0];
  CHECK(operated["name"] == "items");
  CHECK(operated["in"] == kItems);
  CHECK(operated["out"] == kItems);
  CHECK(operated["inside"] == 0);
  CHECK(operated["high_water"]["depth"] == 1);
  CHECK(operated["unseen_in"] == 0);
  CHECK(operated["unseen_out"] == 0);
  CHECK(operated["wait_ns"]["count"] == kItems);
  CHECK(operated["wait_ns"]["p50"] >= 300'000);
}

TEST_CASE("the life of a queue is reported in order") {
  const KnownLife life(1000, {"--queues"});
  const auto document = nlohmann::json::parse(sojourn_done({"queues", life.trace, "--json"}));
  std::vector<std::string> events;
  std::uint64_t last_ns = 0;
  for (const auto& change : document["changes"]) {
    if (change["queue"]["name"] != "guest") continue;
    events.push_back(change["event"]);
    CHECK(change["after_ns"] >= last_ns);
    last_ns = change["ts_ns"];
  }
  CHECK(events == std::vector<std::string>{"appeared", "described", "ended"});
  const auto& queues = document["queues"];
  const auto named = [&](const std::string& name) {
    return *std::ranges::find_if(queues, [&](const auto& one) { return one["name"] == name; });
  };
  CHECK(named("guest")["counters"]["in"] == 17);
  CHECK(named("guest")["consumer"]["stage"] == "late");
  CHECK(named("guest")["ended_ns"] > named("guest")["appeared_ns"]);
  CHECK(named("buffers")["kind"] == "pool");
  CHECK(named("buffers")["depth"]["mean"] == 1.0);
  CHECK(named("buffers")["utilisation"] == 0.9);
}

TEST_CASE("queues are sampled alone where all points are left out") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  const test::Ended ended = sojourn({"record", "-p", std::to_string(station.pid()), "--points",
                                     "!*", "--queues", "1ms", "--for", "500ms", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("no points: only its queues are recorded"));
  trace::Reader reader = open_trace(trace);
  std::size_t samples = 0;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (const model::PointId point : batch.point()) {
      CHECK(reader.schema().points.at(point).direction == model::Direction::kSample);
      ++samples;
    }
    return true;
  }));
  CHECK(samples > 1000);
  CHECK(sojourn_done({"queues", trace}).contains("dl-pdcp"));
}

TEST_CASE("options of sampling that do not go together are refused") {
  const auto refused = [](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"record", "-p", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const test::Ended ended = sojourn(std::move(arguments));
    CHECK(ended.exit_code == 2);
    return ended.err;
  };
  CHECK(refused({"--queue-mode", "fixed"}).contains("go with --queues"));
  CHECK(refused({"--queues", "--queue-mode", "busy"}).contains("--queue-cpu N"));
  CHECK(refused({"--queues", "1ms", "--queue-mode", "busy", "--queue-cpu", "0"})
            .contains("without a period"));
  CHECK(refused({"--queues", "1ns"}).contains("10us to 10s"));
  CHECK(refused({"--queues", "soon"}).contains("not a time"));
}

TEST_CASE("a trace without queues is distinguished from one whose queues were idle") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--ues", "1"});
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "200ms", "-o", trace,
                "--engine", "ring"});
  const std::string text = sojourn_done({"queues", trace});
  CHECK(text.starts_with("no queue was sampled (`sojourn record --queues` does)"));
  CHECK(text.contains("in flight, from events"));
  const test::Ended ended = sojourn({"queues", trace, "--verify"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK(ended.err.contains("nothing to compare"));
}

// A trace of a station with a fault, with events alone.
struct Unsampled {
  test::TemporaryDirectory directory;
  std::string trace = directory.path("run.sjt");
  truth::Truth truth;
  nlohmann::json queues;

  explicit Unsampled(std::vector<std::string> options) {
    Station station(std::move(options));
    sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "3s", "-o", trace,
                  "--engine", "ring"});
    truth = station.finish();
    queues = nlohmann::json::parse(sojourn_done({"queues", trace, "--json"}));
    REQUIRE(queues["queues"].empty());
    REQUIRE_FALSE(queues["places"].empty());
    for (const auto& place : queues["places"]) {
      CAPTURE(place.dump(1));
      const double depth = place["depth"]["mean"];
      CHECK(std::abs(place["little"].get<double>() - depth) <= 0.1 * depth + 0.5);
    }
  }

  nlohmann::json place(const std::string& direction, const std::string& name) const {
    for (const auto& place : queues["places"])
      if (place["dir"] == direction && place["at"] == name) return place;
    FAIL("no place " << direction << " " << name);
    return {};
  }
};

TEST_CASE("the slow stage is named without samples, and its thread") {
  const Unsampled run(
      {"--slow-stage", "pdcp.rx:10000", "--rate-ul", "50", "--rate-dl", "200", "--air-loss", "0"});
  const auto slow = run.place("U", "pdcp.rx");
  for (const auto& place : run.queues["places"])
    CHECK(place["wait_ns"]["mean"] <= slow["wait_ns"]["mean"]);
  CHECK(slow["service_ns"]["mean"] >= 5e6);
  CHECK(slow["wait_ns"]["mean"] >= slow["service_ns"]["mean"]);
  CHECK(slow["utilisation"] > 0.2);
  REQUIRE(slow["drained_by"].size() == 1);
  const auto is_dequeue = [&](const truth::QueueOp& operation) {
    return run.truth.queues[operation.queue].name == "ul-pdcp" &&
           operation.action == truth::QueueAction::kDequeue;
  };
  const auto one = std::ranges::find_if(run.truth.queue_ops, is_dequeue);
  REQUIRE(one != run.truth.queue_ops.end());
  CHECK(slow["drained_by"][0]["tid"] == one->tid);
  CHECK(sojourn_done({"queues", run.trace}).contains("slowest stage: U pdcp.rx, "));
}

TEST_CASE(
    "bursts are seen without samples: their depth, the packets inside, and the queues that they "
    "filled") {
  const Unsampled run({"--burst", "200", "--rate-dl", "4000", "--rate-ul", "100", "--size", "500"});
  const auto deep = run.place("D", "rlc.tx.um");
  CHECK(deep["high_water"]["depth"] >= 50);
  // A unit there is one packet; units that the end cut off are not reported.
  CHECK(deep["high_water"]["inside"] <= deep["high_water"]["depth"]);
  CHECK(deep["high_water"]["inside"] >= 20);
  CHECK(deep["high_water"]["journeys"].size() == 8);
  CHECK(std::ranges::any_of(run.queues["pressure"], [](const auto& chain) {
    return chain[0]["queue"].template get<std::string>().starts_with("D rlc.tx.") &&
           chain[0]["peak"] >= 50;
  }));
  CHECK(sojourn_done({"queues", run.trace}).contains("back-pressure: "));
}

}  // namespace
}  // namespace sojourn::live
