#include "userspace/capture/post_mortem/orphaned_trace.h"

#include <algorithm>
#include <optional>

#include "analysis/trace/writer.h"
#include "userspace/capture/output/event_filter_stage.h"
#include "userspace/files/trace_file.h"
#include "userspace/tracee/host.h"

namespace sojourn::capture {

namespace {

// The points of all processes, equal ones once, and each process's ids for them.
struct Numbered {
  model::Schema schema;
  std::vector<std::vector<model::PointId>> ids;
};

Result<Numbered> number_points(const std::vector<OrphanedSession>& sessions) {
  Numbered all;
  auto& points = all.schema.points;
  for (const OrphanedSession& session : sessions) {
    auto& ids = all.ids.emplace_back();
    ids.reserve(session.points.schema.points.size());
    for (const model::Point& point : session.points.schema.points) {
      const auto known = std::ranges::find(points, point);
      ids.push_back(static_cast<model::PointId>(known - points.begin()));
      if (known == points.end()) points.push_back(point);
    }
  }
  if (points.size() > model::kMaxPoints) return fail("more than {} points", model::kMaxPoints);
  return all;
}

RingSites sites_of(const ArenaMatch& match, const tracee::Points& points,
                   const std::vector<model::PointId>& ids) {
  RingSites sites;
  for (const tracee::RingSite& site : points.ring_sites) {
    if (site.file != match.file) continue;
    const auto& known = site.is_wanted ? points.schema.points : points.left_out;
    sites.add(match.id(site), site.is_wanted ? ids[site.point] : site.point,
              known[site.point].fields, site.is_wanted);
  }
  return sites;
}

Result<void> write_preamble(trace::Writer& writer, const OrphanedWhole& whole,
                            const model::Schema& schema) {
  // For another machine, or an earlier boot, this machine's description would be a guess.
  if (whole.clock.is_this_boot) SJ_CHECK(writer.write(tracee::host_info()));
  SJ_CHECK(writer.write(schema));
  for (const OrphanedSession& session : whole.sessions) SJ_CHECK(writer.write(session.target));
  for (const model::ClockPair& pair : whole.clock.pairs) SJ_CHECK(writer.write(pair));
  return {};
}

model::Context thread_names(const OrphanedRings& rings, std::int32_t pid) {
  model::Context context;
  for (const auto& [tid, thread] : rings.threads())
    context.names.push_back({.kind = model::NameKind::kThread,
                             .id = tid,
                             .name = thread.name,
                             .pid = static_cast<std::uint64_t>(thread.pid != -1 ? thread.pid : pid),
                             .state = {}});
  return context;
}

// Sets the marks between which everything is there.
void set_marks(const OrphanedWhole& whole, const OrphanedRings& rings, model::Capture& about) {
  std::uint64_t began_ns = UINT64_MAX;  // no hits before this
  std::uint64_t until_stamp = UINT64_MAX;
  for (const OrphanedSession& session : whole.sessions) {
    began_ns = std::min(began_ns, readings_of(session.left).first.monotonic_ns);
    until_stamp = std::min(until_stamp, session.view.until_stamp);
  }
  about.open_ns = rings.complete_from_ns() != 0             ? rings.complete_from_ns()
                  : rings.counts().taken_by_collectors != 0 ? rings.last_ns()
                                                            : began_ns;
  const bool goes_on = until_stamp != UINT64_MAX;
  const std::uint64_t last_ns = goes_on ? whole.clock.clock.to_ns(until_stamp) : rings.last_ns();
  about.close_ns = std::max(last_ns, about.open_ns) + (goes_on ? 0 : 1);
}

Result<void> read_rings(const OrphanedWhole& whole, const Numbered& numbered,
                        OrphanedRings& rings) {
  for (std::size_t index = 0; index < whole.sessions.size(); ++index) {
    const OrphanedSession& session = whole.sessions[index];
    rings.turn_to(session.left.pid, session.view);
    for (const OrphanedArena& one : session.left.arenas) {
      if (!has_points(one.arena)) continue;
      SJ_TRY(match, session.match(one.arena));
      SJ_CHECK(rings.read(one, sites_of(match, session.points, numbered.ids[index])));
      if (one.arena.was_cut()) return fail("{}: was cut while it was read", one.arena.name());
    }
  }
  return {};
}

Result<OrphanedTrace> write(trace::Writer& writer, const OrphanedWhole& whole) {
  OrphanedTrace result{.targets = {}, .capture = {}, .counts = {}};
  SJ_TRY(numbered, number_points(whole.sessions));
  SJ_CHECK(write_preamble(writer, whole, numbered.schema));
  OrphanedRings rings(0, whole.clock.clock, writer);
  std::optional<EventFilterStage> filter_stage;
  if (whole.where) {
    SJ_TRY(made, EventFilterStage::create(*whole.where, numbered.schema));
    filter_stage = std::move(made);
    rings.leave_out_by(*filter_stage);
  }
  SJ_CHECK(read_rings(whole, numbered, rings));
  result.counts = rings.counts();
  model::Ledger ledger = rings.ledger();
  for (const model::LedgerEntry& entry : ledger) result.lost += entry.count;
  std::vector<std::uint64_t> stream_hits = rings.stream_hits();
  if (filter_stage) {
    result.filtered = filter_stage->filtered();
    filter_stage->add_filtered(ledger);
    filter_stage->close_up(stream_hits);
  }
  if (result.counts.events == 0 && ledger.empty())
    return std::unexpected(Error(whole.why_nothing(result.counts)));

  model::Capture& about = result.capture;
  about.tracer = "sojourn " SOJOURN_VERSION;
  about.engine = model::Engine::kRing;
  about.attach = whole.attach;
  for (const OrphanedSession& session : whole.sessions) {
    result.targets.push_back(session.target);
    about.sites += static_cast<std::uint32_t>(
        std::ranges::count(session.points.ring_sites, true, &tracee::RingSite::is_wanted));
  }
  set_marks(whole, rings, about);
  about.ended_by = whole.ended_by;
  about.stream_hits = std::move(stream_hits);
  about.stamp_error_ns = whole.clock.error_ns(about.close_ns);
  SJ_CHECK(writer.write(thread_names(rings, result.targets.front().pid)));
  SJ_CHECK(writer.write(ledger));
  SJ_CHECK(writer.write(about));
  SJ_CHECK(writer.finish());
  result.bytes = writer.bytes();
  return result;
}

}  // namespace

OrphanedReadings readings_of(const OrphanedProcess& left, OrphanedReadings readings) {
  for (const OrphanedArena& one : left.arenas) {
    const sj_clock_reading first = one.arena.first_clocks();
    const bool is_earlier = readings.first.stamp == 0 || first.stamp < readings.first.stamp;
    if (first.stamp != 0 && is_earlier) readings.first = first;
    const auto newest = one.arena.newest_clocks();
    if (newest && (!readings.newest || newest->stamp > readings.newest->stamp))
      readings.newest = newest;
  }
  return readings;
}

Result<OrphanedTrace> write_left_trace(const std::string& output, const FileOwner& owner,
                                       const OrphanedWhole& whole) {
  const WriteAs as(owner);
  SJ_TRY(writer, files::create_trace(output));
  auto written = write(writer, whole);
  if (!written) writer.abandon();
  return written;
}

}  // namespace sojourn::capture
