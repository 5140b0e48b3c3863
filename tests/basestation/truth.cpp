#include "tests/basestation/truth.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string_view>
#include <tuple>

#include "tests/basestation/truth_format.h"
#include "userspace/base/fail_errno.h"

namespace sojourn::truth {
namespace {

// Reads values one after the other; once something is missing it is failed for good and gives
// zeros.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : left_(bytes) {}

  bool failed() const { return failed_; }
  bool empty() const { return left_.empty(); }

  std::span<const std::byte> bytes(std::size_t count) {
    if (failed_ || count > left_.size()) {
      failed_ = true;
      return {};
    }
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }

  template <typename Value>
  Value get() {
    Value value{};
    const auto taken = bytes(sizeof value);
    if (!failed_) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }

  std::string string() {
    const auto taken = bytes(get<std::uint16_t>());
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  std::span<const std::byte> left_;
  bool failed_ = false;
};

Result<std::vector<std::byte>> read_file(const std::string& path) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (!file) return fail_errno("open {}", path);
  std::vector<std::byte> bytes;
  constexpr std::size_t kChunk = 1 << 20;
  for (std::size_t got = kChunk; got == kChunk;) {
    const std::size_t old = bytes.size();
    bytes.resize(old + kChunk);
    got = std::fread(bytes.data() + old, 1, kChunk, file.get());
    bytes.resize(old + got);
  }
  if (std::ferror(file.get()) != 0) return fail_errno("read {}", path);
  return bytes;
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : cursor_(bytes) {}
  Result<Truth> read();

 private:
  // The position of a hit's lists in the arenas, until these stop growing.
  struct Lists {
    std::size_t values, parents, pieces;
    std::size_t value_count, parent_count, piece_count;
  };
  struct FateRecord {
    PacketId packet;
    std::uint64_t ts_ns;
    std::uint8_t place;
  };

  void read_head();
  Result<void> read_block(Cursor block, std::uint32_t tid);
  Result<void> read_hit(Cursor& block, std::uint32_t tid);
  Result<void> read_queue_op(Cursor& block, std::uint32_t tid);
  Result<void> read_packet(Cursor& block);
  Result<void> read_fate(Cursor& block);
  void read_preemption(Cursor& block, std::uint32_t tid);
  Result<void> check_totals(Cursor totals) const;
  Result<void> settle_fates();
  void finish_hits();

  Cursor cursor_;
  Truth truth_;
  std::vector<Lists> lists_;
  std::vector<FateRecord> fates_;
};

Result<Truth> Reader::read() {
  const auto magic = cursor_.bytes(kMagic.size());
  if (cursor_.failed() || std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
    return fail("not a truth file");
  }
  read_head();
  for (;;) {
    const auto bytes = cursor_.get<std::uint32_t>();
    const auto thread = cursor_.get<std::uint16_t>();
    const auto tid = cursor_.get<std::uint32_t>();
    const Cursor block(cursor_.bytes(bytes));
    if (cursor_.failed()) return fail("the file ends before its last block");
    if (thread == kEndThread) {
      SJ_CHECK(check_totals(block));
      break;
    }
    SJ_CHECK(read_block(block, tid));
  }
  if (!cursor_.empty()) return fail("there is something after the last block");
  SJ_CHECK(settle_fates());
  finish_hits();
  return std::move(truth_);
}

void Reader::read_head() {
  truth_.points.resize(cursor_.get<std::uint16_t>());
  for (PointName& point : truth_.points) {
    point.where = cursor_.string();
    point.fields = cursor_.string();
  }
  truth_.queues.resize(cursor_.get<std::uint16_t>());
  for (QueueName& queue : truth_.queues) {
    queue.name = cursor_.string();
    queue.capacity = cursor_.get<std::uint32_t>();
  }
  truth_.places.resize(cursor_.get<std::uint16_t>());
  for (std::string& place : truth_.places) place = cursor_.string();
}

Result<void> Reader::read_block(Cursor block, std::uint32_t tid) {
  while (!block.empty()) {
    const auto kind = block.get<RecordKind>();
    switch (kind) {
      case RecordKind::kHit:
        SJ_CHECK(read_hit(block, tid));
        break;
      case RecordKind::kQueue:
        SJ_CHECK(read_queue_op(block, tid));
        break;
      case RecordKind::kPacket:
        SJ_CHECK(read_packet(block));
        break;
      case RecordKind::kFate:
        SJ_CHECK(read_fate(block));
        break;
      case RecordKind::kPreemption:
        read_preemption(block, tid);
        break;
      default:
        return fail("a record of unknown kind {}", static_cast<unsigned>(kind));
    }
    if (block.failed()) return fail("a record goes beyond its block");
  }
  return {};
}

Result<void> Reader::read_hit(Cursor& block, std::uint32_t tid) {
  Hit hit;
  hit.id = block.get<HitId>();
  hit.point = block.get<std::uint16_t>();
  hit.tid = tid;
  hit.before_ns = block.get<std::uint64_t>();
  hit.after_ns = block.get<std::uint64_t>();
  hit.repeat_of = block.get<HitId>();
  Lists lists{truth_.values.size(), truth_.parents.size(), truth_.pieces.size(), 0, 0, 0};
  lists.value_count = block.get<std::uint8_t>();
  lists.parent_count = block.get<std::uint16_t>();
  lists.piece_count = block.get<std::uint16_t>();
  for (std::size_t left = lists.value_count; left != 0; --left) {
    truth_.values.push_back(block.get<std::uint32_t>());
  }
  for (std::size_t left = lists.parent_count; left != 0; --left) {
    truth_.parents.push_back(block.get<HitId>());
  }
  for (std::size_t left = lists.piece_count; left != 0; --left) {
    const auto packet = block.get<PacketId>();
    const auto lo = block.get<std::uint32_t>();
    truth_.pieces.push_back({packet, lo, block.get<std::uint32_t>()});
  }
  if (hit.point >= truth_.points.size())
    return fail("hit {:#x} of unknown point {}", hit.id, hit.point);
  truth_.hits.push_back(hit);
  lists_.push_back(lists);
  return {};
}

Result<void> Reader::read_queue_op(Cursor& block, std::uint32_t tid) {
  QueueOp op;
  op.queue = block.get<std::uint16_t>();
  op.action = block.get<QueueAction>();
  op.order = block.get<std::uint64_t>();
  op.ts_ns = block.get<std::uint64_t>();
  op.depth = block.get<std::uint32_t>();
  op.item = block.get<std::uint64_t>();
  op.tid = tid;
  if (op.queue >= truth_.queues.size()) return fail("an operation on unknown queue {}", op.queue);
  truth_.queue_ops.push_back(op);
  return {};
}

Result<void> Reader::read_packet(Cursor& block) {
  PacketTruth packet;
  packet.id = block.get<PacketId>();
  packet.direction = block.get<Direction>();
  packet.rnti = block.get<std::uint16_t>();
  packet.drb = block.get<std::uint8_t>();
  packet.bytes = block.get<std::uint32_t>();
  packet.created_ns = block.get<std::uint64_t>();
  if (packet.direction > Direction::kUp) return fail("packet {:#x} has no direction", packet.id);
  truth_.packets.push_back(packet);
  return {};
}

Result<void> Reader::read_fate(Cursor& block) {
  FateRecord fate{};
  fate.packet = block.get<PacketId>();
  fate.ts_ns = block.get<std::uint64_t>();
  fate.place = block.get<std::uint8_t>();
  if (fate.place > truth_.places.size()) return fail("packet {:#x} ended nowhere", fate.packet);
  fates_.push_back(fate);
  return {};
}

void Reader::read_preemption(Cursor& block, std::uint32_t tid) {
  Preemption preemption;
  preemption.victim_tid = block.get<std::uint32_t>();
  preemption.tid = tid;
  preemption.cpu = block.get<std::uint32_t>();
  preemption.has_precedence = block.get<std::uint8_t>() != 0;
  preemption.begin_ns = block.get<std::uint64_t>();
  preemption.end_ns = block.get<std::uint64_t>();
  truth_.preemptions.push_back(preemption);
}

Result<void> Reader::check_totals(Cursor totals) const {
  const std::array<std::size_t, 5> have = {truth_.hits.size(), truth_.queue_ops.size(),
                                           truth_.packets.size(), fates_.size(),
                                           truth_.preemptions.size()};
  for (const std::size_t count : have) {
    const auto wanted = totals.get<std::uint64_t>();
    if (totals.failed() || wanted != count) {
      return fail("{} records where the last block counts {}", count, wanted);
    }
  }
  return {};
}

Result<void> Reader::settle_fates() {
  std::ranges::sort(truth_.packets, {}, &PacketTruth::id);
  for (const FateRecord& fate : fates_) {
    const auto packet = std::ranges::lower_bound(truth_.packets, fate.packet, {}, &PacketTruth::id);
    if (packet == truth_.packets.end() || packet->id != fate.packet) {
      return fail("packet {:#x} ended but was never made", fate.packet);
    }
    const Fate kind = fate.place == 0 ? Fate::kDelivered : Fate::kDropped;
    const bool better = packet->fate == Fate::kInFlight ||
                        (kind == Fate::kDelivered && packet->fate == Fate::kDropped) ||
                        (kind == packet->fate && fate.ts_ns < packet->ended_ns);
    if (!better) continue;
    packet->fate = kind;
    packet->ended_ns = fate.ts_ns;
    packet->place = kind == Fate::kDropped ? static_cast<std::uint16_t>(fate.place - 1) : 0;
  }
  std::ranges::sort(truth_.queue_ops, {},
                    [](const QueueOp& op) { return std::tuple(op.queue, op.order); });
  return {};
}

// The arenas do not grow any more: only now may spans look into them.
void Reader::finish_hits() {
  for (std::size_t index = 0; index < lists_.size(); ++index) {
    const Lists& lists = lists_[index];
    Hit& hit = truth_.hits[index];
    hit.values = std::span(truth_.values).subspan(lists.values, lists.value_count);
    hit.parents = std::span(truth_.parents).subspan(lists.parents, lists.parent_count);
    hit.pieces = std::span(truth_.pieces).subspan(lists.pieces, lists.piece_count);
  }
  std::ranges::stable_sort(truth_.hits, {}, &Hit::before_ns);
  truth_.hit_by_id.reserve(truth_.hits.size());
  for (std::size_t index = 0; index < truth_.hits.size(); ++index) {
    truth_.hit_by_id.emplace(truth_.hits[index].id, index);
  }
}

}  // namespace

const Hit* Truth::find_hit(HitId id) const {
  const auto found = hit_by_id.find(id);
  return found == hit_by_id.end() ? nullptr : &hits[found->second];
}

const PacketTruth* Truth::find_packet(PacketId id) const {
  const auto found = std::ranges::lower_bound(packets, id, {}, &PacketTruth::id);
  return found == packets.end() || found->id != id ? nullptr : &*found;
}

Result<Truth> read_truth(const std::string& path) {
  SJ_TRY(bytes, read_file(path));
  auto truth = Reader(bytes).read();
  if (!truth) return std::unexpected(std::move(truth).error().within(path));
  return truth;
}

}  // namespace sojourn::truth
