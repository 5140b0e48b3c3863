#include "analysis/trace/input.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "analysis/base/count_text.h"

namespace sojourn::trace {

Result<Input> Input::open(std::unique_ptr<ByteSource> source) {
  Input input(std::move(source));
  SJ_CHECK(input.check_file_header());
  input.had_index_ = input.read_index();
  if (!input.had_index_) input.walk();
  return input;
}

bool Input::read_at(std::uint64_t offset, void* into, std::size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) return false;
  return source_->read_at(offset, {static_cast<std::uint8_t*>(into), bytes});
}

// Blocks can be read even where the file's header is damaged.
Result<void> Input::check_file_header() {
  FileHeader header;
  if (!read_at(0, &header, sizeof(header)))
    return fail("{}: no sojourn trace: only {} long", name(), counted(size_, "byte"));
  const bool whole = is_sound(header);
  if (whole && header.major != kMajor)
    return fail("{}: written in format {}.{}, this program reads {}.x: use {} sojourn", name(),
                header.major, header.minor, kMajor, header.major > kMajor ? "a newer" : "an older");
  if (whole) return {};
  if (header.magic != kFileMagic && next_block(sizeof(header)) == size_)
    return fail("{}: no sojourn trace (`sojourn import` reads other tracers' files)", name());
  damage_.push_back({0, sizeof(header), "file header damaged"});
  return {};
}

bool Input::block_at(std::uint64_t offset, IndexEntry& block) const {
  block.offset = offset;
  return read_at(offset, &block.header, sizeof(block.header)) && is_sound(block.header);
}

// Uses the index only if it is consistent. Each block is checked again when it is read.
bool Input::read_index() {
  Trailer trailer;
  IndexEntry index;
  if (size_ < sizeof(trailer) || !read_at(size_ - sizeof(trailer), &trailer, sizeof(trailer)))
    return false;
  if (trailer.magic != kTrailerMagic || !block_at(trailer.index_offset, index) ||
      index.header.type != BlockType::kIndex)
    return false;
  auto entries = payload(index);
  if (!entries || entries->size() % sizeof(IndexEntry) != 0) return false;

  std::vector<IndexEntry> blocks(entries->size() / sizeof(IndexEntry));
  if (!blocks.empty()) std::memcpy(blocks.data(), entries->data(), entries->size());
  std::uint64_t end = sizeof(FileHeader);
  for (IndexEntry& block : blocks) {
    block.header.magic = kBlockMagic;
    if (!is_sound(block.header) || block.offset != end) return false;
    end = block.offset + sizeof(BlockHeader) + block.header.payload_bytes;
  }
  if (end != trailer.index_offset) return false;
  blocks_ = std::move(blocks);
  return true;
}

// Several parts of a stream may follow each other in a file, each with a file header.
bool Input::has_file_header(std::uint64_t offset) const {
  FileHeader header;
  return read_at(offset, &header, sizeof(header)) && is_sound(header);
}

// Returns the block's end by its header. If the stream broke within the block, the next part begins
// earlier: then the payload is damaged, and contains a file header.
std::uint64_t Input::end_of(const IndexEntry& block) {
  const std::uint64_t end = block.offset + sizeof(BlockHeader) + block.header.payload_bytes;
  IndexEntry next;
  if (end >= size_ || block_at(end, next) || has_file_header(end) || is_whole_at(block)) return end;
  constexpr std::uint64_t magic = kFileMagic;
  const std::uint64_t begin = block.offset + sizeof(BlockHeader);
  // The file header may begin within the last bytes.
  payload_.resize(static_cast<std::size_t>(std::min(end + sizeof(magic) - 1, size_) - begin));
  if (!read_at(begin, payload_.data(), payload_.size())) return end;
  for (std::size_t at = 0; at + sizeof(magic) <= payload_.size(); ++at)
    if (std::memcmp(&payload_[at], &magic, sizeof(magic)) == 0 && has_file_header(begin + at))
      return begin + at;
  return end;
}

void Input::walk() {
  std::uint64_t offset = sizeof(FileHeader);
  while (offset < size_) {
    IndexEntry block;
    const bool has_header = block_at(offset, block);
    if (!has_header && has_file_header(offset)) {
      offset += sizeof(FileHeader);
      continue;
    }
    const std::uint64_t whole = offset + sizeof(BlockHeader) + block.header.payload_bytes;
    const std::uint64_t end = has_header && whole <= size_ ? end_of(block) : whole;
    if (has_header && end < whole) {
      damage_.push_back({offset, end - offset, "block cut short"});
      offset = end;
      continue;
    }
    if (has_header && end <= size_) {
      if (block.header.type != BlockType::kIndex) blocks_.push_back(block);
      offset = end;
      continue;
    }
    // The file ends or is damaged here, and whole blocks may still follow.
    const std::uint64_t next = next_block(offset + 1);
    Trailer trailer;
    const bool is_trailer = size_ - offset == sizeof(trailer) &&
                            read_at(offset, &trailer, sizeof(trailer)) &&
                            trailer.magic == kTrailerMagic;
    if (!is_trailer)
      damage_.push_back({offset, next - offset, next == size_ ? "block cut short" : "no block"});
    offset = next;
  }
}

// Returns where the next whole block begins, at or after `from`, or the end of the file. Any bytes
// may look like a header by chance, so the payload has to match.
std::uint64_t Input::next_block(std::uint64_t from) {
  constexpr std::uint64_t kWindow = 1u << 20;
  constexpr std::uint32_t magic = kBlockMagic;
  std::vector<std::uint8_t> window;
  while (size_ - from >= sizeof(BlockHeader)) {
    from = std::clamp(source_->next_data(from), from, size_);  // passes over holes
    window.resize(static_cast<std::size_t>(std::min(kWindow, size_ - from)));
    if (!read_at(from, window.data(), window.size())) return size_;
    for (std::size_t at = 0; at + sizeof(magic) <= window.size(); ++at) {
      IndexEntry block;
      if (std::memcmp(&window[at], &magic, sizeof(magic)) == 0 && block_at(from + at, block) &&
          is_whole_at(block))
        return from + at;
    }
    if (window.size() < kWindow) return size_;
    from += window.size() - sizeof(magic) + 1;
  }
  return size_;
}

// Checks a payload while searching. A file of headers that all claim the rest of it would be read
// once for each of them. So after a few readings of the whole file, headers are believed; payload()
// checks them anyway.
bool Input::is_whole_at(const IndexEntry& block) {
  constexpr std::uint64_t kReadings = 4;
  if (block.header.payload_bytes > size_ - block.offset - sizeof(BlockHeader)) return false;
  searched_bytes_ += block.header.payload_bytes;
  if (searched_bytes_ > kReadings * size_) return true;
  payload_.resize(block.header.payload_bytes);
  return read_at(block.offset + sizeof(BlockHeader), payload_.data(), payload_.size()) &&
         checksum(payload_.data(), payload_.size()) == block.header.payload_crc;
}

Result<std::span<const std::uint8_t>> Input::payload(const IndexEntry& block) {
  // The header in the file decides, not the index.
  IndexEntry stored;
  if (!block_at(block.offset, stored) ||
      std::memcmp(&stored.header, &block.header, sizeof(BlockHeader)) != 0)
    return fail("header damaged");
  // The size is checked before memory is allocated for it.
  if (block.header.payload_bytes > size_ - block.offset - sizeof(BlockHeader))
    return fail("block cut short");
  payload_.resize(block.header.payload_bytes);
  if (!read_at(block.offset + sizeof(BlockHeader), payload_.data(), payload_.size()))
    return fail("block cut short");
  return opener_.open(block.header, payload_);
}

}  // namespace sojourn::trace
