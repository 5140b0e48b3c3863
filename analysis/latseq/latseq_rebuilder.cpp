#include "analysis/latseq/latseq_rebuilder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sojourn::latseq {

namespace {

constexpr std::uint64_t kSearchNs = 100'000'000;  // from an input to all of its journey's events
constexpr std::uint64_t kForkNs = 100'000'000;    // from an event to its latest brother
constexpr std::size_t kMaxJourneys = 2'000'000;

using Indices = std::vector<std::uint32_t>;

// The paths that LatSeq still considers for a journey, and how many places of each were passed.
using OpenPaths = std::vector<std::pair<std::uint32_t, std::size_t>>;

struct Draft {
  Journey journey;
  bool complete = false;
  std::optional<std::uint32_t> path;
  OpenPaths open;
  std::uint32_t first = 0;  // the measure whose global ids are the journey's own
  bool is_branch = false;
};

class Rebuilder {
 public:
  Rebuilder(Recording& recording, const Ends& ends) : recording_(recording) {
    for (std::size_t direction = 0; direction < 2; ++direction) {
      for (const auto& name : ends.in[direction])
        in_[direction].push_back(recording.names().of(name));
      for (const auto& name : ends.out[direction])
        out_[direction].push_back(recording.names().of(name));
    }
    uid_ = recording.names().of("uid");
    const auto& measures = recording.measures();
    for (std::uint32_t i = 0; i < measures.size(); ++i)
      by_source_[measures[i].uplink][measures[i].src].push_back(i);
  }

  Result<Journeys> run(Paths paths) {
    result_.paths = std::move(paths);
    for (std::uint32_t i = 0; i < recording_.measures().size(); ++i) {
      const Measure& measure = recording_.measures()[i];
      if (!contains(in_[measure.uplink], measure.src)) continue;
      ++result_.inputs;
      SJ_CHECK(begin(i));
    }
    for (Draft& draft : drafts_) {
      if (!draft.complete || !draft.path) continue;
      draft.journey.path = *draft.path;
      result_.journeys.push_back(std::move(draft.journey));
    }
    std::vector<NameId> inputs = in_[0];
    inputs.insert(inputs.end(), in_[1].begin(), in_[1].end());
    share_events(result_, recording_, inputs, StayOf::kLatestNewEvent);
    return std::move(result_);
  }

 private:
  using Fork = std::pair<std::uint32_t, Ids>;  // a brother, and the ids that it was found by

  static bool contains(const std::vector<NameId>& names, NameId name) {
    return std::ranges::find(names, name) != names.end();
  }

  const Measure& measure(std::uint32_t index) const { return recording_.measures()[index]; }

  Result<std::uint32_t> new_draft(Draft draft) {
    if (drafts_.size() == kMaxJourneys)
      return fail("LatSeq's rebuilder makes more than {} journeys of this trace", kMaxJourneys);
    const auto number = static_cast<std::uint32_t>(drafts_.size());
    const Id uid = {.name = uid_, .value = number};
    if (draft.journey.ids.empty())
      draft.journey.ids.push_back(uid);
    else
      put(draft.journey.ids, uid);
    drafts_.push_back(std::move(draft));
    return number;
  }

  Result<void> begin(std::uint32_t input) {
    const Measure& first = measure(input);
    Draft draft;
    draft.first = input;
    draft.journey.uplink = first.uplink;
    draft.journey.globals = recording_.copy(first.globals);
    draft.journey.in_ns = first.ts_ns;
    draft.journey.way.push_back(recording_.first_equal(input));
    const auto& paths = result_.paths[first.uplink];
    for (std::uint32_t path = 0; path < paths.size(); ++path)
      if (paths[path].front() == first.src) draft.open.emplace_back(path, paths[path].size() > 1);
    if (draft.open.size() == 1) draft.path = draft.open.front().first;
    const Range locals = first.locals;
    SJ_TRY(number, new_draft(std::move(draft)));
    for (const Id& id : recording_.copy(locals)) put(drafts_[number].journey.ids, id);
    current_ = number;
    limit_ns_ = first.ts_ns + kSearchNs;
    return extend(number, first.src, input + 1);
  }

  // Takes every next event that fits, until the journey is complete; then does the same for the
  // brothers of each of its events.
  Result<void> extend(std::uint32_t number, NameId src, std::uint32_t at) {
    std::map<std::uint32_t, std::vector<Fork>> forks;
    const bool uplink = drafts_[number].journey.uplink;
    while (!drafts_[number].complete) {
      const auto next = next_candidate(uplink, src, at);
      if (!next || measure(*next).ts_ns > limit_ns_) break;
      at = *next + 1;
      Ids matched;
      if (!matches(*next, number, matched)) continue;
      adopt_globals(number, *next);
      find_brothers(number, *next, forks);
      Draft& draft = drafts_[number];
      const Measure& event = measure(*next);
      draft.journey.way.push_back(recording_.first_equal(*next));
      for (const Id& id : matched) put(draft.journey.ids, id);
      SJ_CHECK(narrow_paths(number, *next));
      src = event.src;
      if (!contains(out_[uplink], event.dest)) continue;
      draft.journey.out_ns = event.ts_ns;
      draft.journey.properties = recording_.copy(event.properties);
      draft.complete = true;
    }
    if (!drafts_[number].complete || forks.empty()) return {};
    const Indices way = drafts_[number].journey.way;
    for (const std::uint32_t event : way) {
      const auto brothers = forks.find(event);
      if (brothers == forks.end()) continue;
      for (const Fork& fork : brothers->second) SJ_CHECK(branch(number, event, fork));
    }
    return {};
  }

  // Begins another journey at a brother of the event.
  Result<void> branch(std::uint32_t number, std::uint32_t event, const Fork& fork) {
    const auto& [brother, matched] = fork;
    Draft draft = drafts_[number];
    draft.is_branch = true;
    draft.complete = false;
    auto& way = draft.journey.way;
    way.erase(std::ranges::find(way, event), way.end());
    way.push_back(brother);
    SJ_TRY(made, new_draft(std::move(draft)));
    Draft& branch = drafts_[made];
    for (const Id& id : matched) put(branch.journey.ids, id);
    const Measure& measured = measure(brother);
    if (contains(out_[branch.journey.uplink], measured.dest)) {
      // A branch keeps the properties of the journey that it branches off.
      branch.journey.out_ns = measured.ts_ns;
      branch.complete = true;
      return {};
    }
    return extend(made, measured.src, brother + 1);
  }

  // Returns the first event, from `at` on, at a source that `src` may lead to.
  std::optional<std::uint32_t> next_candidate(bool uplink, NameId src, std::uint32_t at) {
    std::optional<std::uint32_t> first;
    for (const Indices* const indices : sources_after(uplink, src)) {
      const auto next = std::ranges::lower_bound(*indices, at);
      if (next != indices->end() && (!first || *next < *first)) first = *next;
    }
    return first;
  }

  const std::vector<const Indices*>& sources_after(bool uplink, NameId src) {
    const auto [known, fresh] = after_.try_emplace({uplink, src});
    if (!fresh) return known->second;
    std::vector<NameId> seen = in_[uplink];  // an input never continues a journey
    for (const NameId next : recording_.graph().find(src)->next) {
      if (contains(seen, next)) continue;
      seen.push_back(next);
      const auto indices = by_source_[uplink].find(next);
      if (indices != by_source_[uplink].end()) known->second.push_back(&indices->second);
    }
    return known->second;
  }

  // Matches an event by ids. Global ids must all be the journey's (which may have none yet). Local
  // ids must agree if the journey's last event has them too. A list of that event is narrowed to
  // the value that matched, and stays narrow even if another id turns out not to match.
  bool matches(std::uint32_t candidate, std::uint32_t number, Ids& matched) {
    const Journey& journey = drafts_[number].journey;
    if (!journey.globals.empty()) {
      for (const Id& id : recording_.ids(measure(candidate).globals)) {
        const auto mine = std::ranges::find(journey.globals, id.name, &Id::name);
        if (mine == journey.globals.end() || mine->value != id.value) return false;
      }
    }
    const auto last = recording_.ids(measure(journey.way.back()).locals);
    for (const Id& id : std::as_const(recording_).ids(measure(candidate).locals)) {
      const auto mine = std::ranges::find(last, id.name, &Id::name);
      if (mine == last.end()) continue;
      if (id.list != kOneValue) return false;
      if (mine->list != kOneValue) {
        if (std::ranges::find(recording_.lists()[mine->list], id.value) ==
            recording_.lists()[mine->list].end())
          return false;
        *mine = id;
      } else if (mine->value != id.value) {
        return false;
      }
      matched.push_back(id);
    }
    return true;
  }

  void adopt_globals(std::uint32_t number, std::uint32_t event) {
    Draft& draft = drafts_[number];
    if (!draft.journey.globals.empty()) return;
    draft.journey.globals = recording_.copy(measure(event).globals);
    if (!draft.is_branch && !draft.journey.globals.empty())
      recording_.set_globals(draft.first, draft.journey.globals);
  }

  void find_brothers(std::uint32_t number, std::uint32_t event,
                     std::map<std::uint32_t, std::vector<Fork>>& forks) {
    const Measure& measured = measure(event);
    const std::uint64_t until_ns = measured.ts_ns + kForkNs;
    const Indices& same_source = by_source_[measured.uplink][measured.src];
    for (auto next = std::ranges::upper_bound(same_source, event);
         next != same_source.end() && measure(*next).ts_ns <= until_ns; ++next) {
      Ids matched;
      if (matches(*next, number, matched)) forks[event].emplace_back(*next, std::move(matched));
    }
  }

  // LatSeq counts the places of a branch for the journey that began last. It ends with an error if
  // the path of that journey is decided already.
  Result<void> narrow_paths(std::uint32_t number, std::uint32_t event) {
    Draft& draft = drafts_[number];
    if (draft.path) return {};
    Draft& counted = drafts_[current_];
    const Measure& measured = measure(event);
    const auto& paths = result_.paths[measured.uplink];
    const auto undecided = [&] {
      return fail(
          "LatSeq's rebuilder ends with an error at its event {}, {}: it cannot tell which path a "
          "journey takes",
          event, recording_.segment(measured));
    };
    std::vector<std::uint32_t> other_ways;
    for (std::size_t i = 0; i < draft.open.size(); ++i) {
      const auto [path, passed] = draft.open[i];
      if (passed >= paths[path].size()) return undecided();
      if (paths[path][passed] != measured.src) {
        other_ways.push_back(path);
      } else if (paths[path].size() > 1) {
        const auto mine = std::ranges::find(counted.open, path, &OpenPaths::value_type::first);
        if (counted.path || mine == counted.open.end()) return undecided();
        ++mine->second;
      }
    }
    std::erase_if(draft.open, [&](const auto& open) {
      return std::ranges::find(other_ways, open.first) != other_ways.end();
    });
    if (draft.open.size() != 1) return {};
    if (counted.path || counted.open.empty()) return undecided();
    draft.path = counted.open.front().first;
    draft.journey.path_late = true;
    return {};
  }

  Recording& recording_;
  std::array<std::vector<NameId>, 2> in_;
  std::array<std::vector<NameId>, 2> out_;
  NameId uid_ = 0;
  std::array<std::unordered_map<NameId, Indices>, 2> by_source_;  // by direction
  std::map<std::pair<bool, NameId>, std::vector<const Indices*>> after_;
  std::vector<Draft> drafts_;
  Journeys result_;
  std::uint32_t current_ = 0;   // the journey that began last
  std::uint64_t limit_ns_ = 0;  // of its events
};

}  // namespace

Result<Journeys> rebuild_as_latseq(Recording& recording, const Ends& ends) {
  SJ_TRY(paths, recording.graph().paths(recording.names(), ends));
  return Rebuilder(recording, ends).run(std::move(paths));
}

}  // namespace sojourn::latseq
