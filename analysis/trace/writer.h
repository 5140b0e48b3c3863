// Writes a trace, block by block, in the order it is given; docs/trace-format.md has every byte.
// Each block is in the sink before the next begins, so a writer that dies loses at most its last
// block. One thread owns a Writer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/energy_info.h"
#include "analysis/model/event.h"
#include "analysis/model/profile_info.h"
#include "analysis/model/queue_info.h"
#include "analysis/model/schema.h"
#include "analysis/trace/byte_sink.h"

namespace sojourn::trace {

class Writer {
 public:
  static Result<Writer> create(std::unique_ptr<ByteSink> sink);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();  // without finish() what was written stays and can be read

  const std::string& put_aside() const;  // by the sink

  // The schema comes before the first event; a later call replaces it by one that only adds points.
  Result<void> write(const model::Schema& schema);
  Result<void> write(const model::Target& target);
  Result<void> write(const model::Host& host);
  Result<void> write(const model::Stream& stream);
  Result<void> write(const model::ClockPair& clock);
  Result<void> write(const model::Capture& capture);  // the newest one counts
  Result<void> write(const model::Ledger& ledger);    // cumulative: the newest one counts
  Result<void> write(const model::Context& context);  // they add up
  Result<void> write(const model::Profile& profile);  // they add up

  Result<void> write(const model::QueueChanges& changes);  // all of them count, in their order
  Result<void> write(const model::Sampling& sampling);     // cumulative: the newest one counts
  Result<void> write(const model::Energy& energy);         // the newest one counts

  // All events of one batch are of one stream, in that stream's order.
  Result<void> write(const model::EventBatch& events);

  // Writes a block that a BlockPacker made.
  Result<void> write_block(std::span<const std::uint8_t> block);

  // Writes the index and finishes the sink.
  Result<void> finish();

  // Discards the trace.
  void abandon();

  std::uint64_t bytes() const;
  std::uint64_t events() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::trace
