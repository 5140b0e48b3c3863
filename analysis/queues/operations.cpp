#include "analysis/queues/operations.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sojourn::queues {

namespace {

constexpr std::size_t kMaxInside = 1'000'000;  // items of one queue whose arrival is remembered

using Field = std::optional<std::size_t>;

std::optional<std::uint64_t> value(const model::EventView& event, const Field& field) {
  if (!field || *field >= event.values.size()) return std::nullopt;
  return event.values[*field];
}

// The number of items inside, by the depth in the event. In a pool that depth is the number of free
// buffers.
std::uint64_t inside(const model::QueueInfo& about, std::uint64_t depth) {
  if (about.kind != model::QueueKind::kPool) return depth;
  return about.capacity - std::min(about.capacity, depth);
}

// The number of items inside before a queue's first event, by the depth after it.
std::uint64_t inside_before(const model::QueueInfo& about, bool enqueues, std::uint64_t after) {
  return inside(about, enqueues ? after - std::min<std::uint64_t>(after, 1) : after + 1);
}

}  // namespace

std::optional<double> OperatedQueue::utilisation() const {
  if (about.kind == model::QueueKind::kBidirectional) return std::nullopt;
  if (about.kind != model::QueueKind::kPool) return meter.utilisation();
  if (about.capacity == 0) return std::nullopt;
  return meter.levels().mean() / static_cast<double>(about.capacity);
}

std::optional<double> OperatedQueue::predicted_ns() const {
  return is_waiting_line() ? meter.predicted_ns() : std::nullopt;
}

std::vector<std::uint32_t> main_threads(const std::map<std::uint32_t, std::uint64_t>& items) {
  const auto all =
      std::accumulate(items.begin(), items.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const auto& one) { return sum + one.second; });
  std::vector<std::uint32_t> threads;
  for (const auto& [thread, amount] : items)
    if (amount * 10 >= all) threads.push_back(thread);
  return threads;
}

Operations::Operations(const model::Schema& schema, const model::QueueChanges& changes,
                       std::uint64_t open_ns, ItemSelection selection)
    : open_ns_(open_ns), selection_(std::move(selection)) {
  for (const model::Point& point : schema.points) {
    auto& plan = plans_.emplace_back();
    const auto queue = point.field("queue");
    if (!queue || point.direction != model::Direction::kScalar || point.src != "queue") continue;
    if (point.dest != "enqueue" && point.dest != "dequeue") continue;
    plan = Plan{.enqueues = point.dest == "enqueue",
                .queue = *queue,
                .item = point.field("item"),
                .depth = point.field("depth")};
  }
  for (const model::QueueChange& change : changes) about_[change.about.id] = change.about;
}

Operations::State& Operations::state(const Plan& plan, const model::EventView& event) {
  const std::uint64_t id = event.values[plan.queue];
  const auto [found, is_new] = queues_.try_emplace(id);
  State& state = found->second;
  if (!is_new) return state;
  const auto known = about_.find(id);
  if (known != about_.end()) state.queue.about = known->second;
  state.queue.about.id = id;
  const auto depth = value(event, plan.depth);
  if (depth) state.unknown = inside_before(state.queue.about, plan.enqueues, *depth);
  const std::uint64_t begin_ns = open_ns_ == 0 ? event.ts_ns : std::min(open_ns_, event.ts_ns);
  state.queue.meter.begin(std::max(begin_ns, selection_.from_ns),
                          selection_.is_selective() ? 0 : state.unknown);
  state.queue.meter.end_no_later_than(selection_.until_ns);
  return state;
}

// Returns whether an item with a number that is inside already is another item. Then the depth has
// grown by one. Otherwise the departure of the first one was lost.
bool Operations::is_namesake(const State& state, const Plan& plan, const model::EventView& event) {
  const auto depth = value(event, plan.depth);
  return depth && inside(state.queue.about, *depth) > state.inside();
}

// An item without a number cannot be followed: it only counts if all items do.
bool Operations::enter(State& state, const Plan& plan, const model::EventView& event) const {
  OperatedQueue& queue = state.queue;
  const auto item = value(event, plan.item);
  bool counts = true;
  if (!item || state.items.size() >= kMaxInside) {
    counts = !selection_.is_selective();
    ++state.unknown;
  } else {
    const auto before = state.items.lower_bound(*item);
    const bool is_inside = before != state.items.end() && before->first == *item;
    if (is_inside && is_namesake(state, plan, event)) {
      ++queue.namesakes;
    } else if (is_inside) {
      ++queue.unseen_out;
      if (before->second.counts) {
        queue.meter.leave(event.ts_ns, false);
        queue.meter.lingered(before->second.entered_ns);
      }
      state.items.erase(before);
    }
    counts = selection_(event);
    state.items.emplace(*item, Item{.entered_ns = event.ts_ns, .counts = counts});
  }
  if (counts) queue.meter.enter(event.ts_ns);
  return counts;
}

// If a higher mark follows, only the items at that one count.
void Operations::note_at_mark(OperatedQueue& queue, std::uint64_t number, const Item& item,
                              std::uint64_t left_ns) {
  const std::uint64_t mark_ns = queue.meter.high_water().ts_ns;
  if (queue.mark_ns != mark_ns) {
    queue.mark_ns = mark_ns;
    queue.inside = 0;
    queue.items.clear();
  }
  if (mark_ns < item.entered_ns || mark_ns >= left_ns) return;
  ++queue.inside;
  if (queue.items.size() < OperatedQueue::kMaxListed) queue.items.push_back(number);
}

bool Operations::leave(State& state, const Plan& plan, const model::EventView& event) const {
  OperatedQueue& queue = state.queue;
  const auto number = value(event, plan.item);
  const auto found = number ? state.items.lower_bound(*number) : state.items.end();
  if (found != state.items.end() && found->first == *number) {
    const Item item = found->second;
    state.items.erase(found);
    if (!item.counts) return false;
    queue.meter.leave(event.ts_ns, true);
    queue.meter.stayed(item.entered_ns, event.ts_ns);
    note_at_mark(queue, *number, item, event.ts_ns);
    return true;
  }
  const bool was_there = state.unknown != 0;
  if (was_there)
    --state.unknown;
  else
    ++queue.unseen_in;
  if (selection_.is_selective()) return false;
  if (was_there)
    queue.meter.leave(event.ts_ns, true);
  else
    queue.meter.leave_uncounted(event.ts_ns);
  return true;
}

void Operations::consume(const model::EventBatch& events) {
  for (std::size_t row = 0; row < events.size(); ++row) {
    const model::EventView event = events[row];
    if (event.point >= plans_.size() || !plans_[event.point]) continue;
    const Plan& plan = *plans_[event.point];
    if (plan.queue >= event.values.size()) continue;
    State& queue = state(plan, event);
    const bool is_pool = queue.queue.about.kind == model::QueueKind::kPool;
    const bool counts =
        plan.enqueues != is_pool ? enter(queue, plan, event) : leave(queue, plan, event);
    if (counts) ++(plan.enqueues ? queue.queue.fed_by : queue.queue.drained_by)[event.tid];
  }
}

void Operations::finish(std::uint64_t end_ns) {
  for (auto& [id, state] : queues_) {
    state.queue.meter.end(end_ns);
    for (const auto& [number, item] : state.items)
      if (item.counts) note_at_mark(state.queue, number, item, UINT64_MAX);
  }
}

std::vector<const OperatedQueue*> Operations::queues() const {
  std::vector<const OperatedQueue*> all;
  all.reserve(queues_.size());
  for (const auto& [id, state] : queues_)
    if (!selection_.is_selective() || state.queue.meter.in() != 0) all.push_back(&state.queue);
  return all;
}

// Queues that are fed by the same threads have the same queues before them, without themselves.
std::vector<Operations::Before> Operations::before() const {
  const auto all = queues();
  std::map<std::uint32_t, std::vector<std::size_t>> drained_by;
  for (std::size_t index = 0; index < all.size(); ++index)
    if (all[index]->is_waiting_line())
      for (const std::uint32_t thread : main_threads(all[index]->drained_by))
        drained_by[thread].push_back(index);

  std::map<std::vector<std::uint32_t>, std::vector<std::size_t>> feeding;
  std::vector<Before> before(all.size());
  for (std::size_t into = 0; into < all.size(); ++into) {
    if (!all[into]->is_waiting_line()) continue;
    const auto [known, is_new] = feeding.try_emplace(main_threads(all[into]->fed_by));
    auto& sources = known->second;
    if (is_new) {
      for (const std::uint32_t thread : known->first) {
        const auto& more = drained_by[thread];
        sources.insert(sources.end(), more.begin(), more.end());
      }
      std::ranges::sort(sources);
      const auto twice = std::ranges::unique(sources);
      sources.erase(twice.begin(), twice.end());
    }
    before[into].all = sources.size() - (std::ranges::binary_search(sources, into) ? 1 : 0);
    for (const std::size_t from : sources) {
      if (before[into].first.size() == Before::kMaxListed) break;
      if (from != into) before[into].first.push_back(from);
    }
  }
  return before;
}

}  // namespace sojourn::queues
