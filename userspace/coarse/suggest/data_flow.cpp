#include "userspace/coarse/suggest/data_flow.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sojourn::coarse {

namespace {

constexpr std::size_t kMinCalls = 8;
// Fewer: the value is an object whose methods are called in turn.
constexpr std::size_t kMinThings = 3;
constexpr double kMinShare = 0.7;

// A value of a function: the function's index and the value's.
using Place = std::pair<std::size_t, std::size_t>;

// Returns whether the value may be an address on the heap or a stack, aligned to eight bytes.
bool is_address(std::uint64_t value) {
  return value >= 0x10000 && value < (std::uint64_t{1} << 47) && value % 8 == 0;
}

// The number of times that an object was at one place and then at another.
struct Step {
  std::size_t times = 0;
  // Times that the function was called within a call of the other that had another object: it has a
  // copy of that, whose memory an earlier one had.
  std::size_t copies = 0;
  std::uint64_t span_ns = 0;  // all of them
};

struct Edge {
  Place from;
  Place to;
  Step step;
  double share = 0;
};

class Search {
 public:
  Search(std::vector<WatchedCall> calls, std::size_t functions) : calls_(functions) {
    std::ranges::sort(calls, {}, &WatchedCall::ts_ns);
    std::unordered_map<std::uint64_t, Sighting> last;  // by address
    std::map<Place, std::set<std::uint64_t>> things;
    for (const WatchedCall& call : calls) {
      if (call.function >= functions) continue;
      ++calls_[call.function];
      for (std::size_t at = 0; at < kWatched.size(); ++at) {
        const std::uint64_t value = call.values.at(at);
        if (!is_address(value)) continue;
        const Place here(call.function, at);
        things[here].insert(value);
        note(last[value], here, value, call);
      }
      enter(call);
    }
    for (const auto& [place, values] : things) things_[place] = values.size();
  }

  std::vector<std::optional<DataFlowStep>> run() {
    std::map<std::size_t, Edge> into;  // by function
    for (const auto& [ends, step] : steps_) {
      const Edge edge{
          ends.first, ends.second, step,
          static_cast<double>(step.times) / static_cast<double>(calls_[ends.second.first])};
      if (!is_believed(edge)) continue;
      const auto [known, is_new] = into.try_emplace(edge.to.first, edge);
      if (!is_new && rank(edge) > rank(known->second)) known->second = edge;
    }
    break_circles(into);
    std::erase_if(into, [&](const auto& one) { return is_of_copies(one.second); });
    agree(into);
    std::vector<std::optional<DataFlowStep>> found(calls_.size());
    for (const auto& [function, edge] : into) {
      found[function] =
          DataFlowStep{.watched = edge.to.second, .from = edge.from.first, .share = edge.share};
      auto& first = found[edge.from.first];
      if (!first) first = DataFlowStep{.watched = edge.from.second, .from = {}, .share = 0};
    }
    return found;
  }

 private:
  // The last place of an object, and the one before that in another function.
  struct Sighting {
    std::optional<Place> first;  // of the places in that function
    std::uint64_t last_ns = 0;
    std::optional<Place> before;
    std::uint64_t before_ns = 0;
    unsigned seen = 0;  // a bit for each of the function's places
  };

  // Registers often still have the arguments of the call before. So a function may see an object in
  // several places, but only its true argument has the object each time.
  void note(Sighting& thing, Place here, std::uint64_t value, const WatchedCall& call) {
    if (!thing.first || thing.first->first != here.first) {
      thing.before = std::exchange(thing.first, here);
      thing.before_ns = thing.last_ns;
      thing.seen = 0;
    }
    thing.last_ns = call.ts_ns;
    const unsigned bit = 1U << here.second;
    if (!thing.before || (thing.seen & bit) != 0) return;
    thing.seen |= bit;
    Step& step = steps_[{*thing.before, here}];
    ++step.times;
    step.copies += has_copy(*thing.before, value, call) ? 1 : 0;
    step.span_ns += call.ts_ns - thing.before_ns;
  }

  // Adds the call to those of its thread that may not have returned: it is deeper on the stack.
  void enter(const WatchedCall& call) {
    if (call.stack == 0) return;
    auto& open = open_[call.tid];
    while (!open.empty() && open.back().stack <= call.stack) open.pop_back();
    open.push_back(call);
  }

  // Returns whether the innermost call of that function around this one has another object.
  bool has_copy(Place from, std::uint64_t value, const WatchedCall& call) const {
    const auto thread = open_.find(call.tid);
    if (thread == open_.end() || call.stack == 0) return false;
    for (const WatchedCall& around : thread->second | std::views::reverse)
      if (around.stack > call.stack && around.function == from.first)
        return around.values.at(from.second) != value;
    return false;
  }

  bool is_believed(const Edge& edge) const {
    return calls_[edge.to.first] >= kMinCalls && edge.share >= kMinShare &&
           things_.at(edge.to) >= kMinThings;
  }

  bool is_of_copies(const Edge& edge) const {
    return static_cast<double>(edge.step.times - edge.step.copies) <
           kMinShare * static_cast<double>(calls_[edge.to.first]);
  }

  // An object that both functions are methods of is rarely the unit.
  std::tuple<bool, bool, std::size_t, double> rank(const Edge& edge) const {
    return {!is_of_copies(edge), edge.from.second != 0 || edge.to.second != 0, things_.at(edge.to),
            edge.share};
  }

  // A function must pass on the value that it was given; otherwise it may be another unit.
  static void agree(std::map<std::size_t, Edge>& into) {
    std::erase_if(into, [&](const auto& one) {
      const Edge& edge = one.second;
      const auto before = into.find(edge.from.first);
      if (before != into.end() && before->second.to.second != edge.from.second) return true;
      // The first of its way gives only one.
      return std::ranges::any_of(into, [&](const auto& other) {
        return other.second.from.first == edge.from.first &&
               other.second.from.second < edge.from.second;
      });
    });
  }

  // Objects are used again, so the last function on their way comes before the first. That step
  // usually takes longest. But an object taken off a list's head was put there, however long ago.
  static void break_circles(std::map<std::size_t, Edge>& into) {
    const auto next_of = [&](std::size_t function) -> std::optional<std::size_t> {
      const auto known = into.find(function);
      return known == into.end() ? std::nullopt : std::optional(known->second.from.first);
    };
    std::vector<std::size_t> all;
    all.reserve(into.size());
    for (const auto& [function, edge] : into) all.push_back(function);
    for (const std::size_t begin : all) {
      std::vector<std::size_t> way;
      std::optional<std::size_t> at = begin;
      while (at && std::ranges::find(way, *at) == way.end()) {
        way.push_back(*at);
        at = next_of(*at);
      }
      if (!at) continue;
      way.erase(way.begin(), std::ranges::find(way, *at));
      const auto looseness = [&](std::size_t function) {
        const Edge& edge = into.at(function);
        return std::pair(edge.to.second != kWatchedHead, edge.step.span_ns / edge.step.times);
      };
      into.erase(*std::ranges::max_element(way, {}, looseness));
    }
  }

  std::vector<std::size_t> calls_;       // by function
  std::map<Place, std::size_t> things_;  // the number of different objects there
  std::map<std::pair<Place, Place>, Step> steps_;
  std::unordered_map<std::uint32_t, std::vector<WatchedCall>> open_;  // by thread, innermost last
};

}  // namespace

std::vector<std::optional<DataFlowStep>> find_data_flow(std::span<const WatchedCall> calls,
                                                        std::size_t functions) {
  return Search({calls.begin(), calls.end()}, functions).run();
}

}  // namespace sojourn::coarse
