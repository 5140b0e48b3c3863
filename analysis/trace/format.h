// The layout of a trace file; docs/trace-format.md describes it. All numbers are little endian.
//
// A file is a FileHeader, then blocks, then (in a file that was finished) an index block and a
// Trailer that says where the index is. A block is a BlockHeader and its payload. It means the same
// at any place of a file, whatever is damaged or missing elsewhere.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sojourn::trace {

static_assert(std::endian::native == std::endian::little,
              "structs are written as they are in memory");

constexpr std::uint64_t kFileMagic = 0x0a45434152544a53;     // "SJTRACE\n"
constexpr std::uint32_t kBlockMagic = 0x4b424a53;            // "SJBK"
constexpr std::uint64_t kTrailerMagic = 0x0a444e4552544a53;  // "SJTREND\n"
constexpr std::uint16_t kMajor = 1;                          // a reader refuses any other
constexpr std::uint16_t kMinor = 0;                          // a reader skips what it does not know

struct FileHeader {
  std::uint64_t magic = kFileMagic;
  std::uint16_t major = kMajor;
  std::uint16_t minor = kMinor;
  std::uint32_t header_crc = 0;  // of the bytes before it
};
static_assert(sizeof(FileHeader) == 16);
static_assert(offsetof(FileHeader, header_crc) == 12);

// Stored: values are explicit and never reused.
enum class BlockType : std::uint8_t {
  kSchema = 1,
  kTarget = 2,
  kHost = 3,
  kStream = 4,
  kClock = 5,
  kCapture = 6,
  kLedger = 7,
  kEvents = 8,
  kIndex = 9,
  kQueues = 10,
  kSampling = 11,
  kContext = 12,
  kProfile = 13,
  kEnergy = 14,
  kOrigin = 15,
};

constexpr std::uint8_t kCompressed = 1;  // BlockHeader::flags: the payload is one zstd frame

struct BlockHeader {
  std::uint32_t magic = kBlockMagic;
  BlockType type = BlockType::kEvents;
  std::uint8_t flags = 0;
  std::uint16_t reserved = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t raw_bytes = 0;  // of the payload when decompressed
  std::uint32_t stream = 0;     // this and the following: of an events block, else 0
  std::uint32_t events = 0;
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;  // the largest
  std::uint64_t min_ts_ns = 0;
  std::uint64_t max_ts_ns = 0;
  std::uint32_t payload_crc = 0;  // CRC-32 as zlib's
  std::uint32_t header_crc = 0;   // of the bytes before it
};
static_assert(sizeof(BlockHeader) == 64);
static_assert(offsetof(BlockHeader, header_crc) == 60);

// In the index block the header's magic is 0: a reader that searches a damaged file for headers
// must not take the index's copies for blocks.
struct IndexEntry {
  std::uint64_t offset = 0;
  BlockHeader header;
};
static_assert(sizeof(IndexEntry) == 72);

struct Trailer {
  std::uint64_t index_offset = 0;
  std::uint64_t magic = kTrailerMagic;
};
static_assert(sizeof(Trailer) == 16);

// No real block is larger, and a reader allocates no more for a forged one.
constexpr std::uint32_t kMaxPayload = 64u << 20;
constexpr std::uint32_t kMaxEvents = 1u << 18;

}  // namespace sojourn::trace
