#include "userspace/scripts/journey_script.h"

#include <algorithm>
#include <utility>

namespace sojourn::scripts {

Result<std::unique_ptr<JourneyScript>> JourneyScript::create(const ScriptSource& source,
                                                             const model::Schema& before,
                                                             std::uint64_t open_ns,
                                                             Worker::Say say) {
  // The worker for events has already printed the output of loading.
  SJ_TRY(worker, Worker::start(source, before, open_ns, nullptr));
  worker->say(std::move(say));
  return std::unique_ptr<JourneyScript>(
      new JourneyScript(source.name, before.points.size(), std::move(worker)));
}

bool JourneyScript::operator()(const journeys::Journey& journey) {
  if (!error_.empty()) return false;
  const auto kept = keeps(journey);
  if (kept) return *kept;
  error_ = kept.error().text();
  worker_.reset();
  return false;
}

Result<bool> JourneyScript::keeps(const journeys::Journey& journey) {
  SJ_CHECK(fill_steps(journey));
  Exchange& exchange = worker_->exchange();
  exchange.journey = {.id = journey.id,
                      .start_ns = journey.start_ns,
                      .end_ns = journey.end_ns,
                      .last_out_ns = journey.last_out_ns,
                      .latency_ns = journey.latency_ns(),
                      .segments = journey.segments,
                      .retransmissions = journey.retransmissions,
                      .harq_retransmissions = journey.harq_retransmissions,
                      .drops = journey.drops,
                      .direction = static_cast<std::uint8_t>(journey.direction),
                      .outcome = static_cast<std::uint8_t>(journey.outcome),
                      .ambiguous = journey.ambiguous ? std::uint8_t{1} : std::uint8_t{0}};
  SJ_CHECK(worker_->ask(Ask::kJourney));
  return exchange.keep[0] != 0;
}

Result<void> JourneyScript::fill_steps(const journeys::Journey& journey) {
  Exchange& exchange = worker_->exchange();
  const auto too_long = [&] {
    return fail("{}: journey {} has {} steps: a script sees {} of one at most", name_, journey.id,
                journey.steps.size(), kRows);
  };
  if (journey.steps.size() > kRows) return too_long();
  std::uint32_t rows = 0;
  std::uint32_t values = 0;
  std::uint32_t stays = 0;
  for (const journeys::Step& step : journey.steps) {
    if (step.point >= points_) return fail("{}: a step of no point", name_);
    exchange.ts_ns[rows] = step.ts_ns;
    exchange.tid[rows] = step.tid;
    exchange.stream[rows] = step.stream;
    exchange.point[rows] = step.point;
    exchange.first_value[rows] = values;
    const std::size_t count = std::min(step.values.size(), model::kMaxFields);
    std::copy_n(step.values.begin(), count, exchange.values + values);
    values += static_cast<std::uint32_t>(count);
    ++rows;
    for (const std::uint32_t parent : step.parents) {
      if (stays == kRows) return too_long();
      const journeys::Step& from = journey.steps[parent];
      exchange.stay[stays++] = {
          .ns = step.ts_ns - from.entered_ns, .from = from.point, .to = step.point};
    }
  }
  exchange.first_value[rows] = values;
  exchange.rows = rows;
  exchange.stays = stays;
  return {};
}

}  // namespace sojourn::scripts
