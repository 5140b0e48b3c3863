// Hostile files: every checksum is right, and the contents are wrong.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/trace/support.h"
#include "userspace/files/trace_file.h"

namespace sojourn::trace {
namespace {

using namespace test;

BlockHeader header_of(BlockType type, std::size_t size) {
  BlockHeader header;
  header.type = type;
  header.payload_bytes = header.raw_bytes = static_cast<std::uint32_t>(size);
  return header;
}

Bytes json_block(BlockType type, std::string_view json) {
  return block(header_of(type, json.size()), bytes_of(json));
}

constexpr std::string_view kSchema =
    R"({"points":[{"dir":"D","src":"a","dest":"b","file":"x","fields":[{"name":"len","role":"property","bytes":4,"signed":false}]}]})";

// A finished trace of one block of events, with room before and after that block.
struct Parts {
  TemporaryDirectory folder;
  model::Schema schema = some_schema();
  Events events = some_events(1, 0, 20, schema);
  Bytes before;  // file header, schema
  Bytes middle;  // events

  Parts() {
    write_trace(folder.path("whole.sjt"), schema, std::span(&events, 1));
    const Bytes whole = read_bytes(folder.path("whole.sjt"));
    const auto reader = files::open_trace(folder.path("whole.sjt"));
    REQUIRE(error_of(reader) == "");
    const BlockInfo& info = reader->blocks().at(0);
    before.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(info.offset));
    middle.assign(whole.begin() + static_cast<std::ptrdiff_t>(info.offset),
                  whole.begin() + static_cast<std::ptrdiff_t>(info.offset + info.bytes));
  }

  Result<Reader> open(std::initializer_list<Bytes> parts) const {
    Bytes bytes;
    for (const Bytes& part : parts) append(bytes, part);
    write_bytes(folder.path("made.sjt"), bytes);
    return files::open_trace(folder.path("made.sjt"));
  }

  // The block of events with a changed header, whose checksum is right.
  Bytes middle_with(void (*change)(BlockHeader&)) const {
    BlockHeader header;
    std::memcpy(&header, middle.data(), sizeof(header));
    change(header);
    return block(header, std::span(middle).subspan(sizeof(header)));
  }
};

TEST_CASE("another major version is refused and not called damage, a newer minor one is read") {
  const Parts parts;
  const Bytes schema(parts.before.begin() + sizeof(FileHeader), parts.before.end());
  CHECK(error_of(parts.open({file_header({.major = 2}), schema, parts.middle}))
            .starts_with(parts.folder.path("made.sjt") + ": written in format 2.0"));
  CHECK(error_of(parts.open({file_header({.major = 0, .minor = 9}), schema, parts.middle}))
            .contains(": written in format 0.9"));
  auto reader = parts.open({file_header({.minor = 77}), schema, parts.middle});
  REQUIRE(error_of(reader) == "");
  CHECK(merged(*reader) == sorted(parts.events));
}

TEST_CASE("a block of an unknown type is skipped and is no damage") {
  const Parts parts;
  // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): what the test is about
  const Bytes unknown = json_block(static_cast<BlockType>(200), "from the future");
  auto reader = parts.open({parts.before, unknown, parts.middle, unknown});
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().empty());
  CHECK(merged(*reader) == sorted(parts.events));
}

TEST_CASE("unknown members of known blocks are skipped") {
  const Parts parts;
  auto reader = parts.open(
      {parts.before, parts.middle,
       json_block(BlockType::kTarget, R"({"pid":42,"name":"gnb","colour":["red",{"deep":1}]})"),
       json_block(BlockType::kLedger,
                  R"([{"stream":1,"point":2,"cause":0,"count":3,"mood":"bad"}])")});
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().empty());
  CHECK(reader->target().pid == 42);
  CHECK(reader->target().name == "gnb");
  CHECK(reader->ledger() == model::Ledger{{.stream = 1, .point = 2, .count = 3}});
}

TEST_CASE("a block whose contents do not match its type is damage, and the rest is read") {
  const Parts parts;
  for (const BlockType type :
       {BlockType::kSchema, BlockType::kTarget, BlockType::kHost, BlockType::kStream,
        BlockType::kClock, BlockType::kCapture, BlockType::kLedger})
    for (const std::string_view json :
         {"", "7", "null", "\"text\"", "{", "[}", "\xff\xfe", R"({"points":7})", R"([7])"}) {
      const bool is_fine = false;
      INFO("type " << int{static_cast<std::uint8_t>(type)} << ": " << json);
      auto reader = parts.open({parts.before, json_block(type, json), parts.middle});
      REQUIRE(error_of(reader) == "");
      const bool is_object_for_object =
          json == R"({"points":7})" && type != BlockType::kSchema && type != BlockType::kLedger;
      CHECK(reader->damage().empty() == (is_fine || is_object_for_object));
      CHECK(merged(*reader) == sorted(parts.events));
    }
}

TEST_CASE("a stream or clock pair that cannot be read is not there") {
  const Parts parts;
  auto reader = parts.open({parts.before, json_block(BlockType::kStream, R"({"id":-1})"),
                            json_block(BlockType::kStream, R"({"id":5})"),
                            json_block(BlockType::kClock, R"({"monotonic_ns":"now"})")});
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().size() == 2);
  REQUIRE(reader->streams().size() == 1);
  CHECK(reader->streams()[0].id == 5);
  CHECK(reader->clocks().empty());
}

TEST_CASE("JSON nested to death is damage, not a crash") {
  const Parts parts;
  const std::string deep(200'000, '[');
  auto reader = parts.open({parts.before, json_block(BlockType::kLedger, deep),
                            json_block(BlockType::kTarget, "{\"a\":" + deep), parts.middle});
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().size() == 2);
  CHECK(merged(*reader) == sorted(parts.events));
}

TEST_CASE("brackets in texts are no nesting") {
  const Parts parts;
  auto reader = parts.open(
      {parts.before, json_block(BlockType::kTarget, R"({"name":"[[[[[[[[[[[[\\\"{{{{{{{{{{{{"})")});
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().empty());
  CHECK(reader->target().name == "[[[[[[[[[[[[\\\"{{{{{{{{{{{{");
}

TEST_CASE("very many small JSON values are read in passable time") {
  const Parts parts;
  std::string many = "[{}";
  for (int i = 0; i < 1'000'000; ++i) many += ",{}";
  auto reader = parts.open({parts.before, json_block(BlockType::kLedger, many + "]")});
  REQUIRE(error_of(reader) == "");
  CHECK(reader->ledger().size() == 1'000'001);
}

TEST_CASE("hits of streams that are no counts are damage") {
  const Parts parts;
  for (const char* json : {R"({"open_ns":7,"stream_hits":3})", R"({"stream_hits":[-1]})",
                           R"({"stream_hits":[1.5]})", R"({"stream_hits":["1"]})"}) {
    INFO(json);
    auto reader = parts.open({parts.before, json_block(BlockType::kCapture, json)});
    REQUIRE(error_of(reader) == "");
    CHECK(reader->damage().size() == 1);
    CHECK(reader->capture().open_ns == 0);
    CHECK(reader->capture().stream_hits.empty());
  }
}

TEST_CASE("numbers out of a member's range are damage") {
  const Parts parts;
  for (const char* json :
       {R"({"pid":4294967296})", R"({"pid":-4294967296})", R"({"pid":1.5})", R"({"pid":"1"})",
        R"({"cmdline":"ls"})", R"({"cmdline":[1]})", R"({"name":1})"}) {
    auto reader = parts.open({parts.before, json_block(BlockType::kTarget, json)});
    REQUIRE(error_of(reader) == "");
    INFO(json);
    CHECK(reader->damage().size() == 1);
    CHECK(reader->target().pid == 0);
  }
}

TEST_CASE("a schema that cannot be true is damage, and its events are not guessed") {
  const Parts parts;
  std::string many_fields = R"({"points":[{"dir":"D","src":"a","dest":"b","file":"","fields":[)";
  for (int i = 0; i < 17; ++i)
    many_fields += fmt::format("{}{{\"name\":\"f{}\"}}", i ? "," : "", i);
  many_fields += "]}]}";
  std::string many_points = R"({"points":[)";
  for (int i = 0; i < 65'537; ++i)
    many_points += fmt::format(R"({}{{"dir":"D","src":"a","dest":"b","fields":[]}})", i ? "," : "");
  many_points += "]}";
  for (
      const std::string& json :
      {many_fields, many_points,
       std::string(R"({"points":[{"dir":"X","src":"a","dest":"b","fields":[]}]})"),
       std::string(R"({"points":[{"dir":"","src":"a","dest":"b","fields":[]}]})"),
       std::string(R"({"points":[{"dir":"D","src":"a","dest":"b"}]})"),
       std::string(
           R"({"points":[{"dir":"D","src":"a","dest":"b","fields":[{"name":"x","role":"king"}]}]})"),
       std::string(
           R"({"points":[{"dir":"D","src":"a","dest":"b","fields":[{"name":"x","bytes":3}]}]})")}) {
    auto reader = parts.open({file_header(), json_block(BlockType::kSchema, json), parts.middle});
    REQUIRE(error_of(reader) == "");
    INFO(json.substr(0, 120));
    CHECK_FALSE(reader->damage().empty());
    CHECK(reader->schema().points.empty());
    CHECK(merged(*reader).empty());
  }
}

TEST_CASE("losses of points that are not in the schema are damage and are not counted") {
  const Parts parts;
  auto reader = parts.open(
      {parts.before,
       json_block(BlockType::kLedger,
                  R"([{"stream":0,"point":3,"count":1},{"stream":0,"point":4,"count":1}])")});
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().size() == 1);
  REQUIRE(reader->ledger().size() == 1);
  CHECK(reader->ledger()[0].point == 3);
}

TEST_CASE("no text of a forged file can move a terminal's cursor") {
  const Parts parts;
  auto reader = parts.open(
      {file_header(),
       json_block(
           BlockType::kSchema,
           R"({"points":[{"dir":"D","src":"a\u001b[2J","dest":"b","file":"\u0007","fields":[]}]})"),
       json_block(BlockType::kTarget, R"({"name":"\u001b]0;x\u0007","cmdline":["\r\n\u007f"]})")});
  REQUIRE(error_of(reader) == "");
  const auto has_control = [](const std::string& text) {
    return std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
  };
  for (const model::Point& point : reader->schema().points) {
    CHECK_FALSE(has_control(point.name()));
    CHECK_FALSE(has_control(point.file));
  }
  CHECK_FALSE(has_control(reader->target().name));
  for (const std::string& word : reader->target().cmdline) CHECK_FALSE(has_control(word));
}

TEST_CASE("events without the schema that explains them are damage") {
  const Parts parts;
  auto reader = parts.open({file_header(), parts.middle});
  REQUIRE(error_of(reader) == "");
  CHECK(merged(*reader).empty());
  CHECK(reader->damage().size() == 1);
}

TEST_CASE("sizes and counts that lie are found out, and cost no memory to speak of") {
  const Parts parts;
  constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
  void (*const lies[])(BlockHeader&) = {
      [](BlockHeader& h) { h.payload_bytes = kMax; },
      [](BlockHeader& h) { h.payload_bytes = kMaxPayload; },
      [](BlockHeader& h) { h.payload_bytes -= 1; },
      [](BlockHeader& h) { h.payload_bytes += 1; },
      [](BlockHeader& h) { h.raw_bytes = kMax; },
      [](BlockHeader& h) { h.raw_bytes = kMaxPayload; },
      [](BlockHeader& h) { h.raw_bytes = 0; },
      [](BlockHeader& h) { h.raw_bytes -= 1; },
      [](BlockHeader& h) { h.raw_bytes += 1; },
      [](BlockHeader& h) { h.flags ^= kCompressed; },
      [](BlockHeader& h) { h.events = kMax; },
      [](BlockHeader& h) { h.events = kMaxEvents; },
      [](BlockHeader& h) { h.events += 1; },
      [](BlockHeader& h) { h.events -= 1; },
      [](BlockHeader& h) { h.events = 0; },
      [](BlockHeader& h) { h.min_ts_ns += 1; },
      [](BlockHeader& h) { h.min_ts_ns -= 1; },
      [](BlockHeader& h) { h.min_ts_ns = 0; },
      [](BlockHeader& h) { h.max_ts_ns += 1; },
      [](BlockHeader& h) { h.max_ts_ns = std::numeric_limits<std::uint64_t>::max(); },
      [](BlockHeader& h) { std::swap(h.min_ts_ns, h.max_ts_ns); },
      [](BlockHeader& h) { h.last_seq += 1; },
      [](BlockHeader& h) { h.last_seq -= 1; },
  };
  for (std::size_t i = 0; i < std::size(lies); ++i) {
    INFO("lie " << i);
    auto reader = parts.open({parts.before, parts.middle_with(lies[i])});
    REQUIRE(error_of(reader) == "");
    CHECK(merged(*reader).empty());
    CHECK_FALSE(reader->damage().empty());
  }
}

TEST_CASE("a file of nothing but headers that claim all that follows is read in passable time") {
  const Parts parts;
  constexpr std::size_t kHeaders = 100'000;
  Bytes bytes = file_header();
  bytes.push_back('x');  // no block begins where one should: the search is on
  for (std::size_t i = 0; i < kHeaders; ++i) {
    BlockHeader header = header_of(BlockType::kEvents, (kHeaders - i - 1) * sizeof(BlockHeader));
    header.reserved = 1;
    Bytes lie = block(header, {});  // the checksum of its payload is that of no bytes
    append(bytes, lie);
  }
  auto reader = parts.open({bytes});
  REQUIRE(error_of(reader) == "");
  CHECK_FALSE(reader->damage().empty());
  CHECK(merged(*reader).empty());
}

TEST_CASE("columns of any bytes are refused or decoded, and never crash") {
  const Parts parts;
  Events all;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    Bytes columns(random() % 200);
    // Small numbers look more like the real thing.
    for (std::uint8_t& byte : columns)
      byte = static_cast<std::uint8_t>(random() % (seed % 2 == 0 ? 256 : 6));
    BlockHeader header = header_of(BlockType::kEvents, columns.size());
    header.events = static_cast<std::uint32_t>(random() % 20);
    header.max_ts_ns = random() % 4;
    auto reader = parts.open({parts.before, block(header, columns)});
    REQUIRE(error_of(reader) == "");
    const Events events = merged(*reader);
    CHECK((events.size() == header.events || !reader->damage().empty()));
  }
}

TEST_CASE("an index with impossible offsets is not believed") {
  const Parts parts;
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{15}, std::uint64_t{17},
                                     ~std::uint64_t{0}, ~std::uint64_t{0} - 64}) {
    IndexEntry entry;
    entry.offset = offset;
    std::memcpy(&entry.header, parts.middle.data(), sizeof(entry.header));
    const auto* raw = reinterpret_cast<const std::uint8_t*>(&entry);
    const Bytes index =
        block(header_of(BlockType::kIndex, sizeof(entry)), std::span(raw, sizeof(entry)));
    const Trailer trailer{.index_offset = parts.before.size() + parts.middle.size()};
    const auto* end = reinterpret_cast<const std::uint8_t*>(&trailer);
    auto reader =
        parts.open({parts.before, parts.middle, index, Bytes(end, end + sizeof(trailer))});
    REQUIRE(error_of(reader) == "");
    CHECK_FALSE(reader->had_index());
    CHECK(merged(*reader) == sorted(parts.events));
  }
}

TEST_CASE("a small schema that a person wrote is read") {
  const Parts parts;
  auto reader = parts.open({file_header(), json_block(BlockType::kSchema, kSchema)});
  REQUIRE(error_of(reader) == "");
  CHECK(reader->damage().empty());
  REQUIRE(reader->schema().points.size() == 1);
  CHECK(reader->schema().points[0].fields[0].bytes == 4);
}

}  // namespace
}  // namespace sojourn::trace
