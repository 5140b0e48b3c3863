#include "analysis/page/page_packet.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/causes/explainer.h"
#include "analysis/journeys/journey.h"
#include "analysis/present/causes/causes_content.h"
#include "analysis/present/journeys/journey_json.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/report/activity_log.h"
#include "analysis/report/lateness_analysis.h"
#include "analysis/trace/reader.h"

namespace sojourn::page {

using nlohmann::ordered_json;

namespace {

// Writes some journeys as text while the pass delivers them: their steps are not valid later.
class SomeJourneys : public journeys::Observer {
 public:
  struct Found {
    std::string text;
    std::vector<BlockCompanions::Event> events;
    std::vector<model::PointId> points;  // by event
    std::vector<std::uint64_t> times_ns;
  };

  SomeJourneys(const std::vector<std::uint64_t>& ids, const model::Schema& schema,
               present::CpuOfStream cpus, const std::vector<model::MergedHost>& hosts,
               const report::ActivityLog& activities)
      : schema_(schema), cpus_(std::move(cpus)), hosts_(hosts), activities_(activities) {
    for (const std::uint64_t id : ids) found_[id];
    missing_ = found_.size();
  }

  void on_journey(const journeys::Journey& journey) override {
    const auto wanted = found_.find(journey.id);
    if (wanted == found_.end()) return;
    Found& found = wanted->second;
    journeys::Journey shown = journey;
    const report::ActivityLog::Found meanwhile = activities_.around(journey);
    meanwhile.put_into(shown);
    found.text = present::journey_json(shown, schema_, cpus_, hosts_);
    for (const journeys::Step& step : journey.steps) {
      found.points.push_back(step.point);
      found.times_ns.push_back(step.ts_ns);
      found.events.push_back({.key = {.stream = step.stream, .seq = step.seq},
                              .parents = {step.parents.begin(), step.parents.end()}});
    }
    --missing_;
  }
  bool wants_places() const override { return false; }
  bool has_all() const { return missing_ == 0; }
  const std::map<std::uint64_t, Found>& found() const { return found_; }

 private:
  const model::Schema& schema_;
  present::CpuOfStream cpus_;
  const std::vector<model::MergedHost>& hosts_;
  const report::ActivityLog& activities_;
  std::map<std::uint64_t, Found> found_;
  std::size_t missing_ = 0;
};

// Returns for each parent of an event the share of the stays in that hop that took at most as long.
ordered_json shares_of_stays(const SomeJourneys::Found& packet, std::size_t event,
                             const HopTimes& hops) {
  auto shares = ordered_json::array();
  for (const std::uint32_t parent : packet.events[event].parents) {
    const std::uint64_t left_ns = std::max(packet.times_ns[event], packet.times_ns[parent]);
    const auto share = hops.at_most(packet.points[parent], packet.points[event],
                                    left_ns - packet.times_ns[parent]);
    shares.push_back(share ? ordered_json(*share) : ordered_json());
  }
  return shares;
}

ordered_json document_of(const pipeline::TraceInput& input, std::uint64_t id,
                         const SomeJourneys::Found& packet, const BlockCompanions& companions,
                         const HopTimes& hops) {
  auto document = ordered_json{{"journey", ordered_json::parse(packet.text, nullptr, false)},
                               {"why", ""},
                               {"parts", ordered_json::array()},
                               {"shared", companions.shared(id)},
                               {"joined", companions.joined(id)}};
  const auto threads = profile::thread_names(input.reader().context());
  std::size_t number = 0;
  for (auto& event : document["journey"]["events"]) {
    event["at_most"] = shares_of_stays(packet, number++, hops);
    const auto name = threads.find(event.value("tid", 0U));
    if (name != threads.end()) event["thread"] = name->second;
  }
  return document;
}

// Parts of one cause are summed up, so a picture of them needs to know when each was.
void add_stretches(const causes::Verdict& verdict, ordered_json& parts) {
  for (std::size_t at = 0; at < verdict.parts.size(); ++at)
    for (const causes::Stretch& stretch : verdict.parts[at].stretches)
      parts[at]["stretches"].push_back({stretch.begin_ns, stretch.end_ns});
}

}  // namespace

Result<std::vector<ordered_json>> PacketTeller::tell(Executor& executor,
                                                     pipeline::TraceInput& input,
                                                     const std::vector<std::uint64_t>& ids,
                                                     const pipeline::Progress& progress) {
  const trace::Reader& reader = input.reader();
  present::CpuOfStream cpus;
  for (const model::Stream& stream : reader.streams()) cpus[stream.id] = stream.cpu;
  report::ActivityLog activities(reader.schema());
  SomeJourneys some(ids, reader.schema(), std::move(cpus), reader.capture().hosts, activities);
  pipeline::TracePass pass(executor, input);
  pass.show([&](std::uint64_t done, std::uint64_t of) { progress(done, 2 * of); });
  if (!activities.is_empty()) pass.observe(activities);
  pass.observe(some);
  const bool knows_hops = hop_times_.has_value();
  if (!knows_hops) pass.observe(hop_times_.emplace(input.topology()));
  pass.consume([&](const model::EventBatch&) { return !knows_hops || !some.has_all(); });
  if (const auto ran = pass.run(); !ran) {
    if (!knows_hops) hop_times_.reset();
    return std::unexpected(ran.error());
  }
  BlockCompanions companions;
  for (const auto& [id, packet] : some.found()) {
    if (packet.text.empty()) return fail("no journey has the number {}", id);
    companions.add(id, packet.events);
  }
  std::map<std::uint64_t, causes::Verdict> verdicts;
  // With a deadline of 0 every packet is late, so that each one is explained.
  report::LatenessAnalysis analysis(
      input, {.down_ns = 0, .up_ns = 0},
      [&](const journeys::Journey& journey) { return some.found().contains(journey.id); },
      [&](const causes::Verdict& found) { verdicts.insert_or_assign(found.journey, found); });
  analysis.keep_stretches();
  SJ_CHECK(analysis.run(
      executor, [&](std::uint64_t done, std::uint64_t of) { progress(of + done, 2 * of); },
      &companions));
  std::vector<ordered_json> documents;
  for (const std::uint64_t id : ids) {
    auto& document = documents.emplace_back(
        document_of(input, id, some.found().at(id), companions, *hop_times_));
    const auto verdict = verdicts.find(id);
    if (verdict == verdicts.end()) continue;
    auto told = present::causes_json({.path = reader.path(),
                                      .target = reader.target(),
                                      .schema = reader.schema(),
                                      .topology = input.topology(),
                                      .names = analysis.names(),
                                      .tally = analysis.tally(),
                                      .found = analysis.found(),
                                      .deadlines = {},
                                      .worst = {verdict->second}});
    document["why"] = std::move(told["worst"][0]["why"]);
    document["parts"] = std::move(told["worst"][0]["parts"]);
    add_stretches(verdict->second, document["parts"]);
  }
  return documents;
}

}  // namespace sojourn::page
