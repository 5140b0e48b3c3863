#include "userspace/capture/session/source_set.h"

#include <algorithm>
#include <iterator>

#include "userspace/base/clock.h"

namespace sojourn::capture {

namespace {

// The period of polls while there is no engine yet.
constexpr std::chrono::microseconds kMaxPeriod{20'000};

}  // namespace

SourceEntry SourceEntry::of(std::unique_ptr<RingEngine> engine, const TracedProcess& process) {
  RingEngine* const rings = engine.get();
  return {.source = std::move(engine), .process = &process, .engine = rings, .rings = rings};
}

SourceEntry SourceEntry::of(std::unique_ptr<BpfEngine> engine, const TracedProcess& process) {
  BpfEngine* const bpf = engine.get();
  return {.source = std::move(engine), .process = &process, .engine = bpf, .bpf = bpf};
}

SourceEntry SourceEntry::of(std::unique_ptr<Source> other, std::size_t kind) {
  return {.source = std::move(other), .kind = kind};
}

Result<std::uint64_t> open_together(const SourceEntries& entries, std::uint64_t latest_ns) {
  // If this thread has to wait for its CPU, the mark may have passed before every source has it.
  for (std::uint64_t lead = kGateLeadNs;; lead *= 2) {
    const std::uint64_t open_ns = std::min(base::monotonic_ns() + lead, latest_ns);
    for (const SourceEntry& one : entries) one.source->open_at(open_ns);
    if (open_ns == latest_ns || base::monotonic_ns() < open_ns) return open_ns;
    for (const SourceEntry& one : entries) SJ_CHECK(one.source->start_over());
  }
}

void SourceSet::add(SourceEntries made) {
  std::ranges::move(made, std::back_inserter(entries_));
}

bool SourceSet::has_rings() const {
  return std::ranges::any_of(entries_, [](const SourceEntry& one) { return one.rings != nullptr; });
}

bool SourceSet::has_bpf() const {
  return std::ranges::any_of(entries_, [](const SourceEntry& one) { return one.bpf != nullptr; });
}

bool SourceSet::has_engines() const {
  return std::ranges::any_of(entries_,
                             [](const SourceEntry& one) { return one.engine != nullptr; });
}

bool SourceSet::has_engines_of(const TracedProcess& process) const {
  return std::ranges::any_of(entries_, [&](const SourceEntry& one) {
    return one.engine != nullptr && one.process == &process;
  });
}

Result<void> SourceSet::connect(CaptureOutput& output) {
  for (const SourceEntry& one : entries_) SJ_CHECK(one.source->connect(output));
  return {};
}

Result<void> SourceSet::arm() {
  for (const SourceEntry& one : entries_) SJ_CHECK(one.source->arm());
  return {};
}

Result<std::uint64_t> SourceSet::open() {
  std::uint64_t earliest = has_engines() ? 0 : UINT64_MAX;
  for (const EventEngine* engine : engines()) earliest = std::max(earliest, engine->earliest_ns());
  return open_together(entries_, earliest);
}

void SourceSet::close_at(std::uint64_t monotonic_ns) {
  for (const SourceEntry& one : entries_) one.source->close_at(monotonic_ns);
}

void SourceSet::remove_process(const tracee::Process& process) {
  for (const SourceEntry& one : entries_) one.source->remove_process(process);
}

Result<void> SourceSet::settle() {
  for (const SourceEntry& one : entries_) SJ_CHECK(one.source->settle());
  return {};
}

Result<void> SourceSet::settle_so_far() {
  for (const SourceEntry& one : entries_) SJ_CHECK(one.source->settle_so_far());
  return {};
}

void SourceSet::mark() {
  for (const SourceEntry& one : entries_) one.source->mark();
}

bool SourceSet::are_past_mark() const {
  return std::ranges::all_of(entries_,
                             [](const SourceEntry& one) { return one.source->is_past_mark(); });
}

void SourceSet::disarm() {
  for (const SourceEntry& one : entries_) one.source->disarm();
}

Result<bool> SourceSet::poll() {
  bool more = false;
  for (const SourceEntry& one : entries_) {
    SJ_TRY(left, one.source->poll());
    more |= left;
  }
  return more;
}

void SourceSet::flush() {
  for (const SourceEntry& one : entries_) one.source->flush();
}

std::chrono::microseconds SourceSet::poll_period() const {
  auto period = has_engines() ? std::chrono::microseconds::max() : kMaxPeriod;
  for (const SourceEntry& one : entries_) period = std::min(period, one.source->poll_period());
  return period;
}

Result<SourceEntries> SourceSet::take_bpf_of(const TracedProcess& process) {
  SourceEntries taken;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    BpfEngine* const engine = entry->process == &process ? entry->bpf : nullptr;
    if (engine == nullptr) {
      ++entry;
      continue;
    }
    engine->flush();
    SJ_CHECK(engine->add_losses(past_losses_));
    SJ_CHECK(engine->add_hits(past_hits_));
    past_events_ += engine->events();
    taken.push_back(std::move(*entry));
    entry = entries_.erase(entry);
  }
  return taken;
}

Result<void> SourceSet::add_losses(model::Ledger& ledger) const {
  std::ranges::copy(past_losses_, std::back_inserter(ledger));
  for (const SourceEntry& one : entries_) SJ_CHECK(one.source->add_losses(ledger));
  return {};
}

Result<std::vector<std::uint64_t>> SourceSet::hits() const {
  std::vector<std::uint64_t> hits = past_hits_;
  for (const SourceEntry& one : entries_) SJ_CHECK(one.source->add_hits(hits));
  return hits;
}

std::uint64_t SourceSet::engine_events() const {
  std::uint64_t events = past_events_;
  for (const EventEngine* engine : engines()) events += engine->events();
  return events;
}

std::uint64_t SourceSet::other_events() const {
  std::uint64_t events = 0;
  for (const SourceEntry& one : entries_)
    if (one.engine == nullptr) events += one.source->events();
  return events;
}

std::uint64_t SourceSet::stamp_error_ns() const {
  std::uint64_t error = 0;
  for (const EventEngine* engine : engines()) error = std::max(error, engine->stamp_error_ns());
  return error;
}

std::uint64_t SourceSet::events_of_unknown_cpu() const {
  std::uint64_t events = 0;
  for (const RingEngine* engine : rings()) events += engine->events_of_unknown_cpu();
  return events;
}

std::optional<RingAdvice> SourceSet::ring_advice() const {
  if (!has_rings()) return std::nullopt;
  RingAdvice advice;
  for (const RingEngine* engine : rings()) engine->add_advice(advice);
  return advice;
}

std::vector<model::ShedSpan> SourceSet::silences() const {
  std::vector<model::ShedSpan> all;
  for (const RingEngine* engine : rings())
    for (const model::ShedSpan& span : engine->silences()) all.push_back(span);
  return all;
}

std::vector<Source::Description> SourceSet::descriptions() const {
  std::vector<Source::Description> all;
  for (const SourceEntry& one : entries_)
    if (auto description = one.source->description()) all.push_back(std::move(description));
  return all;
}

std::size_t SourceSet::probes_armed() const {
  std::size_t probes = 0;
  for (const BpfEngine* engine : bpf())
    if (engine->is_armed()) probes += engine->sites();
  return probes;
}

}  // namespace sojourn::capture
