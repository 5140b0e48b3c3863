#include "userspace/capture/post_mortem/orphaned_rings.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "userspace/capture/records/shared.h"
#include "userspace/capture/records/under_way.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kBatchEvents = 16'384;
constexpr std::uint32_t kNoStream = UINT32_MAX;

std::string thread_name(const sj_ring& ring) {
  const std::string_view name(ring.thread_name, sizeof(ring.thread_name));
  return tracee::printable(name.substr(0, name.find('\0')));
}

// Gaps below `position` are not counted again.
GapMark gaps_before(const sj_ring& ring, std::int64_t position) {
  const std::uint32_t begun = load_relaxed(ring.gaps_begun);
  std::uint32_t gap = begun - std::min<std::uint32_t>(begun, SJ_RING_GAPS);
  while (gap != begun && load_relaxed(ring.gap[gap % SJ_RING_GAPS].position) < position) ++gap;
  return {.begun = gap + 1, .count = 0};
}

}  // namespace

void OrphanedRings::turn_to(pid_t owner, OrphanedView view) {
  owner_ = static_cast<std::uint32_t>(owner);
  view_ = std::move(view);
}

Result<void> OrphanedRings::read(const OrphanedArena& left, const RingSites& sites) {
  const Arena& arena = left.arena;
  const sj_arena_control& control = arena.control();
  const Source source{
      .left = left, .sites = sites, .is_fresh = control.session == 1 && control.dead_after == 0};
  if (!source.is_fresh && control.session != 0) ++counts_.taken_by_collectors;
  for (std::uint64_t slot = 0; slot < arena.slots_used(); ++slot) {
    const auto ring = look_at(source, slot);
    if (!ring) continue;
    SJ_CHECK(read_ring(source, *ring));
  }
  if (source.is_fresh) SJ_CHECK(count_refused(source));
  return {};
}

// Nothing if the ring has no owner, or cannot be read.
std::optional<OrphanedRings::Ring> OrphanedRings::look_at(const Source& source,
                                                          std::uint64_t slot) {
  const Arena& arena = source.left.arena;
  const std::uint64_t offset = arena.layout().rings_offset + slot * arena.layout().ring_stride;
  if (load_relaxed(arena.slots()[slot].taken) == 0) return std::nullopt;
  if (!source.left.holds(offset, SJ_RING_PRIVATE)) {
    ++counts_.absent_rings;
    return std::nullopt;
  }
  const sj_ring& shared = arena.ring(slot);
  const std::uint64_t owner = load_relaxed(shared.owner);
  if (owner == 0) return std::nullopt;  // taken, and not entered; or given back
  if (owner >> 32 != owner_) {
    ++counts_.foreign_rings;
    return std::nullopt;
  }
  const std::uint64_t capacity = load_relaxed(shared.mask) + 1;
  const std::int64_t cursor = load_relaxed(shared.cursor);
  if (!std::has_single_bit(capacity) || capacity < SJ_RING_PAGE ||
      capacity > arena.layout().max_ring_bytes() || cursor < 0 || cursor % SJ_RECORD_ALIGN != 0) {
    ++counts_.damaged;
    return std::nullopt;
  }
  if (!source.left.holds(offset + SJ_RING_DATA, capacity + SJ_RECORD_MAX_BYTES)) {
    ++counts_.absent_rings;
    return std::nullopt;
  }
  return Ring{.shared = shared,
              .data = arena.ring_data(slot),
              .capacity = capacity,
              .begin = begin_of_kept(shared, capacity, cursor),
              .cursor = cursor,
              .is_flight = load_relaxed(shared.mode) != SJ_RING_STOP,
              .claimed_stamp = load_relaxed(shared.claimed_stamp),
              .tid = view_.host_tid ? view_.host_tid(static_cast<std::uint32_t>(owner))
                                    : static_cast<std::uint32_t>(owner),
              .own_tid = static_cast<std::uint32_t>(owner),
              .private_offset = offset + SJ_RING_PRIVATE};
}

Result<void> OrphanedRings::read_ring(const Source& source, const Ring& ring) {
  const std::uint64_t events_before = counts_.events;
  ring_first_ns_ = 0;
  ring_last_stamp_ = ring.claimed_stamp;
  if (filter_stage_ != nullptr) filter_stage_->add_thread(ring.tid, thread_name(ring.shared));
  if (ring.is_flight) {
    // A thread takes over a dead one's ring as it is: earlier records are the other thread's.
    const std::uint64_t until = std::min(ring.claimed_stamp, view_.until_stamp);
    SJ_TRY(of_others, read_stream(source, ring, 0, {.open = 0, .close = until}));
    (void)of_others;
    counts_.overwritten_bytes += static_cast<std::uint64_t>(std::max(ring.begin, std::int64_t{0}));
  }
  const RingGate own{.open = ring.is_flight ? ring.claimed_stamp : 0, .close = view_.until_stamp};
  SJ_TRY(stream, read_stream(source, ring, ring.tid, own));
  counts_.damaged += stream.damaged;
  if (stream.damaged != 0) {
    SJ_CHECK(number(stream));
    lose(stream.id, model::kNoPoint, model::LossCause::kUnreadable, stream.damaged);
    stream_hits_[stream.id] = stream.seq;
  }
  // Earlier records were overwritten, or a collector took them.
  if (ring.begin > 0 || !source.is_fresh) {
    // If the ring was filled anew while it was copied, it has no records from before the instant.
    const bool has_nothing = ring_first_ns_ == 0 && view_.until_stamp != UINT64_MAX;
    complete_from_ns_ = std::max(complete_from_ns_,
                                 has_nothing ? clock_->to_ns(view_.until_stamp) : ring_first_ns_);
  }
  SJ_CHECK(count_lost(source, ring, stream));
  SJ_CHECK(count_unfinished(source, ring, stream));
  if (counts_.events == events_before && stream.id == kNoStream) return {};
  ++counts_.rings;
  counts_.flight_rings += ring.is_flight ? 1 : 0;
  threads_.emplace(ring.tid, Thread{.name = thread_name(ring.shared), .pid = view_.pid});
  return {};
}

Result<RingStream> OrphanedRings::read_stream(const Source& source, const Ring& ring,
                                              std::uint32_t tid, const RingGate& gate) {
  RecordReader reader(ring.shared, ring.data, ring.capacity, ring.begin,
                      gaps_before(ring.shared, ring.begin));
  RingStream stream{.id = kNoStream, .tid = tid};
  while (reader.tail() != ring.cursor) {
    model::EventColumns columns;
    if (!reader.read(ring.cursor, source.sites, *clock_, gate, kBatchEvents, stream, columns)) {
      ++stream.damaged;
      ++stream.seq;
      break;
    }
    if (columns.ts_ns.empty()) continue;
    SJ_CHECK(number(stream));
    std::ranges::fill(columns.stream, stream.id);
    if (ring_first_ns_ == 0) ring_first_ns_ = columns.ts_ns.front();
    last_ns_ = std::max(last_ns_, *std::ranges::max_element(columns.ts_ns));
    model::EventBatch batch(std::move(columns));
    if (filter_stage_ != nullptr) filter_stage_->apply(batch);
    counts_.events += batch.size();
    if (!batch.empty()) SJ_CHECK(writer_->write(batch));
  }
  if (stream.id != kNoStream) stream_hits_[stream.id] = stream.seq;
  ring_last_stamp_ = std::max(ring_last_stamp_, reader.last_stamp());
  return stream;
}

// Only rings that were used have a stream.
Result<void> OrphanedRings::number(RingStream& stream) {
  if (stream.id != kNoStream) return {};
  stream.id = static_cast<std::uint32_t>(stream_hits_.size());
  stream_hits_.push_back(0);
  const auto tid = static_cast<std::int32_t>(stream.tid);
  const model::Stream about{.id = stream.id,
                            .engine = model::Engine::kRing,
                            .cpu = -1,
                            .tid = tid == 0 ? -1 : tid,
                            .pid = view_.pid};
  if (filter_stage_ != nullptr) filter_stage_->add_stream(about);
  return writer_->write(about);
}

// ---- losses ----

void OrphanedRings::lose(std::uint32_t stream, model::PointId point, model::LossCause cause,
                         std::uint64_t count) {
  if (count != 0) ledger_.push_back({stream, point, cause, count});
}

std::uint64_t OrphanedRings::honest(std::uint64_t count) {
  if (count <= kMaxHits) return count;
  ++counts_.damaged;
  return 0;
}

std::uint64_t OrphanedRings::count_table(std::span<const sj_ring_loss> table,
                                         const RingSites& sites, std::uint32_t stream,
                                         model::LossCause cause) {
  std::uint64_t sum = 0;
  for (const sj_ring_loss& loss : table) {
    const RingSites::Site* const site = sites.find(load_relaxed(loss.id));
    const std::uint64_t count = honest(load_relaxed(loss.count));
    lose(stream, site != nullptr ? site->point : model::kNoPoint, cause, count);
    sum += count;
  }
  return sum;
}

// Returns whether the losses by point, which are sums since the ring was taken, apply to the
// records that it still holds. They do if no collector took records and nothing was lost before
// these. They are also used if there were more gaps than the ring remembers, because nothing better
// is known.
bool OrphanedRings::losses_by_point_apply(const Source& source, const Ring& ring,
                                          std::uint64_t in_gaps) const {
  if (!source.is_fresh) return false;
  const sj_ring& shared = ring.shared;
  const std::uint32_t begun = load_relaxed(shared.gaps_begun);
  const bool forgets =
      begun > SJ_RING_GAPS && load_relaxed(shared.gap[begun % SJ_RING_GAPS].position) >= ring.begin;
  return ring.begin == 0 || forgets || in_gaps == load_relaxed(shared.lost);
}

Result<void> OrphanedRings::count_lost(const Source& source, const Ring& ring, RingStream& stream) {
  const sj_ring& shared = ring.shared;
  std::uint64_t in_gaps = 0;
  const std::uint32_t begun = load_relaxed(shared.gaps_begun);
  for (std::uint32_t gap = gaps_before(shared, ring.begin).begun - 1; gap != begun; ++gap)
    in_gaps += honest(load_relaxed(shared.gap[gap % SJ_RING_GAPS].count));
  const bool has_points = losses_by_point_apply(source, ring, in_gaps);
  if (in_gaps == 0 && (!has_points || load_relaxed(shared.lost) == 0)) return {};
  SJ_CHECK(number(stream));
  std::uint64_t lost = in_gaps;
  if (has_points) {
    lost = count_table(shared.loss, source.sites, stream.id, model::LossCause::kRingFull);
    const std::uint32_t elsewhere = load_relaxed(shared.losses_elsewhere);
    lose(stream.id, model::kNoPoint, model::LossCause::kRingFull, elsewhere);
    lost += elsewhere;
  } else {
    lose(stream.id, model::kNoPoint, model::LossCause::kRingFull, in_gaps);
  }
  stream_hits_[stream.id] = stream.events + stream.damaged + lost;
  return {};
}

// Counts a hit that a thread was in the middle of. Its private page, which no ring file has, and
// its next instruction show it. Without these, a hit is found only if its record has its id.
Result<void> OrphanedRings::count_unfinished(const Source& source, const Ring& ring,
                                             RingStream& stream) {
  // Stamps rise in the order of records. So behind a record from after the instant, or in a ring
  // that was filled anew since then, a hit under way has begun later still.
  const bool is_anew = ring.begin > 0 && ring_first_ns_ == 0 && view_.until_stamp != UINT64_MAX;
  if (is_anew || ring_last_stamp_ >= view_.until_stamp) return {};
  RingEnd end{.data = ring.data,
              .capacity = ring.capacity,
              .from = ring.cursor,
              .reserved = std::nullopt,
              .not_before = ring_last_stamp_};
  const std::uint64_t offset = ring.private_offset;
  if (source.left.has_private_pages && source.left.holds(offset, sizeof(sj_ring_private))) {
    sj_ring_private own{};
    std::memcpy(&own, source.left.arena.bytes().data() + offset, sizeof own);
    end.reserved = own.alive != 0 ? own.reserved : end.from;
  } else {
    counts_.knows_unfinished = false;
  }
  if (view_.instruction)
    if (const std::uint64_t instruction = view_.instruction(ring.own_tid); instruction != 0)
      end.stands = find_hit(source.sites, instruction);
  const bool goes_on = view_.until_stamp != UINT64_MAX && !view_.has_ended;
  bool any = false;
  for (const HitUnderWay& hit : hits_under_way(end, source.sites)) {
    if (hit.stamp >= view_.until_stamp) continue;
    any = true;
    SJ_CHECK(number(stream));
    lose(stream.id, hit.site != nullptr ? hit.site->point : model::kNoPoint,
         goes_on ? model::LossCause::kUnderWay : model::LossCause::kTargetGone, 1);
    if (goes_on) ++stream_hits_[stream.id];
  }
  if (any) ++counts_.unfinished;
  return {};
}

Result<void> OrphanedRings::count_refused(const Source& source) {
  const auto refused = source.left.arena.refused();
  const std::uint32_t elsewhere = load_relaxed(source.left.arena.refused_elsewhere());
  const bool any = elsewhere != 0 || std::ranges::any_of(refused, [](const sj_ring_loss& loss) {
                     return load_relaxed(loss.count) != 0;
                   });
  if (!any) return {};
  RingStream nobodys{.id = kNoStream};
  SJ_CHECK(number(nobodys));
  count_table(refused, source.sites, nobodys.id, model::LossCause::kNoRing);
  lose(nobodys.id, model::kNoPoint, model::LossCause::kNoRing, elsewhere);
  return {};
}

}  // namespace sojourn::capture
