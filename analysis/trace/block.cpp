#include "analysis/trace/block.h"

#include <cstring>

#include <zlib.h>
#include <zstd.h>

namespace sojourn::trace {

std::uint32_t checksum(const void* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(0, static_cast<const Bytef*>(bytes), size));
}

namespace {

std::uint32_t header_checksum(const BlockHeader& header) {
  return checksum(&header, offsetof(BlockHeader, header_crc));
}

}  // namespace

void BlockMaker::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

BlockMaker::BlockMaker() : compressor_(ZSTD_createCCtx()) {
  // Level 3 takes a fifth longer than level 1 and is only 2 % smaller, since columns are regular.
  ZSTD_CCtx_setParameter(compressor_.get(), ZSTD_c_compressionLevel, 1);
}
BlockMaker::BlockMaker(BlockMaker&&) noexcept = default;
BlockMaker& BlockMaker::operator=(BlockMaker&&) noexcept = default;
BlockMaker::~BlockMaker() = default;

Result<std::span<const std::uint8_t>> BlockMaker::make(BlockType type,
                                                       std::span<const std::uint8_t> raw,
                                                       const BlockSummary& summary) {
  if (raw.size() > kMaxPayload || summary.events > kMaxEvents)
    return fail("a block of {} bytes and {} events is too large", raw.size(), summary.events);
  block_.resize(sizeof(BlockHeader) + ZSTD_compressBound(raw.size()));
  std::uint8_t* payload = block_.data() + sizeof(BlockHeader);
  std::size_t size = ZSTD_compress2(compressor_.get(), payload, block_.size() - sizeof(BlockHeader),
                                    raw.data(), raw.size());
  const bool compressed = ZSTD_isError(size) == 0 && size < raw.size();
  if (!compressed && !raw.empty()) std::memcpy(payload, raw.data(), raw.size());
  if (!compressed) size = raw.size();

  BlockHeader header;
  header.type = type;
  header.flags = compressed ? kCompressed : 0;
  header.payload_bytes = static_cast<std::uint32_t>(size);
  header.raw_bytes = static_cast<std::uint32_t>(raw.size());
  header.stream = summary.stream;
  header.events = summary.events;
  header.first_seq = summary.first_seq;
  header.last_seq = summary.last_seq;
  header.min_ts_ns = summary.min_ts_ns;
  header.max_ts_ns = summary.max_ts_ns;
  header.payload_crc = checksum(payload, size);
  header.header_crc = header_checksum(header);
  std::memcpy(block_.data(), &header, sizeof(header));
  return std::span<const std::uint8_t>(block_).first(sizeof(header) + size);
}

bool is_sound(const FileHeader& header) {
  return header.magic == kFileMagic &&
         header.header_crc == checksum(&header, offsetof(FileHeader, header_crc));
}

bool is_sound(const BlockHeader& header) {
  return header.magic == kBlockMagic && header.header_crc == header_checksum(header) &&
         header.payload_bytes <= kMaxPayload && header.raw_bytes <= kMaxPayload &&
         header.events <= kMaxEvents && header.min_ts_ns <= header.max_ts_ns;
}

BlockSummary summary_of(const BlockHeader& header) {
  return {.stream = header.stream,
          .events = header.events,
          .first_seq = header.first_seq,
          .last_seq = header.last_seq,
          .min_ts_ns = header.min_ts_ns,
          .max_ts_ns = header.max_ts_ns};
}

void BlockOpener::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

BlockOpener::BlockOpener() : decompressor_(ZSTD_createDCtx()) {}
BlockOpener::BlockOpener(BlockOpener&&) noexcept = default;
BlockOpener& BlockOpener::operator=(BlockOpener&&) noexcept = default;
BlockOpener::~BlockOpener() = default;

Result<std::span<const std::uint8_t>> BlockOpener::open(const BlockHeader& header,
                                                        std::span<const std::uint8_t> payload) {
  if (payload.size() != header.payload_bytes) return fail("block cut short");
  if (checksum(payload.data(), payload.size()) != header.payload_crc)
    return fail("checksum differs");
  if ((header.flags & kCompressed) == 0) {
    if (header.raw_bytes != header.payload_bytes) return fail("sizes differ");
    return payload;
  }
  raw_.resize(header.raw_bytes);
  const std::size_t size = ZSTD_decompressDCtx(decompressor_.get(), raw_.data(), raw_.size(),
                                               payload.data(), payload.size());
  if (ZSTD_isError(size) != 0 || size != header.raw_bytes) return fail("does not decompress");
  return std::span<const std::uint8_t>(raw_);
}

}  // namespace sojourn::trace
