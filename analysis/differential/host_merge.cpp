#include "analysis/differential/host_merge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/differential/sighting_search.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/wall_clock.h"

namespace sojourn::differential {
namespace {

// Threads and processes of other hosts get numbers that no kernel gives. A merged trace has those
// of several hosts, so the next trace's follow them.
constexpr std::uint32_t kHostStride = 10'000'000;
// The distance between two instants at which the relation of two hosts' clocks is written down.
constexpr double kKnotNs = 50e6;
// The number of bounds of a host's clock in the merged trace, about.
constexpr std::size_t kMostBounds = 1000;

std::uint32_t of_host(std::size_t host, std::uint32_t number) {
  return number == 0 ? 0 : number + static_cast<std::uint32_t>(host) * kHostStride;
}

// Finds the streams with energy readings, for a host whose other samples are left out.
std::set<std::uint32_t> energy_streams(trace::Reader& reader) {
  std::set<std::uint32_t> found;
  std::set<std::uint32_t> seen;
  for (const model::Stream& stream : reader.streams())
    if (stream.engine != model::Engine::kSampler) seen.insert(stream.id);
  model::EventBatch events;
  for (const trace::BlockInfo& block : reader.blocks()) {
    if (!seen.insert(block.stream).second || !reader.read(block, events) || events.empty())
      continue;
    const model::PointId point = events.point().front();
    const auto& points = reader.schema().points;
    if (point < points.size() && model::energy_reading_kind(points[point]))
      found.insert(block.stream);
  }
  return found;
}

std::int32_t of_host(std::size_t host, std::int32_t number) {
  return number <= 0
             ? number
             : number + static_cast<std::int32_t>(host) * static_cast<std::int32_t>(kHostStride);
}

std::size_t knots_in(double span_ns) {
  return static_cast<std::size_t>(std::ceil(span_ns / kKnotNs));
}

}  // namespace

Result<HostMerge> HostMerge::prepare(std::span<trace::Reader> hosts, const journeys::Rules& rules,
                                     const MergeOptions& options) {
  HostMerge merge;
  for (trace::Reader& reader : hosts) {
    const auto& blocks = reader.blocks();
    if (blocks.empty()) return fail("{}: has no events", reader.path());
    std::uint64_t origin = UINT64_MAX;
    std::uint64_t end = 0;
    for (const trace::BlockInfo& block : blocks) {
      origin = std::min(origin, block.min_ts_ns);
      end = std::max(end, block.max_ts_ns);
    }
    merge.origins_.push_back(origin);
    merge.ends_.push_back(end);
    auto& points = merge.points_.emplace_back();
    for (const model::Point& point : reader.schema().points) {
      const auto known = std::ranges::find(merge.schema_.points, point);
      points.push_back(static_cast<model::PointId>(known - merge.schema_.points.begin()));
      if (known == merge.schema_.points.end()) merge.schema_.points.push_back(point);
    }
  }
  if (merge.schema_.points.size() > model::kMaxPoints)
    return fail("together these traces have more points than a trace holds");
  if (options.by_cpu)
    for (trace::Reader& reader : hosts) {
      SJ_TRY(clocks, CpuClocks::find(reader, rules));
      merge.cpu_clocks_.push_back(std::move(clocks));
    }
  SJ_CHECK(merge.find_pairs(hosts, rules, options));
  if (options.tai_error_ns)
    SJ_CHECK(merge.find_clocks_by_tai(hosts, *options.tai_error_ns));
  else
    SJ_CHECK(merge.find_clocks(hosts));
  merge.check_loops(hosts);
  merge.join_energy(hosts);
  return merge;
}

Result<void> HostMerge::find_pairs(std::span<trace::Reader> hosts, const journeys::Rules& rules,
                                   const MergeOptions& options) {
  SJ_TRY(topology, journeys::Topology::derive(schema_, rules));
  SightingSearch search(schema_, topology);
  for (std::size_t host = 0; host < hosts.size(); ++host)
    SJ_CHECK(hosts[host].merge([&](const model::EventBatch& events) {
      for (std::size_t row = 0; row < events.size(); ++row) {
        const model::EventView event = events[row];
        if (event.point < points_[host].size())
          search.add(host, points_[host][event.point],
                     by_first_cpu(host, event.stream, event.ts_ns), event.values);
      }
      return true;
    }));
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Sighting>> sightings;
  const auto all_found = search.found();
  for (const auto& each : all_found) {
    const bool is_from_us = each.from < each.to;
    const std::size_t ours = std::min(each.from, each.to);
    const std::size_t theirs = std::max(each.from, each.to);
    const std::uint64_t ours_ns = is_from_us ? each.sent_ns : each.came_ns;
    const std::uint64_t theirs_ns = is_from_us ? each.came_ns : each.sent_ns;
    sightings[{ours, theirs}].push_back(
        {.ours = static_cast<double>(ours_ns - origins_[ours]),
         .theirs = static_cast<double>(theirs_ns - origins_[theirs]),
         .is_from_us = is_from_us});
  }
  const Bounds drift = {.low = 1 - options.max_drift, .high = 1 + options.max_drift};
  for (auto& [both, of_both] : sightings) {
    HostPair pair = {.ours = both.first, .theirs = both.second, .map = {}};
    for (const Sighting& each : of_both) ++(each.is_from_us ? pair.from_us : pair.to_us);
    pair.map = ClockMap::of(std::move(of_both), drift);
    pairs_.push_back(std::move(pair));
  }
  find_probes(all_found, options.max_drift);
  return {};
}

void HostMerge::find_probes(std::span<const SightingSearch::Found> found, double max_drift) {
  for (HostPair& pair : pairs_) {
    std::unordered_map<std::string_view, const SightingSearch::Found*> asked;
    for (const auto& each : found)
      if (each.from == pair.ours && each.to == pair.theirs) asked.emplace(each.ids, &each);
    for (const auto& each : found) {
      if (each.from != pair.theirs || each.to != pair.ours) continue;
      const auto question = asked.find(each.ids);
      if (question == asked.end()) continue;
      const auto since = [](std::uint64_t ns, std::uint64_t origin) {
        return static_cast<double>(ns - origin);
      };
      const Probe probe = {.sent = since(question->second->sent_ns, origins_[pair.ours]),
                           .received = since(question->second->came_ns, origins_[pair.theirs]),
                           .answered = since(each.sent_ns, origins_[pair.theirs]),
                           .came = since(each.came_ns, origins_[pair.ours])};
      if (probe.answered < probe.received || probe.came < probe.sent) continue;
      pair.best_half = pair.probes == 0 ? probe.half() : std::min(pair.best_half, probe.half());
      ++pair.probes;
      // The clocks may drift between question and answer.
      const double half = probe.half() + max_drift * (probe.came - probe.sent);
      const Bounds bounds = pair.map.at(probe.ours());
      if (bounds.low > probe.theirs() + half || bounds.high < probe.theirs() - half)
        ++pair.probes_disagree;
    }
  }
}

// TAI and CLOCK_MONOTONIC of a host run at one rate. So their difference at the first pair holds
// until the next pair.
Result<void> HostMerge::find_clocks_by_tai(std::span<trace::Reader> hosts, double error_ns) {
  constexpr std::uint64_t kLeastOffsetNs = 1'000'000'000;  // TAI is 37 s ahead of UTC; unset: 0
  std::vector<model::WallClock> tai;
  std::vector<double> reading_ns;
  for (const trace::Reader& reader : hosts) {
    auto pairs = reader.clocks();
    double widest = 0;
    for (model::ClockPair& pair : pairs) {
      if (pair.tai_ns < pair.realtime_ns + kLeastOffsetNs)
        return fail("{}: its TAI is not set: does PTP, and something like phc2sys, run there?",
                    reader.path());
      pair.realtime_ns = pair.tai_ns;
      widest = std::max(widest, static_cast<double>(pair.error_ns));
    }
    if (pairs.empty()) return fail("{}: does not say what its TAI was", reader.path());
    tai.emplace_back(std::move(pairs));
    reading_ns.push_back(widest);
  }
  for (std::size_t host = 1; host < hosts.size(); ++host) {
    HostClock clock;
    clock.host = host;
    clock.drift = clock.rate = {.low = 1, .high = 1};
    const double half = error_ns + reading_ns[0] + reading_ns[host];
    const auto add = [&](double theirs) {
      const std::uint64_t at = origins_[host] + static_cast<std::uint64_t>(theirs);
      const std::uint64_t ours = tai[0].ts_ns(tai[host].realtime_ns(at));
      clock.knots.push_back(
          {.theirs = theirs,
           .ours = static_cast<double>(static_cast<std::int64_t>(ours - origins_[0])),
           .half = half});
      const std::size_t count = clock.knots.size();
      if (count < 2) return;
      const HostClock::Knot& before = clock.knots[count - 2];
      const double apart = clock.knots.back().ours - before.ours - (theirs - before.theirs);
      clock.steps += std::abs(apart) > 2 * half ? 1 : 0;
    };
    const auto span = static_cast<double>(ends_[host] - origins_[host]);
    for (std::size_t knot = 0; knot < knots_in(span); ++knot)
      add(static_cast<double>(knot) * kKnotNs);
    add(span);
    for (const HostPair& pair : pairs_) {
      if (pair.ours != 0 || pair.theirs != host || pair.map.pieces().empty()) continue;
      for (const HostClock::Knot& knot : clock.knots) {
        const Bounds left = pair.map.at(knot.ours);
        const double off =
            std::max(left.low - (knot.theirs + half), (knot.theirs - half) - left.high);
        if (off > clock.off_by_ns.value_or(0)) clock.off_by_ns = off;
      }
    }
    clock.widen_at_steps();
    clocks_.push_back(std::move(clock));
  }
  return {};
}

Result<void> HostMerge::find_clocks(std::span<trace::Reader> hosts) {
  clocks_.resize(hosts.size());
  std::vector<bool> known(hosts.size());
  known[0] = true;
  std::queue<std::size_t> open({0});
  while (!open.empty()) {
    const std::size_t by = open.front();
    open.pop();
    for (const HostPair& pair : pairs_) {
      const std::size_t host = pair.ours == by ? pair.theirs : pair.ours;
      if ((pair.ours != by && pair.theirs != by) || known[host] || !pair.is_bounded()) continue;
      known[host] = true;
      open.push(host);
      HostClock& clock = clocks_[host];
      clock.host = host;
      clock.steps = pair.map.pieces().size() - 1;
      clock.set_speeds(pair.map, pair.theirs == host, by == 0 ? nullptr : &clocks_[by]);
      const auto span = static_cast<double>(ends_[host] - origins_[host]);
      // Knots lie inside of one piece each, so that no line is drawn through a step.
      const auto add = [&](double theirs) {
        const Bounds bounds = pair.ours == by ? pair.map.ours_at(theirs) : pair.map.at(theirs);
        HostClock::Knot knot = {.theirs = theirs, .ours = bounds.middle(), .half = bounds.half()};
        if (by != 0) {
          // The clock in between has its own bounds.
          const std::uint64_t at =
              origins_[by] + static_cast<std::uint64_t>(std::max(knot.ours, 0.0));
          knot.half += clocks_[by].widest_half();
          knot.ours = static_cast<double>(time_of(by, at)) - static_cast<double>(origins_[0]);
        }
        clock.knots.push_back(knot);
      };
      for (std::size_t knot = 0; knot < knots_in(span); ++knot)
        add(static_cast<double>(knot) * kKnotNs);
      add(span);
      clock.widen_at_steps();
    }
  }
  for (std::size_t host = 1; host < hosts.size(); ++host) {
    if (known[host]) continue;
    const HostPair* seen = nullptr;
    for (const HostPair& pair : pairs_)
      if (pair.ours == host || pair.theirs == host) seen = &pair;
    if (seen == nullptr)
      return fail("{}: no packet of it is seen, once and with the same ids, by another host",
                  hosts[host].path());
    return fail(
        "{}: packets are seen in one direction only ({} and {}): that leaves the offset of its "
        "clock open",
        hosts[host].path(), seen->from_us, seen->to_us);
  }
  clocks_.erase(clocks_.begin());
  return {};
}

// Three hosts in a circle: the sum of their clocks' differences must be zero within the bounds.
void HostMerge::check_loops(std::span<trace::Reader> hosts) {
  const auto pair_of = [this](std::size_t ours, std::size_t theirs) -> const HostPair* {
    for (const HostPair& pair : pairs_)
      if (pair.ours == ours && pair.theirs == theirs && pair.is_bounded()) return &pair;
    return nullptr;
  };
  for (std::size_t first = 0; first < hosts.size(); ++first)
    for (std::size_t second = first + 1; second < hosts.size(); ++second)
      for (std::size_t third = second + 1; third < hosts.size(); ++third) {
        const HostPair* const one = pair_of(first, second);
        const HostPair* const two = pair_of(second, third);
        const HostPair* const direct = pair_of(first, third);
        if (one == nullptr || two == nullptr || direct == nullptr) continue;
        const auto span = static_cast<double>(ends_[first] - origins_[first]);
        double worst = 0;
        for (const double share : {0.1, 0.5, 0.9}) {
          const double now = share * span;
          const Bounds around = {.low = two->map.at(one->map.at(now).low).low,
                                 .high = two->map.at(one->map.at(now).high).high};
          const Bounds straight = direct->map.at(now);
          worst = std::max({worst, around.low - straight.high, straight.low - around.high});
        }
        if (worst > 0)
          broken_loops_.push_back(
              {.first = first, .second = second, .third = third, .by_ns = worst});
      }
}

std::uint64_t HostMerge::time_of(std::size_t host, std::uint64_t ts_ns) const {
  if (host == 0) return ts_ns;
  const auto clock = std::ranges::find(clocks_, host, &HostClock::host);
  const auto& knots = clock->knots;
  const double theirs = static_cast<double>(ts_ns) - static_cast<double>(origins_[host]);
  auto next = std::ranges::lower_bound(knots, theirs, {}, &HostClock::Knot::theirs);
  if (next == knots.begin()) ++next;
  if (next == knots.end()) --next;
  if (next == knots.begin()) return origins_[0] + static_cast<std::uint64_t>(knots.front().ours);
  const HostClock::Knot& before = *std::prev(next);
  const double speed = (next->ours - before.ours) / (next->theirs - before.theirs);
  const double since = before.ours + speed * (theirs - before.theirs);
  // An event of before the first host's trace.
  const double ours = since + static_cast<double>(origins_[0]);
  if (ours < 0) return 0;
  return since < 0 ? origins_[0] - static_cast<std::uint64_t>(-since)
                   : origins_[0] + static_cast<std::uint64_t>(since);
}

// All hosts' zones, policies and states under numbers of their own: those of a host follow those of
// the host before it.
void HostMerge::join_energy(std::span<trace::Reader> hosts) {
  for (const model::Point& point : schema_.points)
    energy_kinds_.push_back(model::energy_reading_kind(point));
  std::set<std::string> names;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const model::Energy& one = hosts[host].energy();
    std::string name = hosts[host].host().name;
    if (name.empty()) name = "host";
    if (!names.insert(name).second) names.insert(name += fmt::format(" ({})", host + 1));
    const EnergyIds from = first_energy_ids_.emplace_back(next_energy_ids_);
    if (!one.was_asked_for())
      energy_.missing.push_back({.host = name, .what = "energy", .why = "was not recorded there"});
    energy_.period_ns = std::max(energy_.period_ns, one.period_ns);
    const auto add = [&](const auto& list, auto& all, std::uint32_t offset, std::uint32_t& next) {
      for (auto each : list) {
        each.host = name;
        each.id += offset;
        next = std::max(next, each.id + 1);
        all.push_back(std::move(each));
      }
    };
    add(one.zones, energy_.zones, from.zone, next_energy_ids_.zone);
    add(one.policies, energy_.policies, from.policy, next_energy_ids_.policy);
    add(one.idle_states, energy_.idle_states, from.state, next_energy_ids_.state);
    for (model::EnergyMissing missing : one.missing) {
      missing.host = name;
      energy_.missing.push_back(std::move(missing));
    }
    for (model::EnergyZone& zone : energy_.zones)
      if (zone.host == name && zone.gone_ns != 0) zone.gone_ns = time_of(host, zone.gone_ns);
  }
}

void HostMerge::add_to_energy_ids(std::size_t host, model::EventColumns& columns) const {
  const EnergyIds& first = first_energy_ids_[host];
  for (std::size_t row = 0; row < columns.ts_ns.size(); ++row) {
    const auto kind = energy_kinds_[columns.point[row]];
    if (!kind || columns.first_value[row + 1] == columns.first_value[row]) continue;
    columns.values[columns.first_value[row]] +=
        *kind == model::EnergyReadingKind::kEnergy      ? first.zone
        : *kind == model::EnergyReadingKind::kFrequency ? first.policy
                                                        : first.state;
  }
}

// The kernel's events and samples of all hosts but the first, except for energy.
HostMerge::Streams HostMerge::streams_left_out(trace::Reader& reader, std::size_t host) {
  Streams left_out;
  if (host == 0) return left_out;
  const Streams of_energy = energy_streams(reader);
  for (const model::Stream& stream : reader.streams())
    if (!model::carries_points(stream.engine) && !of_energy.contains(stream.id))
      left_out.insert(stream.id);
  return left_out;
}

Result<void> HostMerge::write_events(trace::Reader& reader, std::size_t host,
                                     std::uint32_t first_stream, std::size_t numbered,
                                     const Streams& left_out, trace::Writer& writer) const {
  model::EventBatch events;
  for (const trace::BlockInfo& block : reader.blocks()) {
    if (left_out.contains(block.stream)) continue;
    SJ_CHECK(reader.read(block, events));
    model::EventColumns columns = std::move(events).release();
    for (std::size_t row = 0; row < columns.ts_ns.size(); ++row) {
      if (columns.point[row] >= points_[host].size())
        return fail("{}: an event of a point that it does not describe", reader.path());
      columns.ts_ns[row] =
          time_of(host, by_first_cpu(host, columns.stream[row], columns.ts_ns[row]));
      columns.stream[row] += first_stream;
      columns.tid[row] = of_host(numbered, columns.tid[row]);
      columns.point[row] = points_[host][columns.point[row]];
    }
    add_to_energy_ids(host, columns);
    events = model::EventBatch(std::move(columns));
    SJ_CHECK(writer.write(events));
  }
  return {};
}

// The bounds of a host's clock by the time of the first one's: each is the widest of its stretch.
std::vector<model::ClockBound> HostMerge::bounds_of(const HostClock& clock) const {
  const auto& knots = clock.knots;
  const std::size_t stretch = knots.size() / kMostBounds + 1;
  std::vector<model::ClockBound> bounds;
  for (std::size_t first = 0; first < knots.size(); first += stretch) {
    const std::size_t last = std::min(first + stretch, knots.size() - 1);
    double widest = 0;
    for (std::size_t at = first; at <= last; ++at) widest = std::max(widest, knots[at].half);
    const std::uint64_t theirs =
        origins_[clock.host] + static_cast<std::uint64_t>(knots[first].theirs);
    bounds.push_back({.from_ns = time_of(clock.host, theirs),
                      .error_ns = static_cast<std::uint64_t>(std::ceil(widest))});
  }
  return bounds;
}

// The errors of this host's times; if its trace is a merged one, of each host in it.
std::vector<model::MergedHost> HostMerge::merged_hosts(const model::Capture& capture,
                                                       std::size_t host,
                                                       std::uint32_t first_stream) const {
  auto merged = capture.hosts;
  if (merged.empty()) merged.push_back({.stamp_error_ns = capture.stamp_error_ns});
  const auto clock = std::ranges::find(clocks_, host, &HostClock::host);
  const bool is_converted = clock != clocks_.end();
  const double of_cpus = cpu_clocks_.empty() ? 0 : cpu_clocks_[host].widest_error_ns();
  for (model::MergedHost& each : merged) {
    each.first_stream += first_stream;
    each.stamp_error_ns += static_cast<std::uint64_t>(std::ceil(of_cpus));
    if (!is_converted) continue;
    each.rate_error_ppb += static_cast<std::uint64_t>(std::ceil(clock->rate_error() * 1e9));
    if (each.bounds.empty()) {
      each.bounds = bounds_of(*clock);
      continue;
    }
    for (model::ClockBound& bound : each.bounds) {
      bound.from_ns = time_of(host, bound.from_ns);
      bound.error_ns += static_cast<std::uint64_t>(std::ceil(clock->widest_half()));
    }
  }
  return merged;
}

model::PointId HostMerge::point_of_all(std::size_t host, model::PointId point) const {
  return point < points_[host].size() ? points_[host][point] : point;
}

// The times in which points of this host were off, or not armed yet.
void HostMerge::add_spans(const model::Capture& capture, std::size_t host, std::size_t numbered,
                          model::Capture& all) const {
  const auto time_of_all = [&](std::uint64_t ts_ns) {
    return ts_ns == 0 ? 0 : time_of(host, ts_ns);
  };
  for (const model::ShedSpan& span : capture.shed)
    all.shed.push_back({.point = point_of_all(host, span.point),
                        .from_ns = time_of_all(span.from_ns),
                        .until_ns = time_of_all(span.until_ns)});
  for (const model::UnarmedSpan& span : capture.unarmed)
    all.unarmed.push_back({.pid = of_host(numbered, span.pid),
                           .point = point_of_all(host, span.point),
                           .from_ns = time_of_all(span.from_ns),
                           .until_ns = time_of_all(span.until_ns)});
}

Result<void> HostMerge::write(std::span<trace::Reader> hosts, trace::Writer& writer,
                              std::string_view tracer) const {
  SJ_CHECK(writer.write(schema_));
  if (energy_.was_asked_for()) SJ_CHECK(writer.write(energy_));
  model::Capture all = hosts.front().capture();
  all.tracer = tracer;
  all.hosts.clear();
  all.shed.clear();
  all.unarmed.clear();
  model::Ledger ledger;
  std::uint32_t first_stream = 0;
  std::size_t numbered = 0;  // hosts whose threads have their numbers already
  bool has_hits = true;
  std::vector<std::uint64_t> hits;
  double widest = 0;
  for (const HostClock& clock : clocks_) widest = std::max(widest, clock.widest_half());
  double widest_of_cpus = 0;
  for (const CpuClocks& clocks : cpu_clocks_)
    widest_of_cpus = std::max(widest_of_cpus, clocks.widest_error_ns());
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    trace::Reader& reader = hosts[host];
    for (model::Target target : reader.targets()) {
      target.pid = of_host(numbered, target.pid);
      target.parent = of_host(numbered, target.parent);
      if (target.since_ns != 0) target.since_ns = time_of(host, target.since_ns);
      if (target.until_ns != 0) target.until_ns = time_of(host, target.until_ns);
      // A program that runs on two hosts hands packets to itself on the other one; two of them on
      // one host would not. So their names differ here.
      if (host != 0) target.exe = reader.host().name + ":" + target.exe;
      SJ_CHECK(writer.write(target));
    }
    std::uint32_t next_stream = first_stream;
    const Streams left_out = streams_left_out(reader, host);
    for (model::Stream stream : reader.streams()) {
      if (left_out.contains(stream.id)) continue;
      next_stream = std::max(next_stream, first_stream + stream.id + 1);
      stream.id += first_stream;
      stream.pid = of_host(numbered, stream.pid);
      stream.tid = of_host(numbered, stream.tid);
      SJ_CHECK(writer.write(stream));
    }
    for (model::LedgerEntry entry : reader.ledger()) {
      entry.stream += first_stream;
      entry.point = point_of_all(host, entry.point);
      ledger.push_back(entry);
    }
    add_spans(reader.capture(), host, numbered, all);
    model::Context context = host == 0 ? reader.context() : model::Context{};
    if (host != 0)
      for (model::ContextName name : reader.context().names) {
        if (name.kind != model::NameKind::kThread) continue;
        name.id = of_host(numbered, static_cast<std::uint32_t>(name.id));
        name.pid = of_host(numbered, static_cast<std::uint32_t>(name.pid));
        name.state.clear();
        context.names.push_back(std::move(name));
      }
    SJ_CHECK(writer.write(context));
    if (host == 0) {
      if (!reader.queue_changes().empty()) SJ_CHECK(writer.write(reader.queue_changes()));
      if (reader.sampling() != model::Sampling()) SJ_CHECK(writer.write(reader.sampling()));
      if (!reader.profile().empty()) SJ_CHECK(writer.write(reader.profile()));
    }
    const model::Capture& capture = reader.capture();
    if (hosts.size() > 1 || !capture.hosts.empty())
      std::ranges::copy(merged_hosts(capture, host, first_stream), std::back_inserter(all.hosts));
    has_hits &= !capture.stream_hits.empty();
    hits.resize(first_stream);
    hits.insert(hits.end(), capture.stream_hits.begin(), capture.stream_hits.end());
    for (const std::uint32_t stream : left_out)
      if (first_stream + stream < hits.size()) hits[first_stream + stream] = 0;
    if (host != 0) {
      if (capture.open_ns != 0) all.open_ns = std::max(all.open_ns, time_of(host, capture.open_ns));
      if (capture.close_ns != 0 && all.close_ns != 0)
        all.close_ns = std::min(all.close_ns, time_of(host, capture.close_ns));
      all.stamp_error_ns = std::max(all.stamp_error_ns, capture.stamp_error_ns);
      all.tracer_cpu_ns += capture.tracer_cpu_ns;
      all.target_cpu_ns += capture.target_cpu_ns;
    }
    SJ_CHECK(write_events(reader, host, first_stream, numbered, left_out, writer));
    first_stream = next_stream;
    numbered += std::max<std::size_t>(1, capture.hosts.size());
  }
  for (const model::ClockPair& pair : hosts.front().clocks()) SJ_CHECK(writer.write(pair));
  SJ_CHECK(writer.write(hosts.front().host()));
  if (!ledger.empty()) SJ_CHECK(writer.write(ledger));
  all.stamp_error_ns += static_cast<std::uint64_t>(std::ceil(widest + widest_of_cpus));
  all.stream_hits = has_hits ? hits : std::vector<std::uint64_t>{};
  if (hosts.size() > 1) all.stream_first.clear();
  if (hosts.size() > 1) {  // of the first host's points only, by other numbers
    all.hit_cost_ps.clear();
    all.hit_spread_ps.clear();
  }
  if (hosts.size() > 1) all.counter_offsets.clear();  // of the first host only
  return writer.write(all);
}

}  // namespace sojourn::differential
