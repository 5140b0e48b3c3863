// Reads a trace while it is being written. Each call takes the whole blocks that have come, stops
// before a block that is not complete yet, and goes on there later. It only moves forward, so its
// source may drop everything before offset(). Bytes that cannot be a block are skipped once a block
// follows them. One thread owns a Follower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/event.h"
#include "analysis/trace/block.h"
#include "analysis/trace/byte_source.h"
#include "analysis/trace/codec.h"
#include "analysis/trace/format.h"
#include "analysis/trace/metadata.h"
#include "analysis/trace/reader.h"

namespace sojourn::trace {

// Events as they are stored, to be decoded when their time has come.
struct StoredEvents {
  BlockHeader header;
  std::uint64_t offset = 0;
  std::vector<std::uint8_t> payload;
};

class Follower {
 public:
  using Take = std::function<void(StoredEvents&&)>;

  // The source's size() grows.
  explicit Follower(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // Takes at most `most_blocks` blocks and returns how many it took. Fails if the bytes cannot be a
  // trace.
  Result<std::size_t> poll(std::size_t most_blocks, const Take& take);

  const std::string& name() const { return source_->name(); }
  const Metadata& about() const { return about_; }
  // The number of metadata blocks so far. If it changed, the metadata did.
  std::uint64_t metadata_blocks() const { return metadata_blocks_; }
  // The writer has finished the trace, or the source is over: nothing more comes.
  bool has_ended() const { return has_ended_; }
  // The writer has finished it.
  bool is_finished() const { return is_finished_; }
  std::uint64_t offset() const { return offset_; }
  std::uint64_t events() const { return events_; }
  // The first of them; how many there were is damaged_places().
  const std::vector<Damage>& damage() const { return damage_; }
  std::uint64_t damaged_places() const { return damaged_places_; }

  // Replaces the contents of `into`. Returns false, and notes damage, if they do not decode.
  bool decode(const StoredEvents& stored, model::EventBatch& into);

 private:
  Result<bool> read_file_header();
  bool pass_over_damage();
  void note(Damage damage);
  void read_block(const BlockHeader& header, const Take& take);

  std::unique_ptr<ByteSource> source_;
  std::uint64_t offset_ = 0;
  std::uint64_t searched_ = 0;  // no block begins between offset_ and this
  bool has_ended_ = false;
  bool is_finished_ = false;
  Metadata about_;
  std::uint64_t metadata_blocks_ = 0;
  std::uint64_t events_ = 0;
  std::vector<Damage> damage_;
  std::uint64_t damaged_places_ = 0;
  BlockOpener opener_;
  EventDecoder decoder_;
  std::vector<std::uint8_t> payload_;
};

}  // namespace sojourn::trace
