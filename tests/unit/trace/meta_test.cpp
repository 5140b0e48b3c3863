// Everything that is not an event comes back as it was written.
#include "analysis/trace/meta.h"

#include <cstdint>
#include <limits>
#include <string_view>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/trace/support.h"
#include "userspace/files/trace_file.h"

namespace sojourn::trace {
namespace {

using namespace test;

constexpr auto kMax64 = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("target, host, streams, clocks, capture and ledger come back") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  auto writer = files::create_trace(path);
  REQUIRE(error_of(writer) == "");
  REQUIRE(error_of(writer->write(some_schema())) == "");
  REQUIRE(error_of(writer->write(model::Target{.pid = 4242,
                                               .name = "nr-softmodem",
                                               .exe = "/opt/gnb/nr \"softmodem\"",
                                               .cmdline = {"nr", "-O", "", "a b"},
                                               .build_id = "00ff"})) == "");
  REQUIRE(error_of(writer->write(model::Host{.name = "ran1",
                                             .kernel = "6.18.44",
                                             .machine = "aarch64",
                                             .cpu_model = "Neoverse",
                                             .cpus = 128,
                                             .measured = R"({"form": "quick"})"})) == "");
  const std::vector<model::Stream> streams = {
      {.id = 0, .engine = model::Engine::kBpf, .cpu = 0, .tid = -1},
      {.id = 4'000'000'000, .engine = model::Engine::kRing, .cpu = -1, .tid = 77, .pid = 76}};
  for (const model::Stream& stream : streams) REQUIRE(error_of(writer->write(stream)) == "");
  const std::vector<model::ClockPair> clocks = {
      {.monotonic_ns = 1, .realtime_ns = kMax64, .tai_ns = 3, .error_ns = 4},
      {.monotonic_ns = kMax64, .realtime_ns = 0, .tai_ns = 0, .error_ns = 0}};
  for (const model::ClockPair& clock : clocks) REQUIRE(error_of(writer->write(clock)) == "");
  const model::Ledger ledger = {
      {.stream = 1, .point = 3, .cause = model::LossCause::kWriterBehind, .count = kMax64},
      {.stream = 0, .point = 0, .cause = model::LossCause::kRingFull, .count = 1}};
  REQUIRE(error_of(writer->write(model::Ledger{{.count = 1}})) == "");
  REQUIRE(error_of(writer->write(ledger)) == "");
  model::Capture capture;
  capture.tracer = "sojourn 0.1.0";
  capture.engine = model::Engine::kBpf;
  capture.attach = "uprobe_multi";
  capture.sites = 35;
  capture.open_ns = 100;
  capture.close_ns = 200;
  capture.ended_by = "duration";
  capture.stream_hits = {0, kMax64};
  capture.stamp_delay_ns = 297;
  capture.tracer_rss_bytes = 80'000'000;
  capture.hit_cost_ps = {429'000, 0, 10'114};
  capture.hit_spread_ps = {4000, 0, 1};
  capture.shed = {{.point = 2, .from_ns = 120, .until_ns = 150}};
  capture.unarmed = {{.pid = 9, .point = model::kNoPoint, .from_ns = 1, .until_ns = 130},
                     {.pid = 10, .point = 1, .from_ns = 0, .until_ns = 2}};
  capture.unplaced = {"D b--c"};
  capture.tracer_cpu_ns = 5;
  capture.target_cpu_ns = 6;
  REQUIRE(error_of(writer->write(model::Capture())) == "");
  REQUIRE(error_of(writer->write(capture)) == "");
  REQUIRE(error_of(writer->finish()) == "");

  const auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().empty());
  CHECK(reader->path() == path);
  CHECK(reader->schema() == some_schema());
  CHECK(reader->target().pid == 4242);
  CHECK(reader->target().name == "nr-softmodem");
  CHECK(reader->target().exe == "/opt/gnb/nr \"softmodem\"");
  CHECK(reader->target().cmdline == std::vector<std::string>{"nr", "-O", "", "a b"});
  CHECK(reader->target().build_id == "00ff");
  CHECK(reader->host().name == "ran1");
  CHECK(reader->host().kernel == "6.18.44");
  CHECK(reader->host().machine == "aarch64");
  CHECK(reader->host().cpu_model == "Neoverse");
  CHECK(reader->host().cpus == 128);
  CHECK(reader->host().measured == R"({"form": "quick"})");
  CHECK(reader->capture().stamp_delay_ns == 297);
  CHECK(reader->capture().tracer_rss_bytes == 80'000'000);
  CHECK(reader->capture().hit_cost_ps == capture.hit_cost_ps);
  CHECK(reader->capture().hit_spread_ps == capture.hit_spread_ps);
  CHECK(reader->capture().shed == capture.shed);
  CHECK(reader->capture().unarmed == capture.unarmed);
  CHECK(reader->capture().unplaced == capture.unplaced);
  CHECK(reader->streams() == streams);
  CHECK(reader->clocks() == clocks);
  CHECK(reader->ledger() == ledger);
  CHECK(reader->capture().tracer == "sojourn 0.1.0");
  CHECK(reader->capture().attach == "uprobe_multi");
  CHECK(reader->capture().sites == 35);
  CHECK(reader->capture().open_ns == 100);
  CHECK(reader->capture().close_ns == 200);
  CHECK(reader->capture().ended_by == "duration");
  CHECK(reader->capture().stream_hits == std::vector<std::uint64_t>{0, kMax64});
  CHECK(reader->capture().tracer_cpu_ns == 5);
  CHECK(reader->capture().target_cpu_ns == 6);
}

// The JSON is a part of the file format: members may be added, but not changed.
TEST_CASE("each kind of metadata is read from the JSON that it always was, and written so") {
  const auto same = [](auto about, std::string_view text) {
    REQUIRE(error_of(from_json({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                               about)) == "");
    CHECK(to_json(about) == text);
  };
  same(model::Schema(),
       R"({"points":[{"dest":"rlc.rx","dir":"U","fields":[{"bytes":4,"name":"len",)"
       R"("role":"property","signed":false},{"bytes":2,"name":"rnti","role":"global",)"
       R"("signed":true},{"address":true,"bytes":8,"name":"bb","role":"local",)"
       R"("signed":false}],"file":"/opt/gnb","src":"mac.rx"}]})");
  same(model::Target(),
       R"({"build_id":"00ff","cmdline":["gnb","-O"],"exe":"/opt/gnb","name":"gnb","parent":6,)"
       R"("pid":7,"since_ns":1,"until_ns":2})");
  same(
      model::Host(),
      R"({"cpu_model":"Xeon","cpus":4,"kernel":"6.18","machine":"x86_64","measured":"","name":"ran1"})");
  same(model::Stream(), R"({"cpu":-1,"engine":"ring","id":3,"pid":76,"tid":77})");
  same(model::ClockPair(), R"({"error_ns":4,"monotonic_ns":1,"realtime_ns":2,"tai_ns":3})");
  same(model::Capture(),
       R"({"attach":"uprobe_multi","close_ns":3,"counter_offsets":[{"ahead_ns":-21,"cpu":22,)"
       R"("error_ns":23}],"counters_corrected":true,"ended_by":"duration","engine":"kernel",)"
       R"("events_of_unknown_cpu":24,)"
       R"("hit_cost_ps":[13],"hit_spread_ps":[20],)"
       R"("hosts":[{"bounds":[{"error_ns":29,"from_ns":28}],"first_stream":25,)"
       R"("rate_error_ppb":27,"stamp_error_ns":26}],)"
       R"("longest_starved_ns":12,"open_ns":2,)"
       R"("shed":[{"from_ns":15,"point":14,"until_ns":16}],"sites":1,)"
       R"("stamp_delay_ns":10,"stamp_error_ns":9,)"
       R"("stream_first":[6],"stream_hits":[4,5],"target_cpu_ns":8,"tracer":"sojourn 0.1.0",)"
       R"("tracer_cpu_ns":7,"tracer_rss_bytes":11,"unarmed":[{"from_ns":19,"pid":17,)"
       R"("point":18,"until_ns":20}],"unplaced":["D a--b"]})");
  same(model::Ledger(), R"([{"cause":7,"count":3,"point":2,"stream":1}])");
  same(model::Context(),
       R"({"families":[{"missing":"no tracepoint","name":"irq"}],"names":[{"id":1,)"
       R"("kind":"thread","name":"mac","pid":2,"state":"S"},{"id":202,"kind":"syscall",)"
       R"("name":"futex"}]})");
  same(model::Profile(),
       R"({"counters":[{"missing":"?","name":"cycles","period":2,"user_only":true}],)"
       R"("frames":[{"address":2,"build_id":"ff","calls":[{"file":"f.cpp","function":"f",)"
       R"("line":3},{"function":"g"}],"id":1,"kernel":true,"module":"/opt/gnb"},{"address":3,)"
       R"("id":2,"module":"m"}],"stacks":[{"frames":[2,1],"id":4}]})");
  same(model::QueueChanges(),
       R"([{"after_ns":2,"capacity":7,"consumer":{"instance":-1,"pid":0,"stage":""},)"
       R"("event":"appeared","group":6,"id":3,"kind":"between processes","name":"rlc",)"
       R"("producer":{"instance":4,"pid":5,"stage":"mac"},"ts_ns":1}])");
  same(model::Sampling(),
       R"({"cpu":2,"cpu_ns":9,"held_back":5,"longest_ns":8,"looks":6,"missed":4,)"
       R"("mode":"adaptive","pass_ns":7,"passes":3,"period_ns":1,"queues":[{"id":11,)"
       R"("looks":12,"unsettled":13}],"refused":10})");
  same(model::Energy(),
       R"({"idle_states":[{"cpus":4,"host":"du","id":3,"name":"C6"}],)"
       R"("missing":[{"host":"du","what":"perf","why":"no events"}],"period_ns":1,)"
       R"("policies":[{"cpus":"0-3","governor":"powersave","host":"du","id":5,)"
       R"("least_khz":6,"most_khz":7}],"zones":[{"gone_ns":10,"host":"du","id":8,)"
       R"("missing":"vanished","name":"dram","package":"package-0","place":"intel-rapl:0:1",)"
       R"("range":9,"source":"powercap"},{"id":11,"name":"psys","package":"",)"
       R"("place":"intel-rapl:2","range":12,"source":"powercap"}]})");
}

TEST_CASE("the newest word on energy counts") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  auto writer = files::create_trace(path);
  REQUIRE(error_of(writer) == "");
  model::Energy energy;
  CHECK_FALSE(energy.was_asked_for());
  energy.period_ns = 100;
  energy.zones.resize(2);
  REQUIRE(error_of(writer->write(energy)) == "");
  energy.zones[1].gone_ns = 7;
  energy.zones[1].missing = "vanished";
  REQUIRE(error_of(writer->write(energy)) == "");
  REQUIRE(error_of(writer->finish()) == "");
  const auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  CHECK(reader->energy() == energy);
  CHECK(reader->energy().was_asked_for());
}

TEST_CASE("a trace has every target that it describes, with the newest description") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  {
    auto writer = files::create_trace(path);
    REQUIRE(error_of(writer) == "");
    REQUIRE(error_of(writer->finish()) == "");
    CHECK(files::open_trace(path)->targets().size() == 1);
    CHECK(files::open_trace(path)->target().pid == 0);
  }
  auto writer = files::create_trace(path);
  REQUIRE(error_of(writer) == "");
  const auto tell = [&](std::int32_t pid, const char* name, std::uint64_t since_ns,
                        std::uint64_t until_ns) {
    model::Target target;
    target.pid = pid;
    target.name = name;
    target.parent = since_ns == 0 ? 0 : 2;
    target.since_ns = since_ns;
    target.until_ns = until_ns;
    REQUIRE(error_of(writer->write(target)) == "");
  };
  tell(1, "cu", 0, 0);
  tell(2, "du", 0, 0);
  tell(1, "cu", 0, 50);
  tell(1, "other", 60, 0);  // the number is used again
  REQUIRE(error_of(writer->finish()) == "");
  const auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  REQUIRE(reader->targets().size() == 3);
  CHECK(reader->target().name == "cu");
  CHECK(reader->targets()[0].until_ns == 50);
  CHECK(reader->targets()[1].name == "du");
  CHECK(reader->targets()[2].name == "other");
  CHECK(reader->targets()[2].parent == 2);
  CHECK(reader->targets()[2].since_ns == 60);
}

TEST_CASE("a target's words that are no UTF-8 do not make its trace unreadable") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  auto writer = files::create_trace(path);
  REQUIRE(error_of(writer) == "");
  model::Target target;
  target.name = "gn\xff\xfe";
  target.cmdline = {"\xc3"};
  REQUIRE(error_of(writer->write(target)) == "");
  REQUIRE(error_of(writer->finish()) == "");
  const auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().empty());
  CHECK(reader->target().name.starts_with("gn"));
}

TEST_CASE("context adds up over blocks, and the newest word on a family counts") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  auto writer = files::create_trace(path);
  REQUIRE(error_of(writer) == "");
  REQUIRE(error_of(writer->write(some_schema())) == "");
  const model::ContextName worker = {
      .kind = model::NameKind::kThread, .id = 7, .name = "worker", .pid = 5, .state = "S"};
  const model::ContextName call = {
      .kind = model::NameKind::kSyscall, .id = 202, .name = "futex", .pid = 0, .state = ""};
  REQUIRE(error_of(writer->write(model::Context{
              .families = {{.name = "sched", .missing = ""}, {.name = "irq", .missing = ""}},
              .names = {worker}})) == "");
  REQUIRE(error_of(writer->write(model::Context{
              .families = {{.name = "irq", .missing = "no tracepoint"}}, .names = {call}})) == "");
  REQUIRE(error_of(writer->finish()) == "");

  auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().empty());
  CHECK(reader->context().families ==
        std::vector<model::ContextFamily>{{.name = "sched", .missing = ""},
                                          {.name = "irq", .missing = "no tracepoint"}});
  CHECK(reader->context().names == std::vector{worker, call});
}

TEST_CASE("a context whose members are of the wrong kind is refused whole") {
  model::Context context;
  for (const char* json :
       {"[]", R"({"names": {}})", R"({"names": [7]})", R"({"families": [{"name": 7}]})",
        R"({"families": [{"name": "sched"}], "names": [{"kind": "thread", "id": -1}]})"}) {
    CAPTURE(json);
    const std::string_view text(json);
    CHECK(!from_json({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, context));
    CHECK(context.empty());
  }
}

TEST_CASE("names of kinds that a later version knows are skipped") {
  model::Context context;
  const std::string_view text = R"({"names": [{"kind": "cgroup", "id": 1, "name": "x"}]})";
  CHECK(from_json({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, context));
  CHECK(context.names.empty());
}

TEST_CASE("a profile adds up over blocks, and the newest word on a counter counts") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  auto writer = files::create_trace(path);
  REQUIRE(error_of(writer) == "");
  REQUIRE(error_of(writer->write(some_schema())) == "");
  const model::Counter cycles = {
      .name = "cycles", .period = 4'000'037, .user_only = true, .missing = ""};
  const model::Frame bare = {.id = 1,
                             .module = "/usr/bin/gnb",
                             .build_id = "00ff",
                             .address = kMax64,
                             .is_kernel = false,
                             .calls = {}};
  model::Frame named = bare;
  named.calls = {{.function = "copy(int)", .file = "", .line = 0},
                 {.function = "send", .file = "tx.cpp", .line = 12}};
  const model::Frame kernel = {
      .id = 2, .module = "[kernel]", .build_id = "", .address = 3, .is_kernel = true, .calls = {}};
  const model::Stack stack = {.id = 4, .frames = {2, 1, 1}};
  REQUIRE(error_of(writer->write(model::Profile{
              .counters = {{.name = "cycles", .missing = "?"}}, .frames = {bare}, .stacks = {}})) ==
          "");
  REQUIRE(error_of(writer->write(model::Profile{
              .counters = {cycles}, .frames = {kernel, named}, .stacks = {stack}})) == "");
  REQUIRE(error_of(writer->finish()) == "");

  const auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().empty());
  CHECK(reader->profile().counters == std::vector{cycles});
  CHECK(reader->profile().frames == std::vector{bare, kernel, named});
  CHECK(reader->profile().stacks == std::vector{stack});
}

TEST_CASE("a profile whose members are of the wrong kind is refused whole") {
  for (const char* json :
       {"[]", R"({"frames": {}})", R"({"frames": [7]})", R"({"stacks": [{"frames": [-1]}]})",
        R"({"stacks": [{"frames": [4294967296]}]})", R"({"counters": [{"name": 7}]})",
        R"({"frames": [{"id": 1, "calls": [{"line": "x"}]}]})",
        R"({"counters": [{"name": "cycles"}], "frames": [{"id": -1}]})"}) {
    CAPTURE(json);
    model::Profile profile;
    const std::string_view text(json);
    CHECK(!from_json({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, profile));
    CHECK(profile.empty());
  }
}

}  // namespace
}  // namespace sojourn::trace
