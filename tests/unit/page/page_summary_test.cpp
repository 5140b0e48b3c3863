#include "analysis/page/page_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "analysis/page/page_engine.h"
#include "analysis/page/trace_identity.h"
#include "analysis/page/trace_windows.h"
#include "analysis/trace/byte_source.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"
#include "tests/golden/fixture.h"
#include "tests/support/child.h"
#include "tests/unit/context/trace.h"
#include "userspace/files/trace_file.h"

namespace sojourn::page {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMuch = 1 << 20;

struct Columns {
  std::map<std::string, std::vector<double>> doubles;
  std::map<std::string, std::vector<std::uint8_t>> bytes;
};

class Sink : public AnswerSink {
 public:
  explicit Sink(Columns& into) : into_(into) {}

  void column(std::string_view name, std::span<const double> values) override {
    into_.doubles[std::string(name)].assign(values.begin(), values.end());
  }
  void column(std::string_view name, std::span<const std::uint8_t> values) override {
    into_.bytes[std::string(name)].assign(values.begin(), values.end());
  }
  void progress(std::uint64_t, std::uint64_t) override {}

 private:
  Columns& into_;
};

struct Asked {
  json answer;
  Columns columns;
};

Asked ask(PageEngine& engine, const json& question) {
  Asked asked;
  Sink sink(asked.columns);
  const auto text = engine.answer(question.dump(), sink);
  CAPTURE(question.dump());
  REQUIRE(text);
  asked.answer = json::parse(*text);
  return asked;
}

PageEngine engine_of(std::unique_ptr<trace::ByteSource> source) {
  auto engine = PageEngine::open(std::move(source));
  REQUIRE(engine);
  return std::move(*engine);
}

PageEngine engine_of(std::span<const std::uint8_t> bytes) {
  return engine_of(std::make_unique<trace::MemorySource>("windows", bytes));
}

class RadioTrace {
 public:
  RadioTrace() { REQUIRE(golden::write_trace(SJ_GOLDEN "/radio.events", path())); }
  std::string path() const { return directory_.path("radio.sjt"); }
  std::unique_ptr<trace::ByteSource> source() const {
    auto source = files::open_source(path());
    REQUIRE(source);
    return std::move(*source);
  }

 private:
  test::TemporaryDirectory directory_;
};

// A LatSeq recording of packets through one place. One in a hundred takes twenty times as long.
std::string recording(std::size_t packets) {
  std::vector<std::pair<std::uint64_t, std::string>> lines;
  for (std::size_t packet = 0; packet < packets; ++packet) {
    const std::uint64_t in_us = 1'000'000 + packet * 100;
    const std::uint64_t stay_us = (packet % 100 == 50 ? 20 : 1) * (100 + packet * 7919 % 50);
    const std::string ids =
        " len100:rnti" + std::to_string(packet % 3) + ":sn" + std::to_string(packet) + "\n";
    const auto line = [&](std::uint64_t us, const char* point) {
      const std::string rest = std::to_string(us % 1'000'000);
      lines.emplace_back(us, std::to_string(us / 1'000'000) + "." +
                                 std::string(6 - rest.size(), '0') + rest + " D " + point + ids);
    };
    line(in_us, "in--a");
    line(in_us + stay_us, "a--out");
  }
  std::ranges::stable_sort(lines, {}, [](const auto& line) { return line.first; });
  std::string text;
  for (const auto& [us, line] : lines) text += line;
  return text;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

PageSummary summarised(PageEngine& engine, std::uint64_t most = kMuch) {
  auto summary = summary_of(engine, 1, most, [](double) {});
  REQUIRE(summary);
  REQUIRE(summary->windows.size() == 1);
  return std::move(*summary);
}

json answers_in(const PageSummary& summary) {
  return json::parse(summary.text)["traces"][0];
}

void has_the_answers(PageEngine& engine) {
  const json answers = answers_in(summarised(engine));
  for (const char* const call : {"about", "queues", "machine", "names", "profile"})
    CHECK(answers[call] == ask(engine, {{"call", call}}).answer);
  CHECK(answers["events"] == ask(engine, {{"call", "events"}, {"limit", 1000}}).answer);
  CHECK(answers["screen"]["report"] == ask(engine, {{"call", "report"}}).answer);
  CHECK(answers["screen"]["explanation"] == ask(engine, {{"call", "explain"}}).answer);
  REQUIRE(!answers["packets"].empty());
  for (json packet : answers["packets"]) {
    packet.erase("window");
    for (const auto& [kind, text] : packet["known"].items())
      CHECK(json::array({text}) ==
            ask(engine, {{"call", "ids"}, {"ids", json::array({packet["journey"]["id"]})}})
                .answer[kind]);
    CHECK(packet["known"].size() == 3);
    packet.erase("known");
    CHECK(packet == ask(engine, {{"call", "packet"}, {"id", packet["journey"]["id"]}}).answer);
  }
}

TEST_CASE("a summary has the engine's answers") {
  const RadioTrace radio;
  PageEngine of_radio = engine_of(radio.source());
  has_the_answers(of_radio);
  const std::string text = recording(3000);
  PageEngine of_recording = engine_of(bytes_of(text));
  has_the_answers(of_recording);
}

TEST_CASE("a summary's slowest packets are the slowest, and those that the explanation names") {
  const std::string text = recording(3000);
  PageEngine engine = engine_of(bytes_of(text));
  const json answers = answers_in(summarised(engine));
  Asked all = ask(engine, {{"call", "journeys"}});
  auto& latencies = all.columns.doubles["latency"];
  std::erase_if(latencies, [](double ns) { return std::isnan(ns); });
  std::ranges::sort(latencies, std::greater());
  const json& slowest = answers["screen"]["slowest"]["latency"];
  REQUIRE(slowest.size() == 20);
  for (std::size_t at = 0; at < slowest.size(); ++at) CHECK(slowest[at] == latencies[at]);
  std::set<std::uint64_t> told;
  for (const json& packet : answers["packets"])
    told.insert(packet["journey"]["id"].get<std::uint64_t>());
  for (const json& worst : answers["screen"]["explanation"]["worst"])
    CHECK(told.contains(worst["id"].get<std::uint64_t>()));
  for (const json& id : answers["screen"]["slowest"]["id"])
    CHECK(told.contains(id.get<std::uint64_t>()));
}

TEST_CASE("a summary's cells count each packet once, where it is") {
  const std::string text = recording(3000);
  PageEngine engine = engine_of(bytes_of(text));
  const json grid = answers_in(summarised(engine))["screen"]["grid"];
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> wanted;
  Asked all = ask(engine, {{"call", "journeys"}});
  const auto& starts = all.columns.doubles["start"];
  const auto& latencies = all.columns.doubles["latency"];
  double first = starts.front();
  double last = first;
  for (std::size_t row = 0; row < starts.size(); ++row) {
    if (std::isnan(latencies[row])) continue;
    first = std::min(first, starts[row]);
    last = std::max(last, starts[row]);
    ++wanted[{static_cast<std::uint64_t>(starts[row] / grid["column_ns"].get<double>()),
              static_cast<std::uint64_t>(std::log2(latencies[row]) *
                                         grid["rows_of_doubling"].get<double>())}];
  }
  const json& cells = grid["D"];
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> told;
  for (std::size_t at = 0; at < cells["count"].size(); ++at)
    told[{cells["column"][at].get<std::uint64_t>(), cells["row"][at].get<std::uint64_t>()}] =
        cells["count"][at].get<std::uint64_t>();
  CHECK(wanted.size() > 50);
  CHECK(told == wanted);
  CHECK(cells["first"] == first);
  CHECK(cells["last"] == last);
  CHECK(!grid.contains("U"));
}

TEST_CASE("a summary's groups have the percentiles of their packets") {
  const std::string text = recording(3000);
  PageEngine engine = engine_of(bytes_of(text));
  const json groups = answers_in(summarised(engine))["groups"];
  for (const auto& [by, number] : {std::pair("direction", 1U), std::pair("ue", 3U)}) {
    Asked all = ask(engine, {{"call", "journeys"}, {"by", by}});
    std::map<std::string, std::vector<double>> latencies;
    const auto& group = all.columns.doubles["group"];
    for (std::size_t row = 0; row < group.size(); ++row)
      if (group[row] >= 0)
        latencies[all.answer["groups"][static_cast<std::size_t>(group[row])]].push_back(
            all.columns.doubles["latency"][row]);
    REQUIRE(groups[by]["groups"].size() == number);
    CHECK(groups[by]["all"] == number);
    for (const json& told : groups[by]["groups"]) {
      auto& sorted = latencies[told["name"].get<std::string>()];
      std::ranges::sort(sorted);
      REQUIRE(told["count"] == sorted.size());
      CHECK(told["min_ns"] == sorted.front());
      CHECK(told["max_ns"] == sorted.back());
      CHECK(told["percentiles_ns"][0] == sorted[(sorted.size() + 1) / 2 - 1]);
      CHECK(told["points"].size() > 20);
    }
  }
}

std::set<std::pair<std::uint64_t, std::uint64_t>> events_of(const json& journey) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> events;
  for (const json& event : journey["events"])
    events.emplace(event["stream"].get<std::uint64_t>(), event["seq"].get<std::uint64_t>());
  return events;
}

// Each packet with a window is rebuilt of the events in the windows as it was of all.
void rebuilds_in_windows(PageEngine& engine) {
  const PageSummary summary = summarised(engine);
  PageEngine windows = engine_of(summary.windows[0]);
  std::map<std::set<std::pair<std::uint64_t, std::uint64_t>>, json> found;
  for (const double id : ask(windows, {{"call", "journeys"}}).columns.doubles["id"]) {
    const json packet =
        ask(windows, {{"call", "packet"}, {"id", static_cast<std::uint64_t>(id)}}).answer;
    found[events_of(packet["journey"])] = packet;
  }
  const json answers = answers_in(summary);
  std::size_t number = 0;
  for (const json& packet : answers["packets"]) {
    if (packet["window"].is_null()) continue;
    const auto again = found.find(events_of(packet["journey"]));
    REQUIRE(again != found.end());
    for (const char* const same : {"latency_ns", "start_ns", "segments", "retransmissions"})
      CHECK(again->second["journey"][same] == packet["journey"][same]);
    ++number;
  }
  CHECK(number == answers["packets"].size());
}

TEST_CASE("the slowest packets are rebuilt whole of the events around them") {
  const RadioTrace radio;
  PageEngine of_radio = engine_of(radio.source());
  rebuilds_in_windows(of_radio);
  const std::string text = recording(2000);
  PageEngine of_recording = engine_of(bytes_of(text));
  rebuilds_in_windows(of_recording);
}

TEST_CASE("where there is no room for all windows the slowest packets have one") {
  const std::string text = recording(5000);
  PageEngine engine = engine_of(bytes_of(text));
  const std::size_t all = summarised(engine).windows[0].size();
  const PageSummary some = summarised(engine, all - 1);
  CHECK(!some.windows[0].empty());
  CHECK(some.windows[0].size() < all);
  const json packets = answers_in(some)["packets"];
  CHECK(!packets.front()["window"].is_null());
  CHECK(packets.back()["window"].is_null());
  CHECK(std::ranges::is_partitioned(
      packets, [](const json& packet) { return !packet["window"].is_null(); }));
  const PageSummary none = summarised(engine, 0);
  CHECK(none.windows[0].empty());
  for (const json& packet : answers_in(none)["packets"]) CHECK(packet["window"].is_null());
}

// Two threads that run in turn, 40 rounds. Thread 103 lost its CPU before, and never gets it back.
std::vector<std::uint8_t> scheduled() {
  using namespace context::test;
  context::test::Trace trace;
  for (const std::uint32_t tid : {101U, 102U, 103U}) trace.is_thread(tid, "S");
  trace.streams.push_back(trace.streams.back());
  trace.streams.back().id = 2;
  trace.streams.back().cpu = 2;
  trace.on_switch(kOpen + 10, 2, 0, 0, 103);
  trace.on_switch(kOpen + 20, 2, 103, kWanted, 900);
  for (std::uint64_t round = 0; round < 40; ++round) {
    const std::uint64_t begin = kOpen + 100 + round * 1000;
    trace.on_switch(begin + 100, 0, 0, 0, 101);
    trace.wakeup(begin + 300, 102, 101, 0, 1);
    trace.on_switch(begin + 400, 1, 0, 0, 102);
    trace.on_switch(begin + 500, 0, 101, kSleeping, 0);
    trace.on_switch(begin + 700, 1, 102, kSleeping, 0);
  }
  trace.capture.close_ns = kOpen + 100 + 40 * 1000;
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("scheduled.sjt");
  auto writer = files::create_trace(path);
  REQUIRE(writer);
  REQUIRE(writer->write(trace.schema));
  model::Target target;
  target.pid = kPid;
  REQUIRE(writer->write(target));
  for (const model::Stream& stream : trace.streams) REQUIRE(writer->write(stream));
  REQUIRE(writer->write(trace.context));
  std::map<std::uint32_t, model::EventBatch> by_stream;
  for (std::size_t row = 0; row < trace.events.size(); ++row)
    by_stream[trace.events[row].stream].append(trace.events[row]);
  for (const auto& [stream, events] : by_stream) REQUIRE(writer->write(events));
  REQUIRE(writer->write(trace.capture));
  REQUIRE(writer->finish());
  auto source = files::open_source(path);
  REQUIRE(source);
  std::vector<std::uint8_t> bytes((*source)->size());
  REQUIRE((*source)->read_at(0, bytes));
  return bytes;
}

std::uint64_t events_in(const std::vector<std::uint8_t>& bytes) {
  const auto reader = trace::Reader::open(std::make_unique<trace::MemorySource>("cut", bytes));
  REQUIRE(reader);
  std::uint64_t events = 0;
  for (const trace::BlockInfo& block : reader->blocks()) events += block.events;
  return events;
}

TEST_CASE("the states of threads in a window are those of the whole trace") {
  const std::vector<std::uint8_t> whole = scheduled();
  PageEngine engine = engine_of(whole);
  constexpr std::uint64_t kOpen = context::test::kOpen;
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> stretches = {{5350, 7450},
                                                                          {20450, 21000}};
  auto asked = json::array();
  for (const auto& [from, to] : stretches)
    asked.push_back({{"from_ns", kOpen + from}, {"to_ns", kOpen + to}});
  Asked cut = ask(engine, {{"call", "windows"}, {"windows", asked}});
  const auto& bytes = cut.columns.bytes["trace"];
  PageEngine windows = engine_of(bytes);
  CHECK(events_in(bytes) < events_in(whole) / 2);
  for (const auto& [from, to] : stretches) {
    const json question = {{"call", "timeline"}, {"from_ns", from}, {"to_ns", to}};
    const Asked of_all = ask(engine, question);
    const Asked of_windows = ask(windows, question);
    CHECK(of_windows.answer == of_all.answer);
    CHECK(of_windows.columns.doubles == of_all.columns.doubles);
    CHECK(!of_all.columns.doubles.at("slice_row").empty());
  }
}

TEST_CASE("a trace is known by what is in it, and not by its name") {
  const RadioTrace radio;
  const auto identity = [](std::unique_ptr<trace::ByteSource> source) {
    auto reader = trace::Reader::open(std::move(source));
    REQUIRE(reader);
    return identity_of(*reader);
  };
  auto source = radio.source();
  std::vector<std::uint8_t> bytes(source->size());
  REQUIRE(source->read_at(0, bytes));
  const std::string known = identity(std::move(source));
  CHECK(identity(std::make_unique<trace::MemorySource>("copy", bytes)) == known);
  CHECK(identity(std::make_unique<trace::MemorySource>(
            "cut", std::span<const std::uint8_t>(bytes).first(bytes.size() - 200))) != known);
  const std::vector<std::uint8_t> other = scheduled();
  CHECK(identity(std::make_unique<trace::MemorySource>("other", other)) != known);
}

TEST_CASE("two traces have a summary each, and what differs") {
  const std::string slow = recording(3000);
  const std::string fast = recording(2000);
  PageEngine engine = engine_of(bytes_of(slow));
  REQUIRE(engine.compare_with(std::make_unique<trace::MemorySource>("recording", bytes_of(fast))));
  const auto summary = summary_of(engine, 2, kMuch, [](double done) {
    CHECK(done >= 0);
    CHECK(done <= 1);
  });
  REQUIRE(summary);
  const json told = json::parse(summary->text);
  REQUIRE(told["traces"].size() == 2);
  CHECK(told["compare"] == ask(engine, {{"call", "compare"}}).answer);
  for (std::size_t trace = 0; trace < 2; ++trace)
    CHECK(told["traces"][trace]["screen"]["report"] ==
          ask(engine, {{"call", "report"}, {"trace", trace}}).answer);
  CHECK(told["traces"][0]["about"]["identity"] != told["traces"][1]["about"]["identity"]);
}

}  // namespace
}  // namespace sojourn::page
