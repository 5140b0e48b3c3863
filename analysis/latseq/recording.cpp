#include "analysis/latseq/recording.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analysis/base/letters.h"
#include "analysis/model/wall_clock.h"

namespace sojourn::latseq {

namespace {

constexpr std::size_t kMaxEvents = 50'000'000;

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

// A field as LatSeq reads it: letters, then digits; the rest is ignored. So "n3len5" is n 3, and
// "ue_id6" is no field.
struct Recording::FieldPlan {
  bool read = false;
  std::optional<std::uint64_t> fixed;  // else the event's own value
  bool is_signed = false;
  bool is_rnti = false;  // 65535 there means that there is no terminal
  model::Role role = model::Role::kProperty;
  NameId name = 0;
};

struct Recording::PointPlan {
  bool uplink = false;
  bool carries_units = false;
  NameId src = 0;
  NameId dest = 0;
  std::vector<FieldPlan> fields;
};

void put(Ids& ids, const Id& id) {
  const auto same = std::ranges::find(ids, id.name, &Id::name);
  if (same == ids.end())
    ids.push_back(id);
  else
    *same = id;
}

Recording::PointPlan Recording::plan_of(const model::Point& point) {
  PointPlan plan;
  plan.uplink = point.direction == model::Direction::kUplink;
  plan.carries_units = plan.uplink || point.direction == model::Direction::kDownlink;
  plan.src = names_.of(point.src);
  plan.dest = names_.of(point.dest);
  for (const model::Field& field : point.fields) {
    const auto letters = std::ranges::find_if_not(field.name, is_letter);
    const std::string_view rest(letters, field.name.end());
    FieldPlan& read = plan.fields.emplace_back();
    read.role = field.role;
    read.is_signed = field.is_signed;
    read.is_rnti = field.name.ends_with("rnti");
    read.name = names_.of({field.name.begin(), letters});
    read.read = letters != field.name.begin() && (rest.empty() || is_digit(rest.front()));
    if (rest.empty()) continue;
    std::uint64_t fixed = 0;
    for (const char c : rest.substr(0, 18)) {
      if (!is_digit(c)) break;
      fixed = fixed * 10 + static_cast<std::uint64_t>(c - '0');
    }
    read.fixed = fixed;
  }
  return plan;
}

Result<Recording> Recording::read(trace::Reader& reader, const Progress& progress) {
  Recording recording;
  const bool imported = reader.capture().engine == model::Engine::kImport;
  recording.file_ = imported ? reader.target().name : last_part(reader.path());
  const model::WallClock clock(reader.clocks());
  recording.knows_wall_clock_ = clock.known();
  std::vector<PointPlan> plans;
  for (const model::Point& point : reader.schema().points)
    plans.push_back(recording.plan_of(point));
  std::uint64_t done = 0;
  bool too_many = false;
  SJ_CHECK(reader.merge([&](const model::EventBatch& events) {
    for (std::size_t row = 0; row < events.size(); ++row) {
      const model::EventView event = events[row];
      if (event.point >= plans.size() || !plans[event.point].carries_units ||
          event.values.size() != plans[event.point].fields.size())
        continue;
      const std::uint64_t ts_ns = clock.known() ? clock.realtime_ns(event.ts_ns) : event.ts_ns;
      recording.add(event, plans[event.point], ts_ns);
    }
    progress(done += events.size(), reader.events());
    too_many = recording.measures_.size() > kMaxEvents;
    return !too_many;
  }));
  if (too_many)
    return fail("{}: more than {} events, which LatSeq's way of reading would hold in memory",
                reader.path(), kMaxEvents);
  // Events are out of order if the wall clock was set back.
  std::ranges::stable_sort(recording.measures_, {}, &Measure::ts_ns);
  return recording;
}

void Recording::add(const model::EventView& event, PointPlan& plan, std::uint64_t ts_ns) {
  graph_.add(names_, plan.uplink, plan.src, plan.dest);
  for (std::size_t i = 0; i < plan.fields.size(); ++i)
    if (plan.fields[i].is_rnti && std::to_string(event.values[i]).starts_with("65535")) return;
  measures_.push_back({.ts_ns = ts_ns,
                       .seq = event.seq,
                       .stream = event.stream,
                       .src = plan.src,
                       .dest = plan.dest,
                       .uplink = plan.uplink,
                       .properties = add_ids(event, plan, model::Role::kProperty),
                       .globals = add_ids(event, plan, model::Role::kGlobal),
                       .locals = add_ids(event, plan, model::Role::kLocal)});
}

Range Recording::add_ids(const model::EventView& event, const PointPlan& plan, model::Role role) {
  const auto begin = static_cast<std::uint32_t>(pool_.size());
  for (std::size_t i = 0; i < plan.fields.size(); ++i) {
    const FieldPlan& field = plan.fields[i];
    if (field.role != role || !field.read) continue;
    // A sign is no digit.
    const bool negative = field.is_signed && static_cast<std::int64_t>(event.values[i]) < 0;
    if (negative && !field.fixed) continue;
    add_id(begin, {.name = field.name, .value = field.fixed.value_or(event.values[i])}, role);
  }
  return {begin, static_cast<std::uint32_t>(pool_.size())};
}

// The last value of a property or a global id counts. A second local id of the same name makes a
// list, which stands at the end.
void Recording::add_id(std::uint32_t begin, Id id, model::Role role) {
  const auto same = std::ranges::find(pool_.begin() + begin, pool_.end(), id.name, &Id::name);
  if (same == pool_.end()) {
    pool_.push_back(id);
  } else if (role != model::Role::kLocal) {
    same->value = id.value;
  } else if (same->list != kOneValue) {
    lists_[same->list].push_back(id.value);
  } else {
    Id list = *same;
    list.list = static_cast<std::uint32_t>(lists_.size());
    lists_.push_back({same->value, id.value});
    pool_.erase(same);
    pool_.push_back(list);
  }
}

Ids Recording::copy(Range range) const {
  const auto all = ids(range);
  return {all.begin(), all.end()};
}

void Recording::set_globals(std::uint32_t measure, const Ids& globals) {
  const auto begin = static_cast<std::uint32_t>(pool_.size());
  pool_.insert(pool_.end(), globals.begin(), globals.end());
  measures_[measure].globals = {begin, static_cast<std::uint32_t>(pool_.size())};
}

bool Recording::equal(Range left, Range right) const {
  const auto mine = ids(left);
  const auto theirs = ids(right);
  return mine.size() == theirs.size() && std::ranges::all_of(mine, [&](const Id& id) {
           const auto same = std::ranges::find(theirs, id.name, &Id::name);
           if (same == theirs.end() || (same->list == kOneValue) != (id.list == kOneValue))
             return false;
           return id.list == kOneValue ? same->value == id.value
                                       : lists_[same->list] == lists_[id.list];
         });
}

bool Recording::equal(const Measure& left, const Measure& right) const {
  return left.uplink == right.uplink && left.src == right.src && left.dest == right.dest &&
         equal(left.properties, right.properties) && equal(left.globals, right.globals) &&
         equal(left.locals, right.locals);
}

std::uint32_t Recording::first_equal(std::uint32_t measure) const {
  const Measure& wanted = measures_[measure];
  std::uint32_t first = measure;
  while (first > 0 && measures_[first - 1].ts_ns == wanted.ts_ns) --first;
  while (first < measure && !equal(measures_[first], wanted)) ++first;
  return first;
}

std::string Recording::segment(const Measure& measure) const {
  return names_[measure.src] + "--" + names_[measure.dest];
}

}  // namespace sojourn::latseq
