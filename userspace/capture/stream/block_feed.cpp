#include "userspace/capture/stream/block_feed.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "analysis/trace/format.h"
#include "analysis/trace/meta.h"

namespace sojourn::capture {

namespace {

using trace::BlockType;

constexpr unsigned kIdleSeconds = 2;

// The header of a block of events; none for any other block.
std::optional<trace::BlockHeader> events_header(std::span<const std::uint8_t> chunk) {
  trace::BlockHeader header;
  if (chunk.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, chunk.data(), sizeof(header));
  if (header.magic != trace::kBlockMagic || header.type != BlockType::kEvents) return std::nullopt;
  return header;
}

void append(std::vector<std::uint8_t>& to, std::span<const std::uint8_t> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// The name is unique among all captures on all hosts.
std::string random_name() {
  std::array<std::uint64_t, 2> random{};
  std::random_device device;
  for (std::uint64_t& word : random) word = std::uint64_t{device()} << 32 | device();
  return fmt::format("{:016x}{:016x}", random[0], random[1]);
}

std::vector<std::uint8_t> file_header() {
  trace::FileHeader header;
  header.header_crc = trace::checksum(&header, offsetof(trace::FileHeader, header_crc));
  std::vector<std::uint8_t> bytes(sizeof(header));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

}  // namespace

class BlockFeed::Reader {
 public:
  Reader(Wake wake_up, Kind of_kind) : wake(std::move(wake_up)), kind(of_kind) {}

  const Wake wake;
  const Kind kind;
  std::deque<Chunk> queue;
  std::size_t bytes = 0;       // in the queue
  std::size_t handed_out = 0;  // chunks of the queue that its thread has, and did not consume yet
  unsigned idle_seconds = 0;   // since it last took a chunk
  bool has_begun = false;
  bool is_complete = false;
  std::size_t described = 0;  // how many of descriptions_ it has got
  bool is_owed_accounts = false;
  // The open mark of the reader's own trace, and the ledger at that time.
  std::uint64_t open_ns = 0;
  std::vector<std::uint64_t> stream_first;
  model::Ledger before;
  std::map<std::uint32_t, std::uint64_t> lost;  // by stream
};

BlockFeed::BlockFeed(const model::Host& host, Limits limits)
    : limits_(limits), name_(random_name()) {
  std::vector<std::uint8_t> bytes = file_header();
  if (const Chunk about = block_of(BlockType::kHost, host)) append(bytes, *about);
  beginning_ = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
}

BlockFeed::~BlockFeed() = default;

// Returns null if the description is too large for a block. The file could not take it either, so
// its writing has failed.
template <typename T>
BlockFeed::Chunk BlockFeed::block_of(BlockType type, const T& about) {
  const std::string json = trace::to_json(about);
  const auto block =
      maker_.make(type, {reinterpret_cast<const std::uint8_t*>(json.data()), json.size()});
  if (!block) return nullptr;
  return std::make_shared<const std::vector<std::uint8_t>>(block->begin(), block->end());
}

// ---- calls of the sink ----

void BlockFeed::take(const Item& item) {
  const std::scoped_lock lock(mutex_);
  std::visit(
      [this](const auto& about) {
        using About = std::remove_cvref_t<decltype(about)>;
        if constexpr (std::is_same_v<About, model::Schema>) {
          if (schema_) descriptions_[*schema_] = nullptr;
          schema_ = descriptions_.size();
          note(block_of(BlockType::kSchema, about));
        } else if constexpr (std::is_same_v<About, model::Target>) {
          note(block_of(BlockType::kTarget, about));
        } else if constexpr (std::is_same_v<About, model::Stream>) {
          note(block_of(BlockType::kStream, about));
        } else if constexpr (std::is_same_v<About, model::QueueChanges>) {
          note(block_of(BlockType::kQueues, about));
        } else if constexpr (std::is_same_v<About, model::Context>) {
          note(block_of(BlockType::kContext, about));
        } else if constexpr (std::is_same_v<About, model::Profile>) {
          note(block_of(BlockType::kProfile, about));
        } else if constexpr (std::is_same_v<About, model::ClockPair>) {
          offer_all(clock_ = block_of(BlockType::kClock, about));
        } else if constexpr (std::is_same_v<About, model::Sampling>) {
          offer_all(sampling_ = block_of(BlockType::kSampling, about));
        } else if constexpr (std::is_same_v<About, model::Energy>) {
          offer_all(energy_ = block_of(BlockType::kEnergy, about));
        } else if constexpr (std::is_same_v<About, model::Capture>) {
          capture_ = about;
          for (const auto& reader : readers_) reader->is_owed_accounts = true;
        } else if constexpr (std::is_same_v<About, model::Ledger>) {
          take_ledger(about);
        }
      },
      item);
}

bool BlockFeed::take_block(std::span<const std::uint8_t> block) {
  trace::BlockHeader header;
  std::memcpy(&header, block.data(), sizeof(header));
  const auto chunk = std::make_shared<const std::vector<std::uint8_t>>(block.begin(), block.end());
  const std::scoped_lock lock(mutex_);
  if (kept_.size() <= header.stream) kept_.resize(std::size_t{header.stream} + 1);
  kept_[header.stream] += header.events;
  newest_ns_ = std::max(newest_ns_, header.max_ts_ns);
  bool is_read = false;
  for (const auto& reader : readers_) {
    if (!reader->has_begun) continue;
    // Descriptions are sent before the events that need them.
    if (describe(*reader) && offer(*reader, chunk)) {
      is_read = is_read || reader->kind == Kind::kReader;
      continue;
    }
    lose(*reader, header.stream, header.events);
  }
  return is_read;
}

void BlockFeed::take_ledger(const model::Ledger& ledger) {
  const bool is_news = ledger_ != ledger;
  ledger_ = ledger;
  for (const auto& reader : readers_) {
    if (!reader->queue.empty()) ++reader->idle_seconds;
    if (!reader->has_begun)
      begin(*reader);
    else if (is_news || reader->is_owed_accounts)
      send_accounts(*reader, false);
  }
}

void BlockFeed::finish() {
  const std::scoped_lock lock(mutex_);
  has_finished_ = true;
  for (const auto& reader : readers_) {
    if (!reader->has_begun) begin(*reader);
    // The end is sent even if the queue is full: it is no longer than the beginning.
    for (; reader->described < descriptions_.size(); ++reader->described)
      push(*reader, descriptions_[reader->described]);
    push(*reader, sampling_);
    push(*reader, energy_);
    push(*reader, clock_);
    if (schema_) push(*reader, descriptions_[*schema_]);
    send_accounts(*reader, true);
    reader->is_complete = true;
    reader->wake();
  }
}

void BlockFeed::note(Chunk description) {
  descriptions_.push_back(std::move(description));
  for (const auto& reader : readers_)
    if (reader->has_begun) describe(*reader);
}

// ---- queues of the readers ----

bool BlockFeed::has_room(const Reader& reader, std::size_t bytes) const {
  if (reader.queue.empty()) return true;
  const std::size_t wanted = reader.bytes + bytes;
  return wanted <= limits_.sure_bytes ||
         (wanted <= limits_.reader_bytes && reader.idle_seconds < kIdleSeconds &&
          totals_.waiting_bytes + bytes <= limits_.all_bytes);
}

void BlockFeed::push(Reader& reader, Chunk chunk) {
  if (!chunk) return;
  reader.bytes += chunk->size();
  totals_.waiting_bytes += chunk->size();
  reader.queue.push_back(std::move(chunk));
  if (reader.queue.size() == 1) reader.wake();
}

bool BlockFeed::offer(Reader& reader, const Chunk& chunk) {
  if (!chunk) return true;
  if (!has_room(reader, chunk->size()) && reader.idle_seconds < kIdleSeconds) reclaim();
  if (!has_room(reader, chunk->size())) return false;
  push(reader, chunk);
  return true;
}

// Readers that take nothing must not keep the memory that others need.
void BlockFeed::reclaim() {
  for (const auto& reader : readers_)
    if (reader->idle_seconds >= kIdleSeconds && reader->bytes > limits_.sure_bytes)
      shorten(*reader);
}

// Drops the newest events that wait for the reader, down to the memory that it may always use.
void BlockFeed::shorten(Reader& reader) {
  std::deque<Chunk> kept;
  // A part of the first one may have been sent already.
  const std::size_t untouchable = std::max<std::size_t>(reader.handed_out, 1);
  while (reader.queue.size() > untouchable) {
    Chunk chunk = std::move(reader.queue.back());
    reader.queue.pop_back();
    const auto events = events_header(*chunk);
    if (reader.bytes <= limits_.sure_bytes || !events) {
      kept.push_front(std::move(chunk));
      continue;
    }
    reader.bytes -= chunk->size();
    totals_.waiting_bytes -= chunk->size();
    lose(reader, events->stream, events->events);
  }
  for (Chunk& chunk : kept) reader.queue.push_back(std::move(chunk));
}

void BlockFeed::lose(Reader& reader, std::uint32_t stream, std::uint64_t events) {
  reader.lost[stream] += events;
  reader.is_owed_accounts = true;
  if (reader.kind == Kind::kReader) totals_.lost += events;
}

void BlockFeed::offer_all(const Chunk& chunk) {
  for (const auto& reader : readers_)
    if (reader->has_begun) offer(*reader, chunk);
}

// Offers all descriptions so far. Returns false if there is no room for some of them.
bool BlockFeed::describe(Reader& reader) {
  for (; reader.described < descriptions_.size(); ++reader.described)
    if (!offer(reader, descriptions_[reader.described])) return false;
  return true;
}

// The next hit's number, by stream: every earlier hit was kept or lost.
std::vector<std::uint64_t> BlockFeed::hits_so_far() const {
  std::vector<std::uint64_t> hits = kept_;
  const auto of = [&hits](std::uint32_t stream) -> std::uint64_t& {
    if (hits.size() <= stream) hits.resize(std::size_t{stream} + 1);
    return hits[stream];
  };
  for (const model::LedgerEntry& entry : ledger_)
    if (model::takes_sequence_number(entry.cause)) of(entry.stream) += entry.count;
  return hits;
}

// Begins a reader's trace with the descriptions of the capture so far.
void BlockFeed::begin(Reader& reader) {
  reader.has_begun = true;
  const bool is_first = newest_ns_ == 0 && ledger_.empty();
  if (!is_first) {
    reader.open_ns = newest_ns_ + 1;
    reader.stream_first = hits_so_far();
    reader.before = ledger_;
  }
  push(reader, beginning_);
  push(reader, origin_for(reader));
  for (; reader.described < descriptions_.size(); ++reader.described)
    push(reader, descriptions_[reader.described]);
  push(reader, clock_);
  push(reader, sampling_);
  push(reader, energy_);
  send_accounts(reader, true);
}

void BlockFeed::send_accounts(Reader& reader, bool in_any_case) {
  const Chunk ledger = ledger_for(reader);
  const Chunk capture = capture_for(reader);
  const std::size_t bytes = (ledger ? ledger->size() : 0) + (capture ? capture->size() : 0);
  reader.is_owed_accounts = !in_any_case && !has_room(reader, bytes);
  if (reader.is_owed_accounts) return;
  push(reader, ledger);
  push(reader, capture);
}

BlockFeed::Chunk BlockFeed::capture_for(const Reader& reader) {
  model::Capture capture = capture_;
  capture.open_ns = std::max(capture.open_ns, reader.open_ns);
  if (capture.close_ns != 0) capture.open_ns = std::min(capture.open_ns, capture.close_ns);
  capture.stream_first = reader.stream_first;
  if (reader.open_ns != 0) {  // the CPU times since the reader came are not known
    capture.target_cpu_ns = 0;
    capture.tracer_cpu_ns = 0;
  }
  return block_of(BlockType::kCapture, capture);
}

BlockFeed::Chunk BlockFeed::origin_for(const Reader& reader) {
  return block_of(
      BlockType::kOrigin,
      model::Origin{.capture = name_, .stream_first = reader.stream_first, .lost = reader.before});
}

// The capture's losses since the reader came, and the blocks that this reader lost.
BlockFeed::Chunk BlockFeed::ledger_for(const Reader& reader) {
  const auto place = [](const model::LedgerEntry& entry) {
    return std::tuple(entry.stream, entry.point, entry.cause);
  };
  std::map<std::tuple<std::uint32_t, model::PointId, model::LossCause>, std::uint64_t> before;
  for (const model::LedgerEntry& entry : reader.before) before[place(entry)] += entry.count;
  model::Ledger ledger;
  for (model::LedgerEntry entry : ledger_) {
    std::uint64_t& known = before[place(entry)];
    const std::uint64_t taken_off = std::min(known, entry.count);
    known -= taken_off;
    entry.count -= taken_off;
    if (entry.count != 0) ledger.push_back(entry);
  }
  for (const auto& [stream, count] : reader.lost)
    ledger.push_back({.stream = stream,
                      .point = model::kNoPoint,
                      .cause = model::LossCause::kWriterBehind,
                      .count = count});
  return block_of(BlockType::kLedger, ledger);
}

// ---- readers ----

std::shared_ptr<BlockFeed::Reader> BlockFeed::join(Wake wake, Kind kind) {
  const std::scoped_lock lock(mutex_);
  if (readers_.size() >= limits_.readers || has_finished_) return nullptr;
  auto reader = std::make_shared<Reader>(std::move(wake), kind);
  readers_.push_back(reader);
  ++totals_.readers;
  if (newest_ns_ == 0 && ledger_.empty()) begin(*reader);
  return reader;
}

void BlockFeed::leave(const std::shared_ptr<Reader>& reader) {
  const std::scoped_lock lock(mutex_);
  if (std::erase(readers_, reader) != 0) totals_.waiting_bytes -= reader->bytes;
  reader->queue.clear();
  reader->bytes = 0;
}

std::vector<BlockFeed::Chunk> BlockFeed::waiting(Reader& reader, std::size_t chunks) {
  const std::scoped_lock lock(mutex_);
  const std::size_t count = std::min(chunks, reader.queue.size());
  reader.handed_out = count;
  return {reader.queue.begin(), reader.queue.begin() + static_cast<std::ptrdiff_t>(count)};
}

void BlockFeed::consume(Reader& reader, std::size_t chunks) {
  const std::scoped_lock lock(mutex_);
  reader.handed_out = 0;
  if (chunks != 0) reader.idle_seconds = 0;
  for (; chunks != 0 && !reader.queue.empty(); --chunks) {
    const std::size_t bytes = reader.queue.front()->size();
    reader.queue.pop_front();
    reader.bytes -= bytes;
    totals_.waiting_bytes -= bytes;
  }
}

bool BlockFeed::is_complete(const Reader& reader) const {
  const std::scoped_lock lock(mutex_);
  return reader.is_complete && reader.queue.empty();
}

BlockFeed::Totals BlockFeed::totals() const {
  const std::scoped_lock lock(mutex_);
  return totals_;
}

}  // namespace sojourn::capture
