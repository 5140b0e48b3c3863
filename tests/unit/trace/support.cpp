#include "tests/unit/trace/support.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <tuple>

#include <catch2/catch_test_macros.hpp>
#include <zlib.h>

#include "userspace/files/trace_file.h"

namespace sojourn::trace::test {

model::EventBatch to_batch(std::span<const Event> events) {
  model::EventBatch batch;
  for (const Event& event : events)
    batch.append({.ts_ns = event.ts_ns,
                  .seq = event.seq,
                  .stream = event.stream,
                  .tid = event.tid,
                  .point = event.point,
                  .values = event.values});
  return batch;
}

void append_to(const model::EventBatch& batch, Events& events) {
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const model::EventView event = batch[row];
    events.push_back({.ts_ns = event.ts_ns,
                      .seq = event.seq,
                      .stream = event.stream,
                      .tid = event.tid,
                      .point = event.point,
                      .values = {event.values.begin(), event.values.end()}});
  }
}

Events sorted(Events events) {
  std::ranges::stable_sort(
      events, {}, [](const Event& event) { return std::tuple(event.ts_ns, event.stream); });
  return events;
}

model::Schema some_schema() {
  std::string sixteen = "f0:f1:f2";
  for (int i = 3; i < 16; ++i) sixteen += fmt::format(".f{}", i);
  model::Schema schema;
  for (const auto& [where, format] : {std::pair<std::string, std::string>{"S slot--begin", ""},
                                      {"U ip.out--", "len"},
                                      {"D rlc.tx.am--rlc.seg.am", "len:rnti:drb.psn.so"},
                                      {"I many--fields", sixteen}}) {
    auto point = model::parse_point(where, format);
    if (!point) throw std::runtime_error(point.error().text());
    point->file = "/usr/bin/station";
    schema.points.push_back(*std::move(point));
  }
  schema.points[2].fields[4].is_signed = true;
  schema.points[2].fields[3].is_address = true;
  return schema;
}

Events some_events(std::uint64_t seed, std::uint32_t stream, std::size_t count,
                   const model::Schema& schema) {
  std::mt19937_64 random(seed);
  const auto below = [&random](std::uint64_t limit) { return random() % limit; };
  Events events;
  std::uint64_t ts_ns = 1'000'000'000 + below(1000);
  std::uint64_t seq = 0;
  for (std::size_t i = 0; i < count; ++i) {
    ts_ns += below(20'000);
    Event event{.ts_ns = ts_ns - (below(50) == 0 ? below(5000) : 0),
                .seq = seq++,
                .stream = stream,
                .tid = static_cast<std::uint32_t>(4000 + below(4)),
                .point = static_cast<model::PointId>(below(schema.points.size())),
                .values = {}};
    for (std::size_t field = 0; field < schema.points[event.point].fields.size(); ++field)
      event.values.push_back(field == 1 ? 0x4601 + below(20) : below(1500) + 10 * i);
    events.push_back(std::move(event));
  }
  return events;
}

Bytes read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, std::span<const std::uint8_t> bytes) {
  // Some file systems wait for the disk when an existing file is truncated and written anew.
  std::filesystem::remove(path);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

bool exists(const std::string& path) {
  return std::filesystem::exists(std::filesystem::symlink_status(path));
}

void write_trace(const std::string& path, const model::Schema& schema,
                 std::span<const Events> blocks) {
  auto writer = files::create_trace(path);
  REQUIRE(error_of(writer) == "");
  REQUIRE(error_of(writer->write(schema)) == "");
  for (const Events& events : blocks) REQUIRE(error_of(writer->write(to_batch(events))) == "");
  REQUIRE(error_of(writer->finish()) == "");
}

Events merged(Reader& reader) {
  Events events;
  const auto done = reader.merge([&](const model::EventBatch& batch) {
    append_to(batch, events);
    return true;
  });
  REQUIRE(error_of(done) == "");
  return events;
}

namespace {

std::uint32_t checksum(const void* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(0, static_cast<const Bytef*>(bytes), size));
}

}  // namespace

Bytes block(BlockHeader header, std::span<const std::uint8_t> payload) {
  header.payload_crc = checksum(payload.data(), payload.size());
  header.header_crc = checksum(&header, offsetof(BlockHeader, header_crc));
  Bytes bytes(sizeof(header));
  std::memcpy(bytes.data(), &header, sizeof(header));
  append(bytes, payload);
  return bytes;
}

Bytes file_header(FileHeader header) {
  header.header_crc = checksum(&header, offsetof(FileHeader, header_crc));
  Bytes bytes(sizeof(header));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

void append(Bytes& bytes, std::span<const std::uint8_t> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

}  // namespace sojourn::trace::test
