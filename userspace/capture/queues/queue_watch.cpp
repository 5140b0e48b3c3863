#include "userspace/capture/queues/queue_watch.h"

#include <string>
#include <utility>

#include <sojourn/ring_abi.h>

namespace sojourn::capture {

namespace {

model::QueueSide side_of(const QueueSide& side) {
  return {.stage = side.stage, .instance = side.instance, .pid = side.pid};
}

model::QueueInfo about_of(const Queue& queue) {
  return {.id = queue.id,
          .name = queue.name,
          .kind = model::queue_kind_from_name(queue.kind).value_or(model::QueueKind::kStage),
          .producer = side_of(queue.producer),
          .consumer = side_of(queue.consumer),
          .group = queue.group,
          .capacity = queue.capacity};
}

}  // namespace

model::QueueChanges QueueWatch::scan(std::uint64_t now_ns) {
  now_ns_ = now_ns;
  refused_ = 0;
  for (Tables& tables : arenas_) {
    // An arena that was valid may be damaged by now: its queues stay as they were.
    const auto slots = queue_slots(tables.arena, pid_);
    if (!slots) continue;
    refused_ += slots->refused;
    const std::size_t count = tables.joint ? slots->tables.size() : 1;  // the joint one is last
    for (std::size_t table = 0; table < count; ++table)
      scan_table(slots->tables[table], tables.known[table]);
  }
  last_ns_ = now_ns;
  return std::exchange(changes_, {});
}

void QueueWatch::scan_table(std::span<const sj_queue> slots, std::vector<Known>& known) {
  if (known.size() < slots.size()) known.resize(slots.size());
  for (std::size_t place = 0; place < slots.size(); ++place)
    if (read_mark(slots[place]) != known[place].mark) look_at(slots[place], known[place]);
}

// A side of a queue that names no process is the process itself.
model::QueueInfo QueueWatch::describe(const Queue& queue) const {
  model::QueueInfo about = about_of(queue);
  if (stranger_ == 0) return about;
  // Maps ids of one process one to one, so only ids of different processes could be equal, with a
  // chance of one in 2^32.
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  about.id = (about.id ^ static_cast<std::uint64_t>(stranger_)) * kOdd;
  if (about.id == 0) about.id = kOdd;
  if (about.producer.pid == 0) about.producer.pid = stranger_;
  if (about.consumer.pid == 0) about.consumer.pid = stranger_;
  return about;
}

// A description that is just being written is looked at again next time.
void QueueWatch::look_at(const sj_queue& slot, Known& known) {
  const QueueMark mark = read_mark(slot);
  if (known.mark.id != 0 && known.mark.id != mark.id) {
    pass_->remove(slot);
    tell(model::QueueEvent::kEnded, known.about);
    known = {};
  }
  if (mark.id == 0) return;
  const auto queue = read_queue(slot);
  if (!queue || queue->id != mark.id) return;
  model::QueueInfo about = describe(*queue);
  if (known.mark.id == 0) {
    pass_->add(slot, mark.id, about.id);
    tell(last_ns_ == 0 ? model::QueueEvent::kFound : model::QueueEvent::kAppeared, about);
  } else if (about != known.about) {
    tell(model::QueueEvent::kDescribed, about);
  }
  known = {mark, std::move(about)};
}

void QueueWatch::tell(model::QueueEvent event, const model::QueueInfo& about) {
  changes_.push_back({event, now_ns_, last_ns_, about});
}

}  // namespace sojourn::capture
