// Any bytes as a trace: opened, merged, every block read by itself. The events have to fit the
// schema. The first byte says whether checksums are corrected first ('1', or the fuzzer would never
// get behind them) or bytes are read as they are ('0').
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "analysis/trace/format.h"
#include "analysis/trace/reader.h"
#include "tests/fuzz/fuzz_checks.h"

namespace {

using namespace sojourn;
using fuzz::require;
using fuzz::understood;

std::uint32_t checksum(const std::uint8_t* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(0, bytes, size));
}

// Gives every header from the front on its magic and its checksums.
void make_sound(std::vector<std::uint8_t>& bytes) {
  trace::FileHeader file;
  if (bytes.size() < sizeof(file)) return;
  file.header_crc = checksum(reinterpret_cast<const std::uint8_t*>(&file),
                             offsetof(trace::FileHeader, header_crc));
  std::memcpy(bytes.data(), &file, sizeof(file));
  std::size_t at = sizeof(file);
  while (bytes.size() - at >= sizeof(trace::BlockHeader)) {
    trace::BlockHeader header;
    std::memcpy(&header, &bytes[at], sizeof(header));
    if (header.type == trace::BlockType::kIndex) return;
    const std::size_t room = bytes.size() - at - sizeof(header);
    header.magic = trace::kBlockMagic;
    header.payload_bytes =
        static_cast<std::uint32_t>(std::min<std::size_t>(header.payload_bytes, room));
    if ((header.flags & trace::kCompressed) == 0) header.raw_bytes = header.payload_bytes;
    header.payload_crc = checksum(bytes.data() + at + sizeof(header), header.payload_bytes);
    header.header_crc = checksum(reinterpret_cast<const std::uint8_t*>(&header),
                                 offsetof(trace::BlockHeader, header_crc));
    std::memcpy(&bytes[at], &header, sizeof(header));
    at += sizeof(header) + header.payload_bytes;
  }
}

void check(const model::EventBatch& batch, const model::Schema& schema) {
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const model::EventView event = batch[row];
    require(event.point < schema.points.size(), "an event's point is in the schema");
    require(event.values.size() == schema.points[event.point].fields.size(),
            "an event has a value for each field of its point");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] < '0' || data[0] > '1') return -1;  // not for the corpus
  std::vector<std::uint8_t> bytes(data + 1, data + size);
  if (data[0] == '1') make_sound(bytes);
  auto reader = trace::Reader::open(std::make_unique<trace::MemorySource>("trace", bytes));
  if (!understood(reader.has_value())) return 0;
  understood(reader->events() != 0 && reader->damage().empty());

  std::uint64_t last_ns = 0;
  const auto merged = reader->merge([&](const model::EventBatch& batch) {
    check(batch, reader->schema());
    require(std::ranges::is_sorted(batch.ts_ns()), "a merged batch is in time order");
    require(batch.ts_ns().front() >= last_ns, "merged batches are in time order");
    last_ns = batch.ts_ns().back();
    return true;
  });
  understood(merged.has_value());  // too much overlap is an honest answer
  model::EventBatch batch;
  for (const trace::BlockInfo& block : reader->blocks())
    if (reader->read(block, batch)) {
      check(batch, reader->schema());
      require(batch.size() == block.events, "a block has the events that its header says");
    }
  return 0;
}
