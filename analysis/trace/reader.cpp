#include "analysis/trace/reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "analysis/links/resolver.h"
#include "analysis/trace/codec.h"
#include "analysis/trace/input.h"
#include "analysis/trace/merge.h"
#include "analysis/trace/metadata.h"
#include "analysis/trace/sequence.h"

namespace sojourn::trace {

struct Reader::State : Metadata {
  explicit State(Input opened) : input(std::move(opened)), damage(input.damage()) {}

  Input input;
  std::vector<BlockInfo> blocks;
  std::vector<IndexEntry> entries;  // of the same blocks
  std::vector<Damage> damage;
  std::set<std::uint64_t> reported;  // offsets of the damaged blocks among them
  std::vector<Gap> gaps;
  EventDecoder decoder;
  std::shared_ptr<EventStage> stage;
  std::uint64_t events = 0;
  std::size_t max_open_blocks = 0;

  void report(const IndexEntry& block, std::string what);
  Result<void> read_meta(const IndexEntry& block);
  void check_ledger();
  void read_all_meta();
  Result<void> read_events(const IndexEntry& block, model::EventBatch& into);
  void find_gaps();
};

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(std::unique_ptr<ByteSource> source) {
  SJ_TRY(input, Input::open(std::move(source)));
  auto state = std::make_unique<State>(std::move(input));
  state->read_all_meta();
  return Reader(std::move(state));
}

// Reports a damaged block once, though it may be read several times.
void Reader::State::report(const IndexEntry& block, std::string what) {
  if (reported.insert(block.offset).second)
    damage.push_back({.offset = block.offset,
                      .bytes = sizeof(BlockHeader) + block.header.payload_bytes,
                      .what = std::move(what),
                      .stream = block.header.stream,
                      .events = block.header.events});
}

void Reader::State::read_all_meta() {
  for (const IndexEntry& block : input.blocks()) {
    if (block.header.type == BlockType::kEvents) {
      entries.push_back(block);
      events += block.header.events;
      count_events(block.header.stream, block.header.events);
      blocks.push_back(
          {.offset = block.offset,
           .bytes = static_cast<std::uint32_t>(sizeof(BlockHeader)) + block.header.payload_bytes,
           .stream = block.header.stream,
           .events = block.header.events,
           .first_seq = block.header.first_seq,
           .last_seq = block.header.last_seq,
           .min_ts_ns = block.header.min_ts_ns,
           .max_ts_ns = block.header.max_ts_ns});
    } else if (auto read = read_meta(block); !read) {
      report(block, read.error().text());
    }
  }
  check_ledger();
}

Result<void> Reader::State::read_meta(const IndexEntry& block) {
  SJ_TRY(payload, input.payload(block));
  return add(block.header.type, payload);
}

// Drops ledger entries of unknown points, since users look points up by id.
void Reader::State::check_ledger() {
  if (drop_unknown_losses() != 0)
    damage.push_back({0, 0, "ledger entries of points that are not in the schema"});
}

Result<void> Reader::State::read_events(const IndexEntry& block, model::EventBatch& into) {
  SJ_TRY(columns, input.payload(block));
  return decoder.decode(columns, summary_of(block.header), schema, into);
}

Result<void> Reader::read(const BlockInfo& block, model::EventBatch& into) {
  const auto found =
      std::ranges::lower_bound(state_->entries, block.offset, {}, &IndexEntry::offset);
  if (found == state_->entries.end() || found->offset != block.offset)
    return fail("{}: no block of events at offset {}", path(), block.offset);
  auto read = state_->read_events(*found, into);
  if (!read) {
    state_->report(*found, read.error().text());
    return std::unexpected(std::move(read).error().within(
        fmt::format("{}, block at offset {}", path(), block.offset)));
  }
  return {};
}

Result<void> Reader::merge(const std::function<bool(model::EventBatch&)>& consume) {
  std::map<std::uint32_t, SequenceCheck> sequences;
  std::optional<links::Resolver> links;
  if (capture().script.empty()) links.emplace(state_->schema, streams(), capture().shed);
  EventStage* const stage = state_->stage.get();
  if (stage != nullptr) SJ_CHECK(stage->begin(streams()));
  Result<void> staged;
  SJ_TRY(statistics, merge_blocks(
                         state_->blocks,
                         [&](const BlockInfo& block, model::EventBatch& into) {
                           if (!read(block, into)) into.clear();
                           sequences[block.stream].add(into);
                         },
                         [&](model::EventBatch& events) {
                           if (links) links->resolve(events);
                           if (stage != nullptr) {
                             staged = stage->pass(events);
                             if (!staged) return false;
                             if (events.empty()) return true;
                           }
                           return consume(events);
                         }));
  SJ_CHECK(std::move(staged));
  state_->max_open_blocks = statistics.max_open_blocks;
  state_->gaps.clear();
  const std::vector<std::uint64_t>& first = capture().stream_first;
  for (auto& [stream, sequence] : sequences)
    sequence.append_gaps(stream, stream < first.size() ? first[stream] : 0, state_->gaps);
  return {};
}

const std::string& Reader::path() const {
  return state_->input.name();
}
const model::Schema& Reader::schema() const {
  return state_->stage ? state_->stage->schema() : state_->schema;
}
void Reader::set_stage(std::shared_ptr<EventStage> stage) {
  state_->stage = std::move(stage);
}
const std::vector<model::Target>& Reader::targets() const {
  return state_->targets;
}
const model::Host& Reader::host() const {
  return state_->host;
}
const model::Capture& Reader::capture() const {
  return state_->capture;
}
const std::vector<model::Stream>& Reader::streams() const {
  return state_->streams;
}
const std::vector<model::ClockPair>& Reader::clocks() const {
  return state_->clocks;
}
const model::Context& Reader::context() const {
  return state_->context;
}
const model::Profile& Reader::profile() const {
  return state_->profile;
}
const model::Ledger& Reader::ledger() const {
  return state_->ledger;
}
const model::QueueChanges& Reader::queue_changes() const {
  return state_->queue_changes;
}
const model::Sampling& Reader::sampling() const {
  return state_->sampling;
}
const model::Energy& Reader::energy() const {
  return state_->energy;
}
const std::vector<BlockInfo>& Reader::blocks() const {
  return state_->blocks;
}
const std::vector<Damage>& Reader::damage() const {
  return state_->damage;
}
bool Reader::had_index() const {
  return state_->input.had_index();
}
std::uint64_t Reader::events() const {
  return state_->events;
}
std::uint64_t Reader::bytes() const {
  return state_->input.size();
}
std::size_t Reader::max_open_blocks() const {
  return state_->max_open_blocks;
}
const std::vector<Gap>& Reader::gaps() const {
  return state_->gaps;
}

}  // namespace sojourn::trace
