#include "analysis/trace/follower.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "analysis/base/count_text.h"

namespace sojourn::trace {

namespace {

template <typename Struct>
bool read_struct(ByteSource& source, std::uint64_t offset, Struct& into) {
  return source.read_at(offset, {reinterpret_cast<std::uint8_t*>(&into), sizeof(into)});
}

}  // namespace

// False: it has not come yet.
Result<bool> Follower::read_file_header() {
  FileHeader header;
  if (source_->size() < sizeof(header)) return false;
  if (!read_struct(*source_, 0, header)) return fail("{}: cannot be read", name());
  if (!is_sound(header)) return fail("{}: no sojourn trace", name());
  if (header.major != kMajor)
    return fail("{}: written in format {}.{}, this program reads {}.x: use {} sojourn", name(),
                header.major, header.minor, kMajor, header.major > kMajor ? "a newer" : "an older");
  offset_ = sizeof(header);
  return true;
}

Result<std::size_t> Follower::poll(std::size_t most_blocks, const Take& take) {
  if (offset_ == 0) {
    SJ_TRY(has_come, read_file_header());
    if (!has_come && source_->is_over())
      return fail("{}: no sojourn trace: only {} long", name(), counted(source_->size(), "byte"));
    if (!has_come) return std::size_t{0};
  }
  std::size_t blocks = 0;
  while (blocks < most_blocks && !has_ended_) {
    const std::uint64_t size = source_->size();
    BlockHeader header;
    if (size < offset_ || size - offset_ < sizeof(header)) break;
    if (!read_struct(*source_, offset_, header)) break;
    if (FileHeader part; header.magic != kBlockMagic && read_struct(*source_, offset_, part) &&
                         is_sound(part)) {  // of a stream, which came in several parts
      offset_ += sizeof(part);
      continue;
    }
    if (!is_sound(header)) {
      if (!pass_over_damage()) break;
      continue;
    }
    if (size - offset_ - sizeof(header) < header.payload_bytes) break;
    if (header.type == BlockType::kIndex) {
      has_ended_ = true;
      is_finished_ = true;
    } else {
      read_block(header, take);
    }
    offset_ += sizeof(header) + header.payload_bytes;
    ++blocks;
  }
  if (blocks == 0 && source_->is_over()) has_ended_ = true;
  return blocks;
}

// A trace that is followed for days may be damaged again and again.
void Follower::note(Damage damage) {
  constexpr std::size_t kMost = 1000;
  ++damaged_places_;
  if (damage_.size() < kMost) damage_.push_back(std::move(damage));
}

// Skips bytes at offset_ that are no block. True if a block follows, which is then next.
bool Follower::pass_over_damage() {
  constexpr std::size_t kWindow = std::size_t{1} << 20;
  constexpr std::uint32_t magic = kBlockMagic;
  const std::uint64_t size = source_->size();
  std::uint64_t from = std::max(offset_ + 1, searched_);
  while (size >= from + sizeof(BlockHeader)) {
    std::vector<std::uint8_t> window(
        static_cast<std::size_t>(std::min<std::uint64_t>(kWindow, size - from)));
    if (!source_->read_at(from, window)) return false;
    const std::size_t begins = window.size() - sizeof(BlockHeader) + 1;
    for (std::size_t at = 0; at < begins; ++at) {
      BlockHeader header;
      if (std::memcmp(&window[at], &magic, sizeof(magic)) != 0) continue;
      std::memcpy(&header, &window[at], sizeof(header));
      if (!is_sound(header)) continue;
      note({.offset = offset_, .bytes = from + at - offset_, .what = "no block"});
      offset_ = from + at;
      searched_ = 0;
      return true;
    }
    from += begins;
  }
  searched_ = from;
  return false;
}

void Follower::read_block(const BlockHeader& header, const Take& take) {
  payload_.resize(header.payload_bytes);
  const auto report = [&](std::string what) {
    note({.offset = offset_,
          .bytes = sizeof(header) + header.payload_bytes,
          .what = std::move(what),
          .stream = header.stream,
          .events = header.events});
  };
  if (!source_->read_at(offset_ + sizeof(header), payload_)) return report("block cut short");
  if (header.type == BlockType::kEvents) {
    events_ += header.events;
    about_.count_events(header.stream, header.events);
    take({.header = header, .offset = offset_, .payload = payload_});
    return;
  }
  const auto raw = opener_.open(header, payload_);
  if (!raw) return report(raw.error().text());
  if (const auto added = about_.add(header.type, *raw); !added) return report(added.error().text());
  about_.drop_unknown_losses();
  ++metadata_blocks_;
}

bool Follower::decode(const StoredEvents& stored, model::EventBatch& into) {
  const auto decoded = [&]() -> Result<void> {
    SJ_TRY(raw, opener_.open(stored.header, stored.payload));
    return decoder_.decode(raw, summary_of(stored.header), about_.schema, into);
  }();
  if (decoded) return true;
  note({.offset = stored.offset,
        .bytes = sizeof(stored.header) + stored.header.payload_bytes,
        .what = decoded.error().text(),
        .stream = stored.header.stream,
        .events = stored.header.events});
  into.clear();
  return false;
}

}  // namespace sojourn::trace
