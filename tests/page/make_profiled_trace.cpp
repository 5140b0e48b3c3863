// Writes a trace with a profile: two threads that work on packets in two places, and sampled stacks
// of their work there and in between. Usage: make-profiled-trace FILE.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/event.h"
#include "analysis/model/profile_info.h"
#include "analysis/model/schema.h"
#include "analysis/trace/writer.h"
#include "userspace/files/trace_file.h"

namespace sojourn {
namespace {

constexpr std::uint64_t kOpen = 1'000'000;
constexpr std::uint64_t kRound = 100'000;
constexpr std::uint64_t kRounds = 40;
constexpr std::uint64_t kPeriod = 1'001'001;
enum : model::PointId { kIn, kMiddle, kOut, kSample };
enum : std::uint32_t { kPackets, kSamples };  // streams

model::Profile profile() {
  const auto frame = [](std::uint32_t id, std::vector<const char*> calls, bool is_kernel = false) {
    model::Frame made = {.id = id,
                         .module = is_kernel ? "[kernel]" : "/opt/bin/gnb",
                         .build_id = {},
                         .address = 0x1000 + id,
                         .is_kernel = is_kernel,
                         .calls = {}};
    for (const char* const call : calls)
      made.calls.push_back({.function = call, .file = {}, .line = 0});
    return made;
  };
  return {.counters = {{.name = "profile", .period = kPeriod, .user_only = false, .missing = {}}},
          .frames = {frame(1, {"main"}), frame(2, {"Pdcp::encrypt(Packet&)"}),
                     frame(3, {"copy_from_user"}, true), frame(4, {"inlined<int>", "Rlc::segment"}),
                     frame(5, {"</script><b>hostile;name"}), frame(6, {})},
          .stacks = {{.id = 1, .frames = {2, 1}},
                     {.id = 2, .frames = {3, 2, 1}},
                     {.id = 3, .frames = {4, 1}},
                     {.id = 4, .frames = {5, 4, 4, 1}},
                     {.id = 5, .frames = {6}}}};
}

// Each thread has every other packet: samples in both places, and between packets.
void add_events(model::EventBatch& packets, model::EventBatch& samples) {
  const auto hit = [&](std::uint64_t ts_ns, std::uint32_t tid, model::PointId point,
                       std::vector<std::uint64_t> values) {
    auto& to = point == kSample ? samples : packets;
    to.append({.ts_ns = ts_ns,
               .seq = to.size(),
               .stream = point == kSample ? kSamples : kPackets,
               .tid = tid,
               .point = point,
               .values = values});
  };
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const std::uint64_t begin = kOpen + round * kRound;
    const auto tid = static_cast<std::uint32_t>(101 + round % 2);
    const auto sample = [&](std::uint64_t after, std::uint64_t stack) {
      hit(begin + after, tid, kSample, {stack, kPeriod + stack});
    };
    hit(begin + 1000, tid, kIn, {round});
    sample(2000, 1);
    if (round % 3 == 0) sample(2500, 2);
    hit(begin + 3000, tid, kMiddle, {round});
    sample(4000, 3);
    if (round % 4 == 0) sample(4500, 4);
    hit(begin + 5000, tid, kOut, {round});
    if (round % 5 == 0) sample(6000, 5);
    if (round % 7 == 0) sample(7000, 0);  // no stack
  }
}

Result<void> write(const std::string& path) {
  SJ_TRY(writer, files::create_trace(path));
  model::Schema schema;
  for (const char* const name : {"D ip.in--pdcp", "D pdcp--rlc", "D rlc--ip.out"}) {
    SJ_TRY(point, model::parse_point(name, "::psn"));
    schema.points.push_back(std::move(point));
  }
  schema.points.push_back(model::profile_point());
  SJ_CHECK(writer.write(schema));
  model::Target target;
  target.pid = 100;
  target.name = "made";
  SJ_CHECK(writer.write(target));
  SJ_CHECK(writer.write(model::Stream{.id = kPackets, .engine = model::Engine::kBpf, .cpu = 0}));
  SJ_CHECK(writer.write(model::Stream{.id = kSamples, .engine = model::Engine::kKernel, .cpu = 1}));
  model::Context context;
  for (const std::uint64_t tid : {101U, 102U})
    context.names.push_back({.kind = model::NameKind::kThread,
                             .id = tid,
                             .name = tid == 101 ? "dl-worker" : "<i>ul</i>",
                             .pid = 100,
                             .state = {}});
  SJ_CHECK(writer.write(context));
  SJ_CHECK(writer.write(profile()));
  model::EventBatch packets;
  model::EventBatch samples;
  add_events(packets, samples);
  SJ_CHECK(writer.write(packets));
  SJ_CHECK(writer.write(samples));
  model::Capture capture;
  capture.open_ns = kOpen;
  capture.close_ns = kOpen + kRounds * kRound;
  SJ_CHECK(writer.write(capture));
  return writer.finish();
}

}  // namespace
}  // namespace sojourn

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: make-profiled-trace FILE\n");
    return 2;
  }
  const auto written = sojourn::write(argv[1]);
  if (written) return 0;
  fmt::print(stderr, "make-profiled-trace: {}\n", written.error().text());
  return 1;
}
