// A trace opened for reading. It knows where the blocks are: from the index or, where that is
// missing or wrong, from walking the headers. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/trace/block.h"
#include "analysis/trace/byte_source.h"
#include "analysis/trace/format.h"
#include "analysis/trace/reader.h"

namespace sojourn::trace {

class Input {
 public:
  static Result<Input> open(std::unique_ptr<ByteSource> source);

  const std::string& name() const { return source_->name(); }
  std::uint64_t size() const { return size_; }
  const std::vector<IndexEntry>& blocks() const { return blocks_; }
  const std::vector<Damage>& damage() const { return damage_; }
  bool had_index() const { return had_index_; }

  // The block's raw payload, valid until the next call. An error says in a few words what is wrong.
  Result<std::span<const std::uint8_t>> payload(const IndexEntry& block);

 private:
  explicit Input(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), size_(source_->size()) {}

  bool read_at(std::uint64_t offset, void* into, std::size_t bytes) const;
  bool block_at(std::uint64_t offset, IndexEntry& block) const;
  bool is_whole_at(const IndexEntry& block);
  Result<void> check_file_header();
  bool read_index();
  void walk();
  bool has_file_header(std::uint64_t offset) const;
  std::uint64_t end_of(const IndexEntry& block);
  std::uint64_t next_block(std::uint64_t from);

  std::unique_ptr<ByteSource> source_;
  std::uint64_t size_ = 0;
  std::vector<IndexEntry> blocks_;
  std::vector<Damage> damage_;
  bool had_index_ = false;
  std::uint64_t searched_bytes_ = 0;  // of payloads, while looking for blocks
  BlockOpener opener_;
  std::vector<std::uint8_t> payload_;
};

}  // namespace sojourn::trace
