#include "tests/unit/journeys/truth_compare.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/journeys/units/intervals.h"

namespace sojourn::journeys {
namespace {

using truth::Hit;
using truth::HitId;
using truth::PacketId;
using truth::Truth;

constexpr std::size_t kDifferences = 10;

struct Node {
  std::vector<std::size_t> parents;  // hits, sorted
  std::size_t repeat_of = SIZE_MAX;

  bool operator==(const Node&) const = default;
};

// A journey as hits and what ties them.
struct Graph {
  std::map<std::size_t, Node> nodes;
  std::size_t end = SIZE_MAX;  // the hit that made it whole, or dropped it; SIZE_MAX: neither

  bool operator==(const Graph&) const = default;
};

class Expected {
 public:
  Expected(const Truth& truth, const Topology& topology, std::span<const Observation> observations)
      : truth_(truth), topology_(topology), seen_(truth.hits.size()) {
    for (const auto& observation : observations) seen_[observation.hit] = true;
    children_.resize(truth.hits.size());
    for (std::size_t i = 0; i < truth.hits.size(); ++i)
      for (const auto parent : truth.hits[i].parents) children_[index(parent)].push_back(i);
  }

  std::size_t index(HitId id) const { return truth_.hit_by_id.at(id); }
  bool seen(std::size_t hit) const { return seen_[hit]; }

  // The hits that the bytes of the packet that entered here reached, as far as they were seen.
  Graph forward(std::size_t root) const {
    std::set<std::size_t> reached = {root};
    std::vector<std::size_t> pending = {root};
    while (!pending.empty()) {
      const auto hit = pending.back();
      pending.pop_back();
      for (const auto child : children_[hit])
        if (seen_[child] && reached.insert(child).second) pending.push_back(child);
    }
    auto graph = tie(reached);
    graph.end = whole(truth_.hits[root].pieces[0].packet, reached);
    if (graph.end == SIZE_MAX && !may_go_on(reached))
      for (const auto hit : reached)
        if (topology_.points[truth_.hits[hit].point].drop) graph.end = hit;
    return graph;
  }

  // The number of segments that a packet was cut into, or put together from: 0 if the points do not
  // say which bytes a segment has, or the whole went back to be cut anew (handed over to another
  // cell).
  std::size_t pieces(const Graph& graph) const {
    std::size_t cut = 0;
    std::size_t joined = 0;
    bool cuts = false;
    bool reassembles = false;
    std::set<std::uint16_t> passed;
    for (const auto& [hit, node] : graph.nodes) {
      const auto point = truth_.hits[hit].point;
      if (topology_.points[point].circles && !passed.insert(point).second) return 0;
      for (const auto parent : node.parents) {
        const auto& pair = topology_.pair(truth_.hits[parent].point, point);
        cuts |= pair.cuts();
        reassembles |= pair.reassembles();
        if (pair.cuts() && truth_.hits[hit].repeat_of == 0) ++cut;
        if (pair.reassembles()) joined = std::max(joined, node.parents.size());
      }
    }
    if (cuts) return cut;
    return reassembles ? joined : 0;
  }

  // The hits that led to this end; nothing if some of them were not seen.
  std::optional<Graph> backward(std::size_t end) const {
    const auto reached = behind(end);
    if (!std::ranges::all_of(reached, [this](std::size_t hit) { return seen(hit); }))
      return std::nullopt;
    auto graph = tie(reached);
    graph.end = end;
    return graph;
  }

  std::vector<std::size_t> unseen_behind(std::size_t end) const {
    std::vector<std::size_t> unseen;
    for (const auto hit : behind(end))
      if (!seen(hit)) unseen.push_back(hit);
    return unseen;
  }

 private:
  std::set<std::size_t> behind(std::size_t end) const {
    std::set<std::size_t> reached = {end};
    std::vector<std::size_t> pending = {end};
    const auto visit = [&](HitId id) {
      if (id != 0 && reached.insert(index(id)).second) pending.push_back(index(id));
    };
    while (!pending.empty()) {
      const auto& hit = truth_.hits[pending.back()];
      pending.pop_back();
      for (const auto parent : hit.parents) visit(parent);
      visit(hit.repeat_of);
    }
    return reached;
  }

  Graph tie(const std::set<std::size_t>& reached) const {
    Graph graph;
    for (const auto hit : reached) {
      auto& node = graph.nodes[hit];
      for (const auto parent : truth_.hits[hit].parents)
        if (reached.contains(index(parent))) node.parents.push_back(index(parent));
      std::ranges::sort(node.parents);
      const auto earlier = truth_.hits[hit].repeat_of;
      if (earlier != 0 && reached.contains(index(earlier))) node.repeat_of = index(earlier);
    }
    return graph;
  }

  // The output hit with which all bytes of the packet were out. Bytes of our headers count: they
  // are the part of the SDU that its pieces do not cover.
  std::size_t whole(PacketId packet, const std::set<std::size_t>& reached) const {
    const auto bytes = truth_.find_packet(packet)->bytes;
    IntervalSet out;
    for (const auto hit : reached) {
      if (!topology_.points[truth_.hits[hit].point].output) continue;
      for (const auto& piece : truth_.hits[hit].pieces)
        if (piece.packet == packet) out.add({piece.lo, piece.hi});
      if (out.holds({0, bytes})) return hit;
    }
    return SIZE_MAX;
  }

  // A unit that is cut still waits where not all of its bytes were cut off.
  bool all_sent(std::size_t hit) const {
    IntervalSet sent;
    for (const auto child : children_[hit]) {
      const auto& down = topology_.points[truth_.hits[child].point];
      if (!seen_[child]) continue;
      // The child took all bytes that were left.
      if (!topology_.pair(truth_.hits[hit].point, truth_.hits[child].point).cuts()) return true;
      const auto begin = static_cast<std::uint32_t>(truth_.hits[child].values[*down.offset]);
      const auto bytes = static_cast<std::uint32_t>(truth_.hits[child].values[*down.length]);
      sent.add({begin, begin + bytes});
    }
    const auto& plan = topology_.points[truth_.hits[hit].point];
    return sent.bytes() == 0 || sent.bytes() == truth_.hits[hit].values[*plan.length];
  }

  // Something of it is still on its way, or could be sent again.
  bool may_go_on(const std::set<std::size_t>& reached) const {
    bool acknowledged_mode = false;
    bool given_up = false;
    for (const auto hit : reached) {
      const auto& plan = topology_.points[truth_.hits[hit].point];
      if (plan.awaits_ack) acknowledged_mode = true;
      if (plan.ack) given_up = true;
      if (plan.drop && !truth_.hits[hit].parents.empty()) {
        const auto& parent = truth_.hits[index(truth_.hits[hit].parents.front())];
        given_up |= topology_.points[parent.point].awaits_ack;
      }
      const bool leaf = std::ranges::none_of(
          children_[hit], [&](std::size_t child) { return reached.contains(child); });
      if (leaf && !plan.ends()) return true;
      if (!all_sent(hit)) return true;
    }
    return acknowledged_mode && !given_up;
  }

  const Truth& truth_;
  const Topology& topology_;
  std::vector<bool> seen_;
  std::vector<std::vector<std::size_t>> children_;
};

class Collector : public Observer {
 public:
  explicit Collector(std::span<const Observation> observations) : observations_(observations) {}

  void on_journey(const Journey& journey) override {
    if (journey.headless) return;
    if (journey.outcome == Outcome::kIncomplete) ++incomplete;
    const bool ended =
        journey.outcome == Outcome::kComplete || journey.outcome == Outcome::kDropped;
    Graph graph;
    for (const auto& step : journey.steps) {
      auto& node = graph.nodes[hit(step)];
      for (const auto parent : step.parents) node.parents.push_back(hit(journey.steps[parent]));
      std::ranges::sort(node.parents);
      if (step.repeat_of != kNoStep) node.repeat_of = hit(journey.steps[step.repeat_of]);
    }
    if (ended) graph.end = hit(journey.steps[journey.end_step]);
    const bool down = journey.direction == model::Direction::kDownlink;
    if (!down && !ended) {
      ++unfinished;
      return;
    }
    const auto key = hit(journey.steps[down ? 0 : journey.end_step]);
    repeats += journey.retransmissions;
    if (journey.segments > 1) segments += journey.segments;
    pieces[key] = journey.segments;
    if (!graphs.emplace(key, std::move(graph)).second) ++twice;
  }

  std::unordered_map<std::size_t, Graph> graphs;        // by input hit (D), output or drop hit (U)
  std::unordered_map<std::size_t, std::size_t> pieces;  // by the same
  std::uint64_t unfinished = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t repeats = 0;
  std::uint64_t segments = 0;
  std::uint64_t twice = 0;

 private:
  std::size_t hit(const Step& step) const { return observations_[step.seq].hit; }

  std::span<const Observation> observations_;
};

std::string words(const Truth& truth, const Graph& graph) {
  std::string text;
  for (const auto& [hit, node] : graph.nodes) {
    fmt::format_to(std::back_inserter(text), "    #{} {} [{}] from {}{}{}\n", hit,
                   truth.points[truth.hits[hit].point].where,
                   fmt::join(truth.hits[hit].values, " "), fmt::join(node.parents, ","),
                   node.repeat_of == SIZE_MAX ? "" : fmt::format(" repeats {}", node.repeat_of),
                   hit == graph.end ? " END" : "");
  }
  return text;
}

void feed(const Truth& truth, std::span<const Observation> observations, Rebuilder& rebuilder) {
  model::EventBatch batch;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const auto& hit = truth.hits[observations[i].hit];
    // The sequence number leads back to the observation.
    batch.append({observations[i].ts_ns, i, 0, hit.tid, hit.point, hit.values});
    if (batch.size() < 4096) continue;
    rebuilder.consume(batch);
    batch.clear();
  }
  rebuilder.consume(batch);
  rebuilder.finish();
}

}  // namespace

model::Schema schema_of(const Truth& truth) {
  model::Schema schema;
  for (const auto& point : truth.points)
    if (auto parsed = model::parse_point(point.where, point.fields))
      schema.points.push_back(std::move(*parsed));
  return schema;
}

std::vector<Observation> observe_all(const Truth& truth) {
  std::vector<Observation> observations;
  observations.reserve(truth.hits.size());
  for (std::size_t i = 0; i < truth.hits.size(); ++i)
    observations.push_back({truth.hits[i].before_ns, i});
  return observations;
}

Result<Comparison> compare_with_truth(const Truth& truth, std::span<const Observation> observations,
                                      CaptureMarks marks, Vanishing vanishing) {
  const auto schema = schema_of(truth);
  Collector found(observations);
  SJ_TRY(rebuilder, Rebuilder::create(schema, Rules{}, std::move(marks), found));
  feed(truth, observations, rebuilder);
  const Expected expected(truth, rebuilder.topology(), observations);
  Comparison result;
  result.events = observations.size();
  result.unfinished = found.unfinished;
  result.repeats = found.repeats;
  result.segments = found.segments;
  result.totals = rebuilder.totals();
  const auto differ = [&](std::string text) {
    ++result.different;
    if (result.differences.size() < kDifferences) result.differences.push_back(std::move(text));
  };
  std::set<std::size_t> known;
  for (std::size_t i = 0; i < truth.hits.size(); ++i) {
    const auto& plan = rebuilder.topology().points[truth.hits[i].point];
    const bool down = plan.direction == model::Direction::kDownlink;
    if (down ? !plan.input : !(plan.output || plan.drop)) continue;
    if (!expected.seen(i)) continue;
    const auto wanted = down ? std::optional(expected.forward(i)) : expected.backward(i);
    if (!wanted) continue;
    ++result.expected;
    known.insert(i);
    const Graph& graph = *wanted;
    if (plan.drop) ++result.dropped;
    const auto mine = found.graphs.find(i);
    if (mine == found.graphs.end()) {
      differ(fmt::format("not found:\n{}", words(truth, graph)));
    } else if (mine->second != graph) {
      differ(fmt::format("expected:\n{}  found:\n{}", words(truth, graph),
                         words(truth, mine->second)));
    } else if (const auto pieces = expected.pieces(graph);
               pieces != 0 && pieces != found.pieces[i]) {
      differ(fmt::format("{} pieces, found {}:\n{}", pieces, found.pieces[i], words(truth, graph)));
    } else {
      ++result.equal;
    }
  }
  for (const auto& [key, graph] : found.graphs)
    if (!known.contains(key)) {
      std::string unseen;
      for (const auto hit : expected.unseen_behind(key))
        fmt::format_to(std::back_inserter(unseen), "    #{} {} [{}] at {}\n", hit,
                       truth.points[truth.hits[hit].point].where,
                       fmt::join(truth.hits[hit].values, " "), truth.hits[hit].before_ns);
      differ(fmt::format("invented:\n{}  not seen:\n{}", words(truth, graph), unseen));
    }
  if (found.twice > 0) differ(fmt::format("{} found twice", found.twice));
  if (found.incomplete > 0 && vanishing == Vanishing::kNever)
    differ(fmt::format("{} called incomplete", found.incomplete));
  return result;
}

}  // namespace sojourn::journeys
