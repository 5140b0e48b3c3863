// The store of a capture's items: they are written to the trace file as they come, or the newest
// are held in memory until a dump is asked for. Held events are packed, so that ten seconds of a
// million events each take some 40 MB. The sink's thread owns it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/energy_info.h"
#include "analysis/model/event.h"
#include "analysis/model/profile_info.h"
#include "analysis/model/queue_info.h"
#include "analysis/trace/block_packer.h"
#include "analysis/trace/format.h"
#include "analysis/trace/writer.h"

namespace sojourn::capture {

using Item = std::variant<model::EventBatch, model::Schema, model::Target, model::Stream,
                          model::ClockPair, model::Capture, model::Ledger, model::QueueChanges,
                          model::Sampling, model::Context, model::Profile, model::Energy>;

// The length of the history: the longer of the first two, within the memory.
struct History {
  std::chrono::nanoseconds span{};
  std::uint64_t events = 0;
  std::size_t bytes = std::size_t{256} << 20;
};

struct Dumped {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds span{};  // the complete span
};

class ItemStore {
 public:
  virtual ~ItemStore() = default;
  virtual Result<void> take(const Item& item) = 0;
  // Events that a trace::BlockPacker packed, instead of a batch.
  virtual Result<void> take_block(std::span<const std::uint8_t> block) = 0;
  virtual Result<void> finish() = 0;
  virtual void abandon() = 0;  // leaves no file behind
  virtual std::uint64_t bytes() const = 0;

  // Between pin() and unpin() nothing is forgotten, within the memory. A request for a dump of the
  // present history is running then, and a short history would move on before the dump is written.
  virtual void pin() {}
  virtual void unpin() {}

  // Writes the history as a trace of its own, and goes on. `about` has its end and the reason; its
  // open mark moves to the beginning of the history. Fails if the history is empty.
  virtual Result<Dumped> dump(const std::string& path, const model::Capture& about) const;
  // Begins a file with the history. Later items may be written to it as well.
  virtual Result<trace::Writer> begin_file(const std::string& path, model::Capture& about) const;
};

// Writes one trace file.
class FileStore final : public ItemStore {
 public:
  explicit FileStore(trace::Writer writer) : writer_(std::move(writer)) {}
  Result<void> take(const Item& item) override;
  Result<void> take_block(std::span<const std::uint8_t> block) override {
    return writer_.write_block(block);
  }
  Result<void> finish() override { return writer_.finish(); }
  void abandon() override { writer_.abandon(); }
  std::uint64_t bytes() const override { return writer_.bytes(); }

 private:
  trace::Writer writer_;
};

// Holds the newest events, and everything that describes them.
class FlightStore final : public ItemStore {
 public:
  FlightStore(History history, model::Host host) : history_(history), host_(std::move(host)) {}

  Result<void> take(const Item& item) override;
  Result<void> take_block(std::span<const std::uint8_t> block) override;
  Result<void> finish() override { return {}; }
  void abandon() override {}
  std::uint64_t bytes() const override { return held_bytes_; }
  void pin() override { is_pinned_ = true; }
  void unpin() override { is_pinned_ = false; }

  Result<Dumped> dump(const std::string& path, const model::Capture& about) const override;
  Result<trace::Writer> begin_file(const std::string& path, model::Capture& about) const override;

 private:
  struct Block {
    trace::BlockHeader header;
    std::vector<std::uint8_t> bytes;
  };
  struct LedgerAt {
    std::uint64_t ts_ns = 0;
    model::Ledger ledger;
  };

  Result<void> hold(const model::EventBatch& events);
  void hold_block(std::span<const std::uint8_t> bytes);
  void forget();
  model::Ledger losses_of_history() const;

  History history_;
  model::Host host_;
  trace::BlockPacker packer_;
  model::Schema schema_;
  std::deque<model::ClockPair> clocks_;
  std::deque<LedgerAt> ledgers_;
  std::optional<model::Sampling> sampling_;
  std::optional<model::Energy> energy_;
  std::vector<Item> others_;  // items without events, in their order
  std::deque<Block> blocks_;
  bool is_pinned_ = false;
  std::size_t held_bytes_ = 0;
  std::uint64_t held_events_ = 0;
  std::uint64_t newest_ns_ = 0;
  std::uint64_t complete_from_ns_ = 0;    // no item from this instant on was forgotten
  std::vector<std::uint64_t> first_seq_;  // by stream, of the oldest event that is held
};

}  // namespace sojourn::capture
