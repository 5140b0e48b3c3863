#include "userspace/capture/perf/perf_source.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <variant>

#include "analysis/base/second.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kBatchEvents = 16'384;

}  // namespace

void PerfSource::ask_for(const PerfKind& kind, std::uint64_t period, bool has_stacks) {
  const PerfOffer offer = ask_perf(kind);
  model::Counter about{.name = std::string(kind.name),
                       .period = period,
                       .user_only = offer.user_only,
                       .missing = offer.missing};
  if (options_.tell) options_.tell(about);
  if (!offer.missing.empty()) {
    missing_.push_back(std::move(about));
    return;
  }
  taken_.push_back({.about = std::move(about),
                    .request = {.type = kind.type,
                                .config = kind.config,
                                .period = period,
                                .user_only = offer.user_only,
                                .has_stacks = has_stacks,
                                // One kind is enough to report names and ends of threads.
                                .with_threads = taken_.empty(),
                                .with_mappings = has_stacks},
                    .has_stacks = has_stacks});
}

Result<std::unique_ptr<PerfSource>> PerfSource::create(const tracee::Process& process,
                                                       PerfOptions options) {
  std::unique_ptr<PerfSource> source(new PerfSource(process, std::move(options)));
  for (const CounterWanted& wanted : source->options_.counters)
    source->ask_for(*wanted.kind, wanted.period, false);
  if (source->options_.profile_hertz != 0)
    source->ask_for(profile_clock(), kNsPerSecond / source->options_.profile_hertz, true);
  return source;
}

Result<void> PerfSource::connect(CaptureOutput& output) {
  output_ = &output;
  model::Profile about{.counters = missing_, .frames = {}, .stacks = {}};
  for (Taken& taken : taken_) {
    SJ_TRY(id, output.add_point(taken.has_stacks ? model::profile_point()
                                                 : model::counter_point(taken.about.name)));
    taken.point = id;
    about.counters.push_back(taken.about);
  }
  output.announce_points();
  output.sink().push(std::move(about));
  return {};
}

Result<void> PerfSource::arm() {
  if (taken_.empty()) return {};
  std::vector<PerfRequest> requests;
  requests.reserve(taken_.size());
  for (const Taken& taken : taken_) requests.push_back(taken.request);
  SJ_TRY(events, PerfEvents::open(*process_, requests, options_.ring_bytes));
  events_.emplace(std::move(events));
  for (const PerfEvents::Cpu& cpu : events_->cpus()) {
    CpuStream& stream = streams_.emplace_back();
    stream.id = output_->new_stream({.engine = model::Engine::kSampler,
                                     .cpu = static_cast<std::int32_t>(cpu.number),
                                     .tid = -1});
    stream.batch = output_->sink().empty_batch();
  }
  return {};
}

void PerfSource::name_thread(std::uint32_t tid, std::string name) {
  auto& known = threads_[tid];
  if (known == name) return;
  known = name;
  fresh_threads_.names.push_back({.kind = model::NameKind::kThread,
                                  .id = tid,
                                  .name = std::move(name),
                                  .pid = static_cast<std::uint64_t>(process_->pid()),
                                  .state = {}});
}

void PerfSource::take_sample(CpuStream& stream, const PerfSample& sample) {
  stream.newest_ns = std::max(stream.newest_ns, sample.ts_ns);
  if (sample.ts_ns < open_ns_ || sample.ts_ns >= close_ns_) return;
  const PerfEvents::Kind kind = events_->kind_of(sample);
  if (!kind.is_known) return;
  const Taken& taken = taken_[kind.index];
  if (!threads_.contains(sample.tid)) {
    auto name = tracee::read_whole(process_->proc(fmt::format("task/{}/comm", sample.tid)));
    if (name && name->ends_with('\n')) name->pop_back();
    name_thread(sample.tid, name.value_or(""));
  }
  std::array<std::uint64_t, 2> values = {sample.period, 0};
  if (taken.has_stacks) values = {stacks_.number_of(sample.chain), sample.period};
  stream.batch.append({.ts_ns = sample.ts_ns,
                       .seq = stream.next_seq++,
                       .stream = stream.id,
                       .tid = sample.tid,
                       .point = taken.point,
                       .values = std::span(values).first(taken.has_stacks ? 2 : 1)});
  ++stream.events;
}

// A record of lost samples has no time: it lies between two records that have one.
void PerfSource::take_loss(CpuStream& stream, std::uint64_t count) {
  if (stream.newest_ns < open_ns_) {
    stream.lost_before += count;
  } else {
    stream.lost += count;
    stream.next_seq += count;
  }
}

void PerfSource::take(CpuStream& stream, std::span<const std::byte> bytes) {
  const PerfRecord record = read_perf_record(bytes);
  if (const auto* sample = std::get_if<PerfSample>(&record))
    take_sample(stream, *sample);
  else if (const auto* lost = std::get_if<PerfLost>(&record))
    take_loss(stream, lost->count);
  else if (const auto* named = std::get_if<PerfThreadName>(&record))
    name_thread(named->tid, std::string(named->name));
  else if (const auto* ended = std::get_if<PerfThreadEnd>(&record))
    events_->forget_thread(ended->tid);
  else if (std::holds_alternative<PerfMapping>(record))
    stacks_.forget_mappings();
  else if (std::holds_alternative<PerfBroken>(record))
    take_loss(stream, 1);  // at least
}

Result<bool> PerfSource::poll() {
  bool more = false;
  if (!events_ || !output_->sink().has_room()) return more;
  for (std::size_t cpu = 0; cpu < streams_.size(); ++cpu) {
    CpuStream& stream = streams_[cpu];
    more |= events_->cpus()[cpu].ring.reader().consume(
        kBatchEvents, [&](std::span<const std::byte> bytes) { take(stream, bytes); });
    if (stream.batch.size() >= kBatchEvents) hand_over(stream);
  }
  return more;
}

void PerfSource::mark() {
  if (!events_) return;
  for (PerfEvents::Cpu& cpu : events_->cpus()) cpu.ring.reader().mark();
}

bool PerfSource::is_past_mark() const {
  return !events_ || std::ranges::all_of(events_->cpus(), [](const PerfEvents::Cpu& cpu) {
    return cpu.ring.reader().is_past_mark();
  });
}

void PerfSource::hand_over(CpuStream& stream) {
  if (stream.batch.empty()) return;
  output_->sink().push(std::exchange(stream.batch, output_->sink().empty_batch()));
}

void PerfSource::flush() {
  if (model::Profile news = stacks_.news(); !news.empty()) output_->sink().push(std::move(news));
  if (!fresh_threads_.empty()) output_->sink().push(std::exchange(fresh_threads_, {}));
  for (CpuStream& stream : streams_) hand_over(stream);
  if (has_ended_) tell_names();
}

// Looks up names at the end, when no ring must be drained any more, because that takes long.
void PerfSource::tell_names() {
  if (std::exchange(is_named_, true)) return;
  for (model::Profile& named : stacks_.naming()()) output_->sink().push(std::move(named));
}

Result<void> PerfSource::settle() {
  if (!events_) return {};
  events_->stop();
  const auto lost = events_->lost();
  for (std::size_t cpu = 0; cpu < lost.size(); ++cpu) streams_[cpu].lost_of = lost[cpu];
  return {};
}

void PerfSource::disarm() {
  has_ended_ = true;
  if (events_) events_->close();
}

// While it runs, a ring says how many samples it lost, but not of which kind. At the end each event
// has its own count, which includes the last losses, behind which no record came.
Result<void> PerfSource::add_losses(model::Ledger& ledger) const {
  for (const CpuStream& stream : streams_) {
    const auto add = [&](model::PointId point, std::uint64_t count) {
      if (count != 0)
        ledger.push_back({.stream = stream.id,
                          .point = point,
                          .cause = model::LossCause::kRingFull,
                          .count = count});
    };
    if (taken_.size() == 1 || stream.lost_of.empty() || stream.lost_before != 0) {
      add(taken_.size() == 1 ? taken_.front().point : model::kNoPoint, losses_of(stream));
      continue;
    }
    for (std::size_t kind = 0; kind < taken_.size(); ++kind)
      add(taken_[kind].point, stream.lost_of[kind]);
  }
  return {};
}

std::uint64_t PerfSource::losses_of(const CpuStream& stream) {
  if (stream.lost_of.empty()) return stream.lost;
  std::uint64_t all = 0;
  for (const std::uint64_t of_kind : stream.lost_of) all += of_kind;
  return std::max(stream.lost, all - std::min(all, stream.lost_before));
}

Result<void> PerfSource::add_hits(std::vector<std::uint64_t>& hits) const {
  for (const CpuStream& stream : streams_) {
    if (hits.size() <= stream.id) hits.resize(stream.id + 1);
    hits[stream.id] = stream.events + losses_of(stream);
  }
  return {};
}

std::uint64_t PerfSource::events() const {
  std::uint64_t events = 0;
  for (const CpuStream& stream : streams_) events += stream.events;
  return events;
}

}  // namespace sojourn::capture
