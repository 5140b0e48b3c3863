#include "tests/exports/hostile_trace.h"

#include <cstdint>
#include <vector>

#include "analysis/model/context_info.h"
#include "analysis/model/queue_info.h"
#include "analysis/trace/writer.h"
#include "tests/unit/exports/hostile_names.h"
#include "userspace/files/trace_file.h"

namespace sojourn::exports {

namespace {

constexpr std::int32_t kPid = 42;
constexpr std::uint64_t kSleeps = 1;  // of a switch

Result<model::Schema> schema() {
  model::Schema made;
  for (const char* const where : {"D in--mid", "D mid--out"}) {
    SJ_TRY(point, model::parse_point(where, "len:rnti:sn"));
    made.points.push_back(point);
  }
  made.points.push_back(model::queue_sample_point());
  SJ_TRY(turn, model::parse_point("I sched.switch", "prev.prev_pid.state.next.next_pid::"));
  turn.direction = model::Direction::kContext;
  made.points.push_back(turn);
  return made;
}

class Events {
 public:
  void add(std::uint64_t ts_ns, std::uint32_t tid, model::PointId point,
           const std::vector<std::uint64_t>& values) {
    batch_.append(
        {.ts_ns = ts_ns, .seq = seq_++, .stream = 0, .tid = tid, .point = point, .values = values});
  }
  const model::EventBatch& batch() const { return batch_; }

 private:
  model::EventBatch batch_;
  std::uint64_t seq_ = 0;
};

void add_packet(Events& events, std::uint32_t number) {
  const std::uint64_t begin_ns = 10'000 * std::uint64_t{number};
  events.add(begin_ns, number, 3, {0, 0, 0, number, kPid});
  events.add(begin_ns + 1000, number, 0, {number, 0x4601, number});
  const auto sample = model::QueueSample{.in = number, .queue = number}.values();
  events.add(begin_ns + 2000, number, 2, {sample.begin(), sample.end()});
  events.add(begin_ns + 3000, number, 1, {number, 0x4601, number});
  events.add(begin_ns + 4000, number, 3, {number, kPid, kSleeps, 0, 0});
}

}  // namespace

Result<void> write_hostile_trace(const std::string& path) {
  SJ_TRY(writer, files::create_trace(path));
  SJ_TRY(points, schema());
  SJ_CHECK(writer.write(points));
  model::Target target;
  target.pid = kPid;
  target.name = hostile_names().front();
  for (const std::string& word : hostile_names()) target.cmdline.push_back(word);
  SJ_CHECK(writer.write(target));
  SJ_CHECK(writer.write(model::Stream{.id = 0, .cpu = 0}));
  model::Context context;
  context.families.push_back({.name = "sched", .missing = {}});
  model::QueueChanges queues;
  Events events;
  std::uint32_t number = 0;
  for (const std::string& name : hostile_names()) {
    ++number;
    context.names.push_back(
        {.kind = model::NameKind::kThread, .id = number, .name = name, .pid = kPid, .state = {}});
    model::QueueChange& change = queues.emplace_back();
    change.about.id = number;
    change.about.name = name;
    add_packet(events, number);
  }
  SJ_CHECK(writer.write(events.batch()));
  SJ_CHECK(writer.write(context));
  SJ_CHECK(writer.write(queues));
  SJ_CHECK(writer.write(model::ClockPair{
      .monotonic_ns = 1, .realtime_ns = 1'700'000'000'000'000'001, .tai_ns = 0, .error_ns = 0}));
  model::Capture capture;
  capture.tracer = "sojourn test";
  capture.open_ns = 1;
  capture.close_ns = 1'000'000;
  capture.ended_by = "duration";
  SJ_CHECK(writer.write(capture));
  return writer.finish();
}

}  // namespace sojourn::exports
