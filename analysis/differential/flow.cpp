#include "analysis/differential/flow.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/differential/reachability.h"

namespace sojourn::differential {
namespace {

// A journey may be reported up to ten seconds after its last event.
constexpr std::uint64_t kRememberedNs = 12'000'000'000;

}  // namespace

std::string FlowEdge::evidence() const {
  std::vector<std::string> kinds;
  if (by_ids != 0) kinds.emplace_back("ids");
  if (by_thread != 0) kinds.emplace_back(by_thread == packets ? "thread" : "thread in part");
  if (by_wakeup != 0) kinds.emplace_back("wakeup");
  return kinds.empty() ? "none" : fmt::format("{}", fmt::join(kinds, ", "));
}

std::size_t Flow::Matrix::index_of(model::PointId point) {
  const auto [known, is_new] = indexes_.try_emplace(point, points_.size());
  if (!is_new) return known->second;
  points_.push_back(point);
  if (points_.size() > room_) {
    const std::size_t room = std::max<std::size_t>(16, room_ * 2);
    std::vector<Cell> cells(room * room);
    for (std::size_t from = 0; from < room_; ++from)
      for (std::size_t to = 0; to < room_; ++to) cells[from * room + to] = at(from, to);
    cells_ = std::move(cells);
    room_ = room;
  }
  return known->second;
}

Flow::Flow(const model::Schema& schema, const FlowOptions& options)
    : schema_(schema), options_(options), context_(schema) {}

void Flow::on_journey(const journeys::Journey& journey) {
  if (journey.outcome != journeys::Outcome::kComplete || journey.ambiguous) return;
  Packet packet = {.direction = journey.direction, .points = {}, .ties = {}};
  const auto at_point = [&](model::PointId point) {
    return std::ranges::find(packet.points, point, &Seen::point);
  };
  for (const journeys::Step& step : journey.steps) {
    if (at_point(step.point) == packet.points.end())
      packet.points.push_back({.point = step.point,
                               .tid = step.tid,
                               .ts_ns = step.ts_ns,
                               .host = model::host_of(options_.hosts, step.stream)});
    if (step.repeat_of != journeys::kNoStep) continue;
    for (const std::uint32_t parent : step.parents) {
      const std::pair tie(journey.steps[parent].point, step.point);
      if (tie.first != tie.second && std::ranges::find(packet.ties, tie) == packet.ties.end())
        packet.ties.push_back(tie);
    }
  }
  if (context_.wakeup.point)
    pending_.push_back(std::move(packet));  // wakeups up to its end are not known yet
  else
    add(packet);
}

void Flow::consume(const model::EventBatch& events) {
  if (!context_.wakeup.point) return;
  std::uint64_t now_ns = 0;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const model::EventView event = events[row];
    now_ns = event.ts_ns;
    if (!context_.wakeup.is(event)) continue;
    constexpr std::uint64_t kByThread = 0;
    if (context_.wakeup.value(event, 1) != kByThread) continue;
    const auto waker = static_cast<std::uint32_t>(context_.wakeup.value(event, 0));
    wakeups_[{waker, event.tid}].push_back(event.ts_ns);
  }
  for (auto& [threads, times] : wakeups_)
    while (!times.empty() && times.front() + kRememberedNs < now_ns) times.pop_front();
  for (const Packet& packet : pending_) add(packet);
  pending_.clear();
}

void Flow::finish() {
  for (const Packet& packet : pending_) add(packet);
  pending_.clear();
}

bool Flow::woke(std::uint32_t waker, std::uint32_t woken, std::uint64_t after_ns,
                std::uint64_t until_ns) const {
  const auto known = wakeups_.find({waker, woken});
  if (known == wakeups_.end()) return false;
  const auto first = std::ranges::lower_bound(known->second, after_ns);
  return first != known->second.end() && *first <= until_ns;
}

std::uint64_t Flow::clock_error_ns(const Seen& one, const Seen& other) const {
  if (options_.hosts.empty() || one.host != other.host) return options_.clock_error_ns;
  return std::min(options_.clock_error_ns, 2 * options_.hosts[one.host].stamp_error_ns);
}

void Flow::add(const Packet& packet) {
  Matrix& matrix = matrices_[packet.direction == model::Direction::kUplink ? 1 : 0];
  std::size_t unknown = 0;
  for (const Seen& seen : packet.points) unknown += matrix.knows(seen.point) ? 0 : 1;
  if (matrix.points().size() + unknown > kMaxPoints) {
    ++left_out_;
    return;
  }
  ++matrix.packets;
  std::vector<std::size_t> indexes;
  indexes.reserve(packet.points.size());
  for (const Seen& seen : packet.points) indexes.push_back(matrix.index_of(seen.point));
  for (const auto& [from, to] : packet.ties)
    ++matrix.at(matrix.index_of(from), matrix.index_of(to)).by_ids;
  for (std::size_t first = 0; first < indexes.size(); ++first)
    for (std::size_t second = first + 1; second < indexes.size(); ++second) {
      const Seen& earlier = packet.points[first];
      const Seen& later = packet.points[second];
      const bool is_one_thread = earlier.tid != 0 && earlier.tid == later.tid;
      Cell& cell = matrix.at(indexes[first], indexes[second]);
      // The events of one thread have its own order, even if the clock disagrees.
      if (!is_one_thread && later.ts_ns - earlier.ts_ns <= clock_error_ns(earlier, later)) {
        ++cell.too_near;
        ++matrix.at(indexes[second], indexes[first]).too_near;
        continue;
      }
      ++cell.before;
      if (is_one_thread) {
        ++cell.by_thread;
      } else if (cell.by_ids == 0 && context_.wakeup.point) {
        ++cell.asked;
        if (woke(earlier.tid, later.tid, earlier.ts_ns, later.ts_ns)) ++cell.by_wakeup;
      }
    }
}

// Returns whether the order holds in enough of the packets whose stamps show one. If the stamps of
// no packet do, ids may still show it.
bool Flow::is_ordered(const Matrix& matrix, std::size_t from, std::size_t to) const {
  const Cell& cell = matrix.at(from, to);
  const Cell& reverse = matrix.at(to, from);
  const auto told = static_cast<double>(cell.before + reverse.before);
  if (told == 0) return cell.by_ids > reverse.by_ids;
  return static_cast<double>(cell.before) >= options_.least_share * told;
}

// A wakeup may fall between two events by chance: it has to in as many packets as the order holds.
bool Flow::has_evidence(const Cell& cell) const {
  if (cell.by_ids != 0) return true;
  const auto enough = [this](std::uint64_t count, std::uint64_t of) {
    return of != 0 && static_cast<double>(count) >= options_.least_share * static_cast<double>(of);
  };
  return enough(cell.by_thread, cell.before) || enough(cell.by_wakeup, cell.asked);
}

FlowEdge Flow::edge_of(const Matrix& matrix, std::size_t from, std::size_t to) const {
  const Cell& cell = matrix.at(from, to);
  const Cell& reverse = matrix.at(to, from);
  const auto name = [&](std::size_t at) { return schema_.points[matrix.points()[at]].name(); };
  return {.from = name(from),
          .to = name(to),
          .packets = cell.before + reverse.before + cell.too_near,
          .before = cell.before,
          .after = reverse.before,
          .too_near = cell.too_near,
          .by_ids = cell.by_ids,
          .by_thread = cell.by_thread,
          .by_wakeup = cell.by_wakeup};
}

FlowOfDirection Flow::flow_of(const Matrix& matrix, char direction) const {
  FlowOfDirection flow = {.direction = direction, .packets = matrix.packets};
  const std::size_t size = matrix.points().size();
  Relation relation(size);
  for (std::size_t from = 0; from < size; ++from)
    for (std::size_t to = 0; to < size; ++to)
      if (from != to && has_evidence(matrix.at(from, to)) && is_ordered(matrix, from, to))
        relation.set(from, to);
  relation = without_circles(relation);
  const Relation reached = closure(relation);
  const Relation direct = reduction(relation);

  // Things are in the order of how many others come before them.
  std::vector<std::size_t> order(size);
  std::vector<std::size_t> before(size);
  for (std::size_t at = 0; at < size; ++at) {
    order[at] = at;
    for (std::size_t other = 0; other < size; ++other) before[at] += reached.holds(other, at);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t at) { return before[at]; });
  for (const std::size_t at : order)
    flow.points.push_back(schema_.points[matrix.points()[at]].name());
  for (const std::size_t from : order)
    for (const std::size_t to : order) {
      if (from == to) continue;
      if (direct.holds(from, to)) flow.edges.push_back(edge_of(matrix, from, to));
      if (reached.holds(from, to) || reached.holds(to, from)) continue;
      const Cell& cell = matrix.at(from, to);
      const Cell& reverse = matrix.at(to, from);
      if (cell.before != 0 && is_ordered(matrix, from, to))
        flow.by_chance.push_back(edge_of(matrix, from, to));
      else if (from < to && cell.before != 0 && reverse.before != 0 &&
               !is_ordered(matrix, to, from))
        flow.either.push_back(edge_of(matrix, from, to));
    }
  return flow;
}

std::vector<FlowOfDirection> Flow::directions() const {
  std::vector<FlowOfDirection> all;
  for (std::size_t at = 0; at < 2; ++at)
    if (matrices_[at].packets != 0) all.push_back(flow_of(matrices_[at], at == 0 ? 'D' : 'U'));
  return all;
}

}  // namespace sojourn::differential
