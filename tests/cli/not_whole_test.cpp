// The words of every command that reads a trace for a file that lacks blocks: the same for the same
// traces, in the first line of a text for people or on stderr beside data.
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/model/profile_info.h"
#include "analysis/trace/writer.h"
#include "tests/cli/programs.h"
#include "userspace/files/trace_file.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

constexpr std::uint64_t kBlocks = 3;
constexpr std::uint64_t kPackets = 10;             // of a block
constexpr std::uint64_t kOfStream = kPackets * 2;  // events of a block of packets
constexpr std::uint64_t kPid = 100;
constexpr std::uint64_t kOpen = 1'000'000;

template <typename T>
T must(Result<T> result) {
  if (!result) FAIL(result.error().text());
  return std::move(*result);
}
void must(Result<void> result) {
  if (!result) FAIL(result.error().text());
}

model::Point kernel_point(const char* name, std::vector<const char*> fields) {
  model::Point point = {
      .direction = model::Direction::kContext, .src = name, .dest = {}, .fields = {}, .file = {}};
  for (const char* field : fields) point.fields.push_back({.name = field});
  return point;
}

model::Schema schema() {
  return {.points = {must(model::parse_point("D ip.in--rlc.tx", "len:rnti:sn")),
                     must(model::parse_point("D rlc.tx--phy.out.proc", "len:rnti:sn")),
                     kernel_point("sched.switch",
                                  {"prev", "prev_pid", "state", "next", "next_pid", "next_prio"}),
                     kernel_point("sched.wakeup", {"waker", "waker_pid", "from", "cpu", "ns"}),
                     model::profile_point()}};
}

// Packets through two points, and a thread that runs now and then and is sampled: something for
// each command. Stream 0 has three blocks, which the tests damage.
class Made {
 public:
  Made() {
    auto writer = must(files::create_trace(path()));
    must(writer.write(schema()));
    model::Target target;
    target.pid = kPid;
    target.name = "made";
    must(writer.write(target));
    must(writer.write(model::Stream{.id = 0, .engine = model::Engine::kRing, .tid = 101}));
    must(writer.write(model::Stream{.id = 1, .engine = model::Engine::kKernel, .cpu = 0}));
    for (std::uint64_t block = 0; block < kBlocks; ++block) {
      starts_.push_back(writer.bytes());
      must(writer.write(packets(block)));
    }
    starts_.push_back(writer.bytes());
    must(writer.write(doings()));
    must(writer.write(model::Context{.families = {{.name = "sched", .missing = ""}},
                                     .names = {{.kind = model::NameKind::kThread,
                                                .id = 101,
                                                .name = "mac",
                                                .pid = kPid,
                                                .state = "S"}}}));
    model::Frame frame;
    frame.id = 1;
    frame.module = "made";
    frame.calls = {{.function = "work", .file = "", .line = 1}};
    must(writer.write(model::Profile{
        .counters = {{.name = std::string(model::kProfile), .period = 1000, .missing = ""}},
        .frames = {frame},
        .stacks = {{.id = 1, .frames = {1}}}}));
    must(writer.write(model::ClockPair{.monotonic_ns = kOpen, .realtime_ns = kOpen}));
    model::Capture capture;
    capture.open_ns = kOpen;
    capture.close_ns = kOpen + 1'000'000;
    capture.ended_by = "duration";
    capture.stream_hits = {kBlocks * kOfStream, hits_of_kernel_};
    end_ = writer.bytes();
    must(writer.write(capture));
    must(writer.finish());
    bytes_ = test::contents(path());
  }

  std::string path() const { return directory_.path("run.sjt"); }

  void write_whole() const { test::write_contents(path(), bytes_); }
  // One bit of the second block's data is another one.
  void damage() const {
    std::string bytes = bytes_;
    bytes[starts_[2] - 1] ^= 1;
    test::write_contents(path(), bytes);
  }
  void lack_block(std::size_t block) const {
    test::write_contents(path(),
                         bytes_.substr(0, starts_[block]) + bytes_.substr(starts_[block + 1]));
  }
  // Whole blocks, as a killed capture leaves them: the last ones are missing.
  void cut_between_blocks() const { test::write_contents(path(), bytes_.substr(0, end_)); }
  void cut_within_last() const {
    test::write_contents(path(), bytes_.substr(0, starts_[kBlocks] - 5));
  }
  std::uint64_t bytes_of_block(std::size_t block) const {
    return starts_[block + 1] - starts_[block];
  }

 private:
  model::EventBatch packets(std::uint64_t block) const {
    model::EventBatch batch;
    for (std::uint64_t i = 0; i < kPackets; ++i) {
      const std::uint64_t number = block * kPackets + i;
      const std::uint64_t values[] = {100, 0x4601, number};
      for (const std::uint64_t later : {0U, 1U})
        batch.append({.ts_ns = kOpen + number * 10'000 + later * 5'000,
                      .seq = number * 2 + later,
                      .stream = 0,
                      .tid = 101,
                      .point = static_cast<model::PointId>(later),
                      .values = values});
    }
    return batch;
  }

  model::EventBatch doings() {
    model::EventBatch batch;
    const auto add = [&](std::uint64_t at_ns, model::PointId point,
                         std::vector<std::uint64_t> values) {
      batch.append({.ts_ns = kOpen + at_ns,
                    .seq = hits_of_kernel_++,
                    .stream = 1,
                    .tid = 101,
                    .point = point,
                    .values = values});
    };
    add(1'000, 2, {0, 0, 0, 101, kPid, 120});
    add(50'000, 4, {1, 1000});
    add(60'000, 2, {101, kPid, 1, 0, 0, 120});
    add(70'000, 3, {0, 0, 0, 0, 5});
    add(75'000, 2, {0, 0, 0, 101, kPid, 120});
    return batch;
  }

  test::TemporaryDirectory directory_;
  std::vector<std::uint64_t> starts_;  // of stream 0's blocks, and the end of the last one
  std::uint64_t end_ = 0;              // the end of the blocks that a killed capture had written
  std::uint64_t hits_of_kernel_ = 0;
  std::string bytes_;
};

const std::vector<std::vector<std::string>> kTexts = {{"report"},
                                                      {"report", "--by", "ue"},
                                                      {"report", "--by", "point"},
                                                      {"report", "--costs"},
                                                      {"report", "--cdf", "text"},
                                                      {"report", "--compat", "latseq"},
                                                      {"explain"},
                                                      {"queues"},
                                                      {"threads"},
                                                      {"profile"}};

const std::vector<std::vector<std::string>> kData = {
    {"report", "--json"},
    {"report", "--by", "ue", "--json"},
    {"report", "--by", "thread", "--json"},
    {"report", "--cdf", "csv"},
    {"report", "--cdf", "json"},
    {"report", "--compat", "latseq", "--json"},
    {"explain", "--json"},
    {"queues", "--json"},
    {"queues", "--items"},
    {"queues", "--dot"},
    {"queues", "--svg"},
    {"threads", "--json"},
    {"threads", "--dot"},
    {"profile", "--json"},
    {"profile", "--folded"},
    {"journeys"},
    {"journeys", "--json"},
    {"journeys", "--compat", "latseq"},
    {"events"},
    {"events", "--json"},
    {"export", "--to", "lseq"},
    {"export", "--to", "latseq-json"},
    {"export", "--to", "latseq-csv"},
    {"export", "--to", "csv"},
    {"export", "--to", "jsonl", "--what", "events"}};

test::Ended run_on(const Made& made, std::vector<std::string> command) {
  command.insert(command.begin() + 1, made.path());
  return sojourn(std::move(command));
}

// LatSeq has no lines for kernel events, so an export to it reports that as well.
std::string without_kernel(const std::string& words) {
  const std::regex line("[^\n]*events of the kernel and of queues left out[^\n]*\n");
  return std::regex_replace(words, line, "");
}

// `lacking`: in the words of all commands.
void check_all(const Made& made, const std::string& lacking) {
  const std::string line =
      fmt::format("{0} is not whole: {1}; next: sojourn check {0}\n", made.path(), lacking);
  for (const std::vector<std::string>& command : kTexts) {
    CAPTURE(command);
    const test::Ended ended = run_on(made, command);
    CHECK(ended.exit_code == 0);
    CHECK(ended.out.starts_with(line));
    CHECK_FALSE(ended.out.contains("none lost"));
    CHECK(ended.err.empty());
  }
  for (const std::vector<std::string>& command : kData) {
    CAPTURE(command);
    const test::Ended ended = run_on(made, command);
    CHECK(ended.exit_code == 0);
    CHECK(without_kernel(ended.err) == line);
    CHECK_FALSE(ended.out.contains("not whole"));
  }
  const test::Ended pasted = run_on(made, {"report", "--paste"});
  CHECK(pasted.out.contains("\n| file | not whole: " + lacking + " |\n"));
  CHECK(pasted.out.contains("```text\nrun.sjt is not whole: " + lacking));
}

json file_of(const Made& made, std::vector<std::string> command) {
  return json::parse(run_on(made, std::move(command)).out)["file"];
}

const std::vector<std::vector<std::string>> kObjects = {
    {"report", "--json"},        {"report", "--by", "ue", "--json"},
    {"report", "--cdf", "json"}, {"explain", "--json"},
    {"queues", "--json"},        {"threads", "--json"},
    {"profile", "--json"}};

TEST_CASE("no command reports missing parts of a whole file") {
  const Made made;
  CHECK(output_of({"check", made.path()}).ends_with("\nwhole, and nothing was lost\n"));
  for (const auto& commands : {kTexts, kData})
    for (const std::vector<std::string>& command : commands) {
      CAPTURE(command);
      const test::Ended ended = run_on(made, command);
      CHECK(ended.exit_code == 0);
      CHECK(without_kernel(ended.err).empty());
      CHECK_FALSE(ended.out.empty());
      CHECK_FALSE(ended.out.contains("not whole"));
    }
  CHECK(run_on(made, {"report"}).out.contains(" events, none lost"));
  CHECK(run_on(made, {"threads"}).out.contains(" events, none lost"));
  for (const std::vector<std::string>& command : kObjects)
    CHECK(file_of(made, command) == json({{"whole", true},
                                          {"damaged_places", 0},
                                          {"damaged_bytes", 0},
                                          {"missing", 0},
                                          {"ended_in_order", true}}));
}

TEST_CASE("every command reports a block damaged in the middle first, in the same words") {
  const Made made;
  made.damage();
  const std::string lacking =
      fmt::format("1 place damaged ({} bytes), {} events missing that nobody counted as lost",
                  made.bytes_of_block(1), kOfStream);
  check_all(made, lacking);
  CHECK(run_on(made, {"report"}).out.contains(", 20 lost"));
  CHECK(run_on(made, {"threads"}).out.contains(", 45 events, 20 lost"));
  for (const std::vector<std::string>& command : kObjects) {
    CAPTURE(command);
    CHECK(file_of(made, command) == json({{"whole", false},
                                          {"damaged_places", 1},
                                          {"damaged_bytes", made.bytes_of_block(1)},
                                          {"missing", kOfStream},
                                          {"ended_in_order", true}}));
  }
  CHECK(json::parse(run_on(made, {"report", "--json"}).out)["lost"] == kOfStream);
}

TEST_CASE(
    "a file that lacks whole blocks, and is damaged nowhere, is not said to have lost nothing") {
  const Made made;
  const auto block = GENERATE(0UZ, 1UZ, 2UZ);
  CAPTURE(block);
  made.lack_block(block);
  check_all(made, "20 events missing that nobody counted as lost");
  CHECK(sojourn({"check", made.path()}).err ==
        "sojourn: " + made.path() + ": 20 events neither in the trace nor counted as lost\n");
  CHECK(run_on(made, {"report"}).out.contains(", 20 lost"));
  CHECK(file_of(made, {"report", "--json"})["missing"] == kOfStream);
}

TEST_CASE("a file that was cut shows that its last events are not known") {
  const Made made;
  SECTION("between two blocks") {
    made.cut_between_blocks();
    check_all(made, "the capture did not end in order, so what came last may be missing");
    CHECK(run_on(made, {"report"}).out.contains("losses unknown"));
    CHECK(run_on(made, {"threads"}).out.contains("losses unknown"));
    CHECK(file_of(made, {"report", "--json"})["ended_in_order"] == false);
  }
  SECTION("within a block") {
    made.cut_within_last();
    const test::Ended ended = run_on(made, {"report"});
    CHECK(ended.out.starts_with(made.path() + " is not whole: 1 place damaged ("));
    CHECK(ended.out.contains("the capture did not end in order"));
    CHECK(ended.out.contains("losses unknown"));
  }
}

TEST_CASE("a command that has nothing to show also reports that the file is not whole") {
  const Made made;
  made.cut_between_blocks();
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"threads", "--where", "time > 5min"}, {"profile", "--hop", "nowhere"}}) {
    CAPTURE(command);
    const test::Ended ended = run_on(made, command);
    CHECK(ended.exit_code == 1);
    CHECK(ended.err.starts_with(made.path() + " is not whole: the capture did not end in order"));
    CHECK(ended.err.contains("\nsojourn: " + made.path() + ": no "));
  }
}

}  // namespace
}  // namespace sojourn::cli_tests
