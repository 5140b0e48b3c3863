// Reads a trace: everything that is not an event at open(), and events as batches on demand. Blocks
// stand alone, so every whole block of a cut or damaged file can be read; damage() lists the rest.
// Nothing in the file is trusted: sizes and counts are checked before they are used. One thread
// owns a Reader.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/energy_info.h"
#include "analysis/model/event.h"
#include "analysis/model/profile_info.h"
#include "analysis/model/queue_info.h"
#include "analysis/model/schema.h"
#include "analysis/trace/byte_source.h"
#include "analysis/trace/event_stage.h"

namespace sojourn::trace {

struct BlockInfo {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;  // header included
  std::uint32_t stream = 0;
  std::uint32_t events = 0;
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
  std::uint64_t min_ts_ns = 0;
  std::uint64_t max_ts_ns = 0;
};

// A run of sequence numbers of a stream that are not in the file.
struct Gap {
  std::uint32_t stream = 0;
  std::uint64_t first_seq = 0;
  std::uint64_t count = 0;
  std::uint64_t after_ns = 0;   // the stream's last event before the gap, 0: none
  std::uint64_t before_ns = 0;  // and its first one after it
};

struct Damage {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::string what;  // "block cut short", "checksum differs", ...
  std::uint32_t stream = 0;
  std::uint32_t events = 0;  // of the stream, as a block's header says that is whole itself
};

class Reader {
 public:
  static Result<Reader> open(std::unique_ptr<ByteSource> source);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  const std::string& path() const;  // the source's name
  // With a stage: the points behind it.
  const model::Schema& schema() const;
  // Never empty: a trace without targets has one without a name. The first one was recorded first.
  const std::vector<model::Target>& targets() const;
  const model::Target& target() const { return targets().front(); }
  const model::Host& host() const;
  const model::Capture& capture() const;
  const std::vector<model::Stream>& streams() const;
  const std::vector<model::ClockPair>& clocks() const;
  const model::Ledger& ledger() const;
  const model::QueueChanges& queue_changes() const;  // of all blocks, in their order
  const model::Sampling& sampling() const;
  const model::Context& context() const;
  const model::Profile& profile() const;
  const model::Energy& energy() const;
  const std::vector<BlockInfo>& blocks() const;  // of events, in file order
  const std::vector<Damage>& damage() const;
  bool had_index() const;
  std::uint64_t events() const;
  std::uint64_t bytes() const;

  // From now on merge() passes all events through the stage.
  void set_stage(std::shared_ptr<EventStage> stage);

  // Replaces the contents of `into` by one block's events, in the stream's order. They pass no
  // stage.
  Result<void> read(const BlockInfo& block, model::EventBatch& into);

  // Passes on every event of the file in time order, ties in stream order, in batches of a few
  // thousand, with the ids that only the order shows (analysis/links). Memory is that of the blocks
  // that overlap. A block that is found damaged is added to damage() and left out. `consume`
  // returns false to stop, and may move the batch away.
  Result<void> merge(const std::function<bool(model::EventBatch&)>& consume);

  // Gaps in the sequence numbers, found while merging or checking; complete after a full merge().
  const std::vector<Gap>& gaps() const;

  // The number of blocks that the last merge() held at once, which determines its memory.
  std::size_t max_open_blocks() const;

 private:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::trace
