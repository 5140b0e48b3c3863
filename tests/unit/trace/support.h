// Helpers for the trace's tests: comparable events, traces made of them in a temporary folder, and
// files as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/trace/format.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"
#include "tests/support/child.h"

namespace sojourn::trace::test {

// An event that owns its values.
struct Event {
  std::uint64_t ts_ns = 0;
  std::uint64_t seq = 0;
  std::uint32_t stream = 0;
  std::uint32_t tid = 0;
  model::PointId point = 0;
  std::vector<std::uint64_t> values;

  bool operator==(const Event&) const = default;
};
using Events = std::vector<Event>;

model::EventBatch to_batch(std::span<const Event> events);
void append_to(const model::EventBatch& batch, Events& events);

// In time order, ties by stream and then as they are.
Events sorted(Events events);

// Points of 0, 1, 5 (one of them signed) and 16 fields.
model::Schema some_schema();

// Events of one stream as traffic has them: mostly in order, small steps, a few threads.
Events some_events(std::uint64_t seed, std::uint32_t stream, std::size_t count,
                   const model::Schema& schema);

using sojourn::test::TemporaryDirectory;

using Bytes = std::vector<std::uint8_t>;
Bytes read_bytes(const std::string& path);
void write_bytes(const std::string& path, std::span<const std::uint8_t> bytes);
bool exists(const std::string& path);

// A finished trace with one call of write() for each list of events.
void write_trace(const std::string& path, const model::Schema& schema,
                 std::span<const Events> blocks);

// All events as merge() gives them.
Events merged(Reader& reader);

// The text of a failure, or an empty text.
template <typename T>
std::string error_of(const Result<T>& result) {
  return result ? "" : result.error().text();
}

// A block made by hand, with right checksums, as a hostile writer could make it.
Bytes block(BlockHeader header, std::span<const std::uint8_t> payload);
Bytes file_header(FileHeader header = {});
void append(Bytes& bytes, std::span<const std::uint8_t> more);
Bytes bytes_of(std::string_view text);

}  // namespace sojourn::trace::test
