// One block as bytes: a header with its own checksum, and a payload that is compressed where that
// makes it smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/trace/codec.h"
#include "analysis/trace/format.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace sojourn::trace {

// CRC-32 as zlib's.
std::uint32_t checksum(const void* bytes, std::size_t size);

// Makes blocks; keeps its buffers between them. One thread owns it.
class BlockMaker {
 public:
  BlockMaker();
  BlockMaker(BlockMaker&&) noexcept;
  BlockMaker& operator=(BlockMaker&&) noexcept;
  ~BlockMaker();

  // The block's bytes, valid until the next call, header first.
  Result<std::span<const std::uint8_t>> make(BlockType type, std::span<const std::uint8_t> raw,
                                             const BlockSummary& summary = {});

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> compressor_;
  std::vector<std::uint8_t> block_;
};

// Returns whether the header has its magic number and checksum, and its values are possible.
bool is_sound(const BlockHeader& header);
bool is_sound(const FileHeader& header);
BlockSummary summary_of(const BlockHeader& header);

// Opens payloads. One thread owns it.
class BlockOpener {
 public:
  BlockOpener();
  BlockOpener(BlockOpener&&) noexcept;
  BlockOpener& operator=(BlockOpener&&) noexcept;
  ~BlockOpener();

  // The raw payload, valid until the next call. The header must be sound.
  Result<std::span<const std::uint8_t>> open(const BlockHeader& header,
                                             std::span<const std::uint8_t> payload);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> decompressor_;
  std::vector<std::uint8_t> raw_;
};

}  // namespace sojourn::trace
