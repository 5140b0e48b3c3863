#include "tests/basestation/truth_log.h"

#include <algorithm>
#include <iterator>

#include <unistd.h>

#include "tests/basestation/points.h"
#include "tests/basestation/truth_format.h"
#include "userspace/base/fail_errno.h"

namespace sojourn::basestation {
namespace {

using truth::RecordKind;

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr std::size_t kMaxFullBlocks = 256;  // 64 MiB wait at most; then the stages do

template <typename Value>
void append(std::vector<std::byte>& bytes, const Value& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

void append_string(std::vector<std::byte>& bytes, std::string_view text) {
  append(bytes, static_cast<std::uint16_t>(text.size()));
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), first, first + text.size());
}

std::vector<std::byte> file_head(std::span<const truth::QueueName> queues) {
  std::vector<std::byte> head;
  for (const char c : truth::kMagic) head.push_back(static_cast<std::byte>(c));
  append(head, static_cast<std::uint16_t>(std::size(kPoints)));
  for (const PointWords& point : kPoints) {
    append_string(head, point.where);
    append_string(head, point.fields);
  }
  append(head, static_cast<std::uint16_t>(queues.size()));
  for (const truth::QueueName& queue : queues) {
    append_string(head, queue.name);
    append(head, queue.capacity);
  }
  append(head, static_cast<std::uint16_t>(kPlaces.size()));
  for (const std::string_view place : kPlaces) append_string(head, place);
  return head;
}

}  // namespace

Origin born() {
  return {};
}

Origin from(const Packet& packet) {
  return {.parents = {packet.hit}, .pieces = {{packet.id, 0, packet.bytes}}};
}

Origin from(const Segment& segment) {
  return {.parents = {segment.hit}, .pieces = {segment.packet.piece(segment.so, segment.end())}};
}

Origin from(const TransportBlock& block) {
  Origin origin;
  for (const Status& status : block.statuses) origin.parents.push_back(status.hit);
  for (const Segment& segment : block.segments) {
    origin.parents.push_back(segment.hit);
    origin.pieces.push_back(segment.packet.piece(segment.so, segment.end()));
  }
  return origin;
}

Origin from(const Status& status) {
  return {.parents = {status.hit}, .pieces = {}};
}

Result<std::unique_ptr<Writer>> Writer::open(const std::string& path,
                                             std::span<const truth::QueueName> queues) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wbe"));
  if (!file) return fail_errno("open {}", path);
  auto writer = std::make_unique<Writer>(std::move(file), path);
  writer->put(file_head(queues));
  writer->thread_ = std::thread([self = writer.get()] { self->run(); });
  return writer;
}

Writer::Writer(std::unique_ptr<std::FILE, CloseFile> file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {}

Writer::~Writer() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Writer::submit(std::uint16_t thread, std::uint32_t tid, std::vector<std::byte>& buffer) {
  if (buffer.empty()) return;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return full_.size() < kMaxFullBlocks; });
    full_.push_back({thread, tid, std::move(buffer)});
    buffer.clear();
    if (!spare_.empty()) {
      buffer = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  changed_.notify_all();
  buffer.reserve(kBufferBytes);
}

Result<void> Writer::finish(const Totals& totals) {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_all();
  thread_.join();

  Block last{.thread = truth::kEndThread, .tid = 0, .bytes = {}};
  append(last.bytes, totals.hits);
  append(last.bytes, totals.queue_ops);
  append(last.bytes, totals.packets);
  append(last.bytes, totals.fates);
  append(last.bytes, totals.preemptions);
  write(last);
  if (std::fclose(file_.release()) != 0 || failed_) return fail_errno("write {}", path_);
  return {};
}

void Writer::run() {
  pthread_setname_np(pthread_self(), "truth");
  std::vector<Block> blocks;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      for (Block& written : blocks) {
        written.bytes.clear();
        spare_.push_back(std::move(written.bytes));
      }
      blocks.clear();
      changed_.wait(lock, [this] { return finished_ || !full_.empty(); });
      if (full_.empty()) return;
      blocks.swap(full_);
    }
    changed_.notify_all();
    for (const Block& block : blocks) write(block);
  }
}

void Writer::write(const Block& block) {
  std::vector<std::byte> head;
  append(head, static_cast<std::uint32_t>(block.bytes.size()));
  append(head, block.thread);
  append(head, block.tid);
  put(head);
  put(block.bytes);
}

void Writer::put(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) failed_ = true;
}

void Log::bind_to_this_thread() {
  tid_ = static_cast<std::uint32_t>(gettid());
  if (active()) buffer_.reserve(kBufferBytes);
}

void Log::flush() {
  if (active()) writer_->submit(thread_, tid_, buffer_);
}

void Log::flush_if_full() {
  // Room for the largest record: a block of many segments.
  if (buffer_.size() > kBufferBytes - 32 * 1024) flush();
}

template <typename... Values>
void Log::put(Values... values) {
  (append(buffer_, values), ...);
}

HitId Log::hit(std::uint16_t point, std::uint64_t before_ns, std::uint64_t after_ns,
               std::span<const std::uint32_t> values, const Origin& origin) {
  const HitId id = (static_cast<HitId>(thread_ + 1U) << 48) | ++hits_;
  ++totals_.hits;
  put(RecordKind::kHit, id, point, before_ns, after_ns, origin.repeat_of,
      static_cast<std::uint8_t>(values.size()), static_cast<std::uint16_t>(origin.parents.size()),
      static_cast<std::uint16_t>(origin.pieces.size()));
  for (const std::uint32_t value : values) put(value);
  for (const HitId parent : origin.parents) put(parent);
  for (const truth::Piece& piece : origin.pieces) put(piece.packet, piece.lo, piece.hi);
  flush_if_full();
  return id;
}

void Log::queue_op(std::uint16_t queue, truth::QueueAction action, std::uint64_t order,
                   std::uint64_t ts_ns, std::size_t depth, std::uint64_t item) {
  ++totals_.queue_ops;
  put(RecordKind::kQueue, queue, action, order, ts_ns, static_cast<std::uint32_t>(depth), item);
  flush_if_full();
}

void Log::preempted(const truth::Preemption& preemption) {
  if (!active()) return;
  ++totals_.preemptions;
  put(RecordKind::kPreemption, preemption.victim_tid, preemption.cpu,
      static_cast<std::uint8_t>(preemption.has_precedence), preemption.begin_ns, preemption.end_ns);
  flush_if_full();
}

void Log::created(const Packet& packet, Direction direction) {
  ++tally_[static_cast<unsigned>(direction)].created;
  if (!active()) return;
  ++totals_.packets;
  put(RecordKind::kPacket, packet.id, direction, packet.rnti, packet.drb, packet.bytes,
      packet.created_ns);
  flush_if_full();
}

void Log::delivered(const Packet& packet, Direction direction, std::uint64_t ts_ns) {
  Tally& tally = tally_[static_cast<unsigned>(direction)];
  ++tally.delivered;
  if (packet.created_ns >= measured_from_ns_.load(std::memory_order_relaxed)) {
    tally.measured_bytes += packet.bytes;
    tally.latencies.add(ts_ns - std::min(packet.created_ns, ts_ns));
  }
  fate(packet.id, 0);
}

void Log::dropped(PacketId packet, Direction direction, Place place) {
  const auto index = static_cast<unsigned>(place);
  ++tally_[static_cast<unsigned>(direction)].dropped[index];
  fate(packet, index + 1);
}

void Log::fate(PacketId packet, unsigned place) {
  if (!active()) return;
  ++totals_.fates;
  put(RecordKind::kFate, packet, now_ns(), static_cast<std::uint8_t>(place));
  flush_if_full();
}

}  // namespace sojourn::basestation
