#include "analysis/trace/writer.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "analysis/trace/block.h"
#include "analysis/trace/block_packer.h"
#include "analysis/trace/format.h"
#include "analysis/trace/meta.h"

namespace sojourn::trace {

namespace {

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

template <typename T>
std::span<const std::uint8_t> as_bytes(const T& object) {
  return {reinterpret_cast<const std::uint8_t*>(&object), sizeof(object)};
}

}  // namespace

struct Writer::State {
  explicit State(std::unique_ptr<ByteSink> opened) : sink(std::move(opened)) {}

  std::unique_ptr<ByteSink> sink;
  BlockMaker maker;
  model::Schema schema;
  std::vector<IndexEntry> index;
  BlockPacker packer;
  std::uint64_t events = 0;

  Result<void> append(BlockType type, std::span<const std::uint8_t> raw) {
    SJ_TRY(block, maker.make(type, raw));
    return append(block);
  }

  Result<void> append(std::span<const std::uint8_t> block) {
    IndexEntry entry{.offset = sink->size(), .header = {}};
    std::copy_n(block.begin(), sizeof(BlockHeader), reinterpret_cast<std::uint8_t*>(&entry.header));
    SJ_CHECK(sink->append(block));
    index.push_back(entry);
    events += entry.header.events;
    return {};
  }
};

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

Result<Writer> Writer::create(std::unique_ptr<ByteSink> sink) {
  auto state = std::make_unique<State>(std::move(sink));
  FileHeader header;
  header.header_crc = checksum(&header, offsetof(FileHeader, header_crc));
  SJ_CHECK(state->sink->append(as_bytes(header)));
  return Writer(std::move(state));
}

const std::string& Writer::put_aside() const {
  return state_->sink->put_aside();
}

Result<void> Writer::write(const model::Schema& schema) {
  const auto& known = state_->schema.points;
  if (known.size() > schema.points.size() ||
      !std::ranges::equal(known, std::span(schema.points).first(known.size())))
    return fail("write a schema that changes points already written");
  SJ_CHECK(state_->append(BlockType::kSchema, as_bytes(to_json(schema))));
  state_->schema = schema;
  return {};
}

Result<void> Writer::write(const model::Target& target) {
  return state_->append(BlockType::kTarget, as_bytes(to_json(target)));
}
Result<void> Writer::write(const model::Host& host) {
  return state_->append(BlockType::kHost, as_bytes(to_json(host)));
}
Result<void> Writer::write(const model::Stream& stream) {
  return state_->append(BlockType::kStream, as_bytes(to_json(stream)));
}
Result<void> Writer::write(const model::ClockPair& clock) {
  return state_->append(BlockType::kClock, as_bytes(to_json(clock)));
}
Result<void> Writer::write(const model::Capture& capture) {
  return state_->append(BlockType::kCapture, as_bytes(to_json(capture)));
}
Result<void> Writer::write(const model::Ledger& ledger) {
  return state_->append(BlockType::kLedger, as_bytes(to_json(ledger)));
}
Result<void> Writer::write(const model::Context& context) {
  return state_->append(BlockType::kContext, as_bytes(to_json(context)));
}

Result<void> Writer::write(const model::Profile& profile) {
  return state_->append(BlockType::kProfile, as_bytes(to_json(profile)));
}

Result<void> Writer::write(const model::QueueChanges& changes) {
  return state_->append(BlockType::kQueues, as_bytes(to_json(changes)));
}

Result<void> Writer::write(const model::Sampling& sampling) {
  return state_->append(BlockType::kSampling, as_bytes(to_json(sampling)));
}

Result<void> Writer::write(const model::Energy& energy) {
  return state_->append(BlockType::kEnergy, as_bytes(to_json(energy)));
}

Result<void> Writer::write(const model::EventBatch& events) {
  return state_->packer.pack(events, state_->schema, [this](std::span<const std::uint8_t> block) {
    return state_->append(block);
  });
}

Result<void> Writer::write_block(std::span<const std::uint8_t> block) {
  return state_->append(block);
}

// Writes the schema once more, so that it stands at both ends of the file: no event can be read
// without one.
Result<void> Writer::finish() {
  State& state = *state_;
  if (!state.schema.points.empty()) SJ_CHECK(write(model::Schema(state.schema)));
  std::vector<IndexEntry> entries = state.index;
  for (IndexEntry& entry : entries) entry.header.magic = 0;
  // A file with more blocks than an index holds has no index: readers walk its headers.
  if (entries.size() * sizeof(IndexEntry) <= kMaxPayload) {
    const Trailer trailer{.index_offset = state.sink->size()};
    SJ_CHECK(state.append(BlockType::kIndex, {reinterpret_cast<const std::uint8_t*>(entries.data()),
                                              entries.size() * sizeof(IndexEntry)}));
    SJ_CHECK(state.sink->append(as_bytes(trailer)));
  }
  return state.sink->finish();
}

void Writer::abandon() {
  state_->sink->abandon();
}

std::uint64_t Writer::bytes() const {
  return state_->sink->size();
}
std::uint64_t Writer::events() const {
  return state_->events;
}

}  // namespace sojourn::trace
