#include "userspace/capture/post_mortem/left_trace.h"

#include <algorithm>
#include <optional>

#include "analysis/trace/writer.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/target/host.h"

namespace sojourn::capture {

namespace {

RingSites sites_of(const ArenaMatch& match, const target::Points& points) {
  RingSites sites;
  for (const target::RingSite& site : points.ring_sites) {
    if (site.file != match.file) continue;
    const auto& known = site.is_wanted ? points.schema.points : points.left_out;
    sites.add(match.id(site), site.point, known[site.point].fields, site.is_wanted);
  }
  return sites;
}

Result<void> write_preamble(trace::Writer& writer, const LeftSession& session) {
  // Of another machine, or of before it was started anew, this one's name would be a guess.
  if (session.clock.is_this_boot) SJ_CHECK(writer.write(target::host_info()));
  SJ_CHECK(writer.write(session.points.schema));
  SJ_CHECK(writer.write(session.target));
  for (const model::ClockPair& pair : session.clock.pairs) SJ_CHECK(writer.write(pair));
  return {};
}

model::Context thread_names(const LeftRings& rings, std::int32_t pid) {
  model::Context context;
  for (const auto& [tid, name] : rings.thread_names())
    context.names.push_back({.kind = model::NameKind::kThread,
                             .id = tid,
                             .name = name,
                             .pid = static_cast<std::uint64_t>(pid),
                             .state = {}});
  return context;
}

// From where on everything is there, and up to where.
void set_marks(const LeftSession& session, const LeftRings& rings, model::Capture& about) {
  const std::uint64_t began_ns = readings_of(session.left).first.monotonic_ns;
  about.open_ns = rings.complete_from_ns() != 0             ? rings.complete_from_ns()
                  : rings.counts().taken_by_collectors != 0 ? rings.last_ns()
                                                            : began_ns;
  const bool goes_on = session.view.until_stamp != UINT64_MAX;
  const std::uint64_t last_ns =
      goes_on ? session.clock.clock.to_ns(session.view.until_stamp) : rings.last_ns();
  about.close_ns = std::max(last_ns, about.open_ns) + (goes_on ? 0 : 1);
}

Result<LeftTrace> write(trace::Writer& writer, const LeftSession& session) {
  LeftTrace result{.target = session.target, .capture = {}, .counts = {}};
  SJ_CHECK(write_preamble(writer, session));
  LeftRings rings(session.left.pid, session.clock.clock, writer, session.view);
  for (const LeftArena& one : session.left.arenas) {
    SJ_TRY(match, session.match(one.arena));
    SJ_CHECK(rings.read(one, sites_of(match, session.points)));
    if (one.arena.was_cut()) return fail("{}: was cut while it was read", one.arena.name());
  }
  result.counts = rings.counts();
  if (result.counts.events == 0 && rings.ledger().empty())
    return std::unexpected(Error(session.why_nothing(result.counts)));
  for (const model::LedgerEntry& entry : rings.ledger()) result.lost += entry.count;

  model::Capture& about = result.capture;
  about.tracer = "sojourn " SOJOURN_VERSION;
  about.engine = model::Engine::kRing;
  about.attach = session.attach;
  about.sites = static_cast<std::uint32_t>(
      std::ranges::count(session.points.ring_sites, true, &target::RingSite::is_wanted));
  set_marks(session, rings, about);
  about.ended_by = session.ended_by;
  about.stream_hits = rings.stream_hits();
  about.stamp_error_ns = session.clock.error_ns(about.close_ns);
  SJ_CHECK(writer.write(thread_names(rings, session.target.pid)));
  SJ_CHECK(writer.write(rings.ledger()));
  SJ_CHECK(writer.write(about));
  SJ_CHECK(writer.finish());
  result.bytes = writer.bytes();
  return result;
}

}  // namespace

LeftReadings readings_of(const LeftProcess& left) {
  LeftReadings readings;
  for (const LeftArena& one : left.arenas) {
    const sj_clock_reading first = one.arena.first_clocks();
    const bool is_earlier = readings.first.stamp == 0 || first.stamp < readings.first.stamp;
    if (first.stamp != 0 && is_earlier) readings.first = first;
    const auto newest = one.arena.newest_clocks();
    if (newest && (!readings.newest || newest->stamp > readings.newest->stamp))
      readings.newest = newest;
  }
  return readings;
}

Result<LeftTrace> write_left_trace(const std::string& output, const LeftSession& session) {
  const WriteAs as(FileOwner::of(output));
  SJ_TRY(writer, trace::Writer::create(output));
  auto written = write(writer, session);
  if (!written) writer.abandon();
  return written;
}

}  // namespace sojourn::capture
