// A file that was cut or damaged: every whole block is read, the damage is reported, and no event
// is invented.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>

#include "analysis/base/count_text.h"
#include "tests/unit/trace/support.h"
#include "userspace/files/trace_file.h"

namespace sojourn::trace {
namespace {

using namespace test;

// A small trace of three blocks of one stream, and where its blocks end.
struct Small {
  TemporaryDirectory folder;
  model::Schema schema;
  std::vector<Events> blocks;
  Bytes bytes;
  std::vector<std::uint64_t> ends;   // of the blocks of events
  std::vector<std::uint64_t> sizes;  // and how long they are

  Small() {
    schema = some_schema();
    schema.points.pop_back();  // small files make quick tests
    for (std::uint64_t i = 0; i < 3; ++i) {
      blocks.push_back(some_events(i, 0, 6, schema));
      for (Event& event : blocks.back()) {
        event.seq += 6 * i;
        event.ts_ns += 1'000'000 * i;
      }
    }
    write_trace(folder.path("whole.sjt"), schema, blocks);
    bytes = read_bytes(folder.path("whole.sjt"));
    const auto reader = files::open_trace(folder.path("whole.sjt"));
    REQUIRE(error_of(reader) == "");
    for (const BlockInfo& info : reader->blocks()) {
      ends.push_back(info.offset + info.bytes);
      sizes.push_back(info.bytes);
    }
  }

  Result<Reader> open(std::span<const std::uint8_t> damaged) const {
    write_bytes(folder.path("damaged.sjt"), damaged);
    return files::open_trace(folder.path("damaged.sjt"));
  }

  // All events of the first `count` blocks, in time order.
  Events first_blocks(std::size_t count) const {
    Events events;
    for (std::size_t i = 0; i < count; ++i)
      events.insert(events.end(), blocks[i].begin(), blocks[i].end());
    return sorted(events);
  }
};

Bytes flipped(Bytes bytes, std::size_t at, unsigned flip) {
  bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ flip);
  return bytes;
}

bool is_made_of(const Events& events, const Events& written) {
  return std::ranges::all_of(events, [&](const Event& event) {
    return std::ranges::find(written, event) != written.end();
  });
}

TEST_CASE("a file cut at any byte gives every block before the cut, and says that it was cut") {
  const Small small;
  for (std::size_t cut = sizeof(FileHeader); cut < small.bytes.size(); ++cut) {
    INFO("cut at byte " << cut << " of " << small.bytes.size());
    auto reader = small.open(std::span(small.bytes).first(cut));
    REQUIRE(error_of(reader) == "");
    CHECK_FALSE(reader->had_index());
    const auto whole = static_cast<std::size_t>(
        std::ranges::count_if(small.ends, [&](std::uint64_t end) { return end <= cut; }));
    CHECK(merged(*reader) == small.first_blocks(whole));
    // Between two blocks a cut leaves no trace but the missing index.
    const bool between = std::ranges::find(small.ends, cut) != small.ends.end();
    if (!between && cut < small.ends.back() && whole > 0) CHECK_FALSE(reader->damage().empty());
  }
}

TEST_CASE("a file shorter than its header is refused in one line that names it") {
  const Small small;
  for (std::size_t cut = 0; cut < sizeof(FileHeader); ++cut) {
    const auto reader = small.open(std::span(small.bytes).first(cut));
    CHECK(error_of(reader) == fmt::format("{}: no sojourn trace: only {} long",
                                          small.folder.path("damaged.sjt"), counted(cut, "byte")));
  }
}

TEST_CASE("a flipped byte loses at most the block that it is in, and is never read as data") {
  const Small small;
  const Events all = small.first_blocks(3);
  const std::uint64_t first_block = small.ends[0] - small.sizes[0];
  for (std::size_t at = 0; at < small.bytes.size(); ++at)
    for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
      INFO("byte " << at << " of " << small.bytes.size() << " xor " << flip);
      auto reader = small.open(flipped(small.bytes, at, flip));
      if (!reader) {
        CHECK(at < sizeof(FileHeader));
        continue;
      }
      const Events events = merged(*reader);
      CHECK(is_made_of(events, all));
      // Without the schema no event can be read.
      const std::size_t least = at < first_block ? 0 : all.size() - 6;
      CHECK(events.size() >= least);
      CHECK((events.size() == all.size() || !reader->damage().empty()));
    }
}

TEST_CASE("two flipped bytes anywhere are never read as data") {
  const Small small;
  const Events all = small.first_blocks(3);
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    Bytes damaged = small.bytes;
    for (int flips = 0; flips < 2; ++flips)
      damaged =
          flipped(damaged, random() % damaged.size(), static_cast<unsigned>(1 + random() % 255));
    auto reader = small.open(damaged);
    if (reader) CHECK(is_made_of(merged(*reader), all));
  }
}

TEST_CASE("a damaged block in the middle loses only itself") {
  const Small small;
  for (const bool in_header : {false, true}) {
    const std::uint64_t at = in_header ? small.ends[0] + 9 : small.ends[1] - 1;
    auto reader = small.open(flipped(small.bytes, at, 0x10));
    REQUIRE(error_of(reader) == "");
    Events expected = small.blocks[0];
    expected.insert(expected.end(), small.blocks[2].begin(), small.blocks[2].end());
    CHECK(merged(*reader) == sorted(expected));
    REQUIRE(reader->damage().size() == 1);
    CHECK(reader->damage()[0].offset == small.ends[0]);
    CHECK(reader->damage()[0].bytes == small.ends[1] - small.ends[0]);
    REQUIRE(reader->gaps().size() == 1);
    CHECK(reader->gaps()[0].first_seq == 6);
    CHECK(reader->gaps()[0].count == 6);
  }
}

TEST_CASE("reading a damaged block by itself fails with its file, offset and reason") {
  const Small small;
  auto reader = small.open(flipped(small.bytes, small.ends[1] - 1, 0x10));
  REQUIRE(error_of(reader) == "");
  REQUIRE(reader->blocks().size() == 3);
  model::EventBatch batch;
  CHECK(error_of(reader->read(reader->blocks()[1], batch)) ==
        fmt::format("{}, block at offset {}: checksum differs", small.folder.path("damaged.sjt"),
                    small.ends[0]));
  CHECK(reader->damage().size() == 1);
  CHECK(error_of(reader->read(reader->blocks()[1], batch)) != "");
  CHECK(reader->damage().size() == 1);  // reported once
}

TEST_CASE("bytes between blocks are skipped and reported") {
  const Small small;
  Bytes damaged(small.bytes.begin(),
                small.bytes.begin() + static_cast<std::ptrdiff_t>(small.ends[0]));
  append(damaged, Bytes(1000, 'x'));
  append(damaged, std::span(small.bytes).subspan(small.ends[0]));
  auto reader = small.open(damaged);
  REQUIRE(error_of(reader) == "");
  CHECK(merged(*reader) == small.first_blocks(3));
  REQUIRE_FALSE(reader->damage().empty());
  CHECK(reader->damage()[0].offset == small.ends[0]);
  CHECK(reader->damage()[0].bytes == 1000);
}

TEST_CASE("blocks after more than a megabyte of rubbish are found") {
  const Small small;
  const Bytes magic = bytes_of("SJBK");
  for (const std::size_t rubbish :
       {std::size_t{1} << 20, (std::size_t{1} << 20) - 2, std::size_t{3} << 20}) {
    Bytes damaged(small.bytes.begin(),
                  small.bytes.begin() + static_cast<std::ptrdiff_t>(small.ends[0]));
    for (std::size_t i = 0; i < rubbish; ++i) damaged.push_back(i % 7 == 0 ? magic[i % 4] : 0);
    append(damaged, std::span(small.bytes).subspan(small.ends[0]));
    auto reader = small.open(damaged);
    REQUIRE(error_of(reader) == "");
    CHECK(merged(*reader) == small.first_blocks(3));
  }
}

TEST_CASE("garbage behind a right file header is no crash and no event") {
  const Small small;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    Bytes bytes = file_header();
    const std::size_t size = random() % 5000;
    while (bytes.size() < size) bytes.push_back(static_cast<std::uint8_t>(random()));
    auto reader = small.open(bytes);
    REQUIRE(error_of(reader) == "");
    CHECK(merged(*reader).empty());
    CHECK(reader->damage().empty() == (bytes.size() == sizeof(FileHeader)));
  }
}

TEST_CASE("without its index a file reads the same") {
  const Small small;
  // The bytes after the last block are the index.
  auto reader = small.open(std::span(small.bytes).first(small.ends.back()));
  REQUIRE(error_of(reader) == "");
  CHECK_FALSE(reader->had_index());
  CHECK(reader->damage().empty());
  CHECK(merged(*reader) == small.first_blocks(3));
}

TEST_CASE("an index that does not fit the file is not believed") {
  const Small small;
  const Events all = small.first_blocks(3);
  const auto index_offset = static_cast<std::size_t>(small.ends.back());

  SECTION("it belongs to another file") {
    // Without one block the offsets in the index are wrong.
    Bytes other(small.bytes.begin(),
                small.bytes.begin() + static_cast<std::ptrdiff_t>(small.ends[0]));
    append(other, std::span(small.bytes).subspan(small.ends[1]));
    auto reader = small.open(other);
    REQUIRE(error_of(reader) == "");
    CHECK_FALSE(reader->had_index());
    Events expected = small.blocks[0];
    expected.insert(expected.end(), small.blocks[2].begin(), small.blocks[2].end());
    CHECK(merged(*reader) == sorted(expected));
  }
  SECTION("the trailer points elsewhere") {
    for (const std::uint64_t offset :
         {std::uint64_t{0}, std::uint64_t{16}, small.ends[0], small.ends[0] + 1,
          std::uint64_t{small.bytes.size()}, ~std::uint64_t{0}, ~std::uint64_t{0} - 63}) {
      Bytes other = small.bytes;
      std::copy_n(reinterpret_cast<const std::uint8_t*>(&offset), 8, other.end() - 16);
      auto reader = small.open(other);
      REQUIRE(error_of(reader) == "");
      CHECK_FALSE(reader->had_index());
      CHECK(merged(*reader) == all);
    }
  }
  SECTION("it is empty, or not whole entries") {
    for (const std::size_t size : {0, 1, 71, 73}) {
      Bytes other(small.bytes.begin(),
                  small.bytes.begin() + static_cast<std::ptrdiff_t>(index_offset));
      BlockHeader header;
      header.type = BlockType::kIndex;
      header.payload_bytes = header.raw_bytes = static_cast<std::uint32_t>(size);
      append(other, block(header, Bytes(size, 0)));
      append(other, std::span(small.bytes).last(sizeof(Trailer)));
      auto reader = small.open(other);
      REQUIRE(error_of(reader) == "");
      CHECK_FALSE(reader->had_index());
      CHECK(merged(*reader) == all);
    }
  }
}

TEST_CASE("data behind a finished trace is reported, and the trace is read") {
  const Small small;
  Bytes damaged = small.bytes;
  append(damaged, bytes_of("and some more"));
  auto reader = small.open(damaged);
  REQUIRE(error_of(reader) == "");
  CHECK(merged(*reader) == small.first_blocks(3));
  CHECK_FALSE(reader->damage().empty());
}

TEST_CASE("a file that is no trace is refused in one line that names it") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("t.sjt");
  write_bytes(path, bytes_of("#!/bin/sh\necho this is no trace at all\n"));
  CHECK(error_of(files::open_trace(path)) ==
        path + ": no sojourn trace (`sojourn import` reads other tracers' files)");
  CHECK(error_of(files::open_trace(folder.path("none.sjt"))) ==
        fmt::format("open {}: No such file or directory", folder.path("none.sjt")));
  CHECK(error_of(files::open_trace(folder.path())) ==
        fmt::format("open {}: not a regular file", folder.path()));
}

// Without that it would take minutes.
TEST_CASE("holes of a file are not searched for blocks") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("holes.sjt");
  const std::uint64_t kHole = std::uint64_t{1} << 42;
  std::ofstream(path) << "nothing";
  std::filesystem::resize_file(path, kHole);
  const auto none = files::open_trace(path);
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().text().contains("no sojourn trace"));
}

TEST_CASE("blocks behind a hole of a file are found") {
  const Small small;
  const std::string path = small.folder.path("hole.sjt");
  const auto first = static_cast<std::ptrdiff_t>(small.ends[0]);
  const auto end = static_cast<std::ptrdiff_t>(small.ends.back());
  const auto* const bytes = reinterpret_cast<const char*>(small.bytes.data());
  std::ofstream file(path, std::ios::binary);
  file.write(bytes, first).seekp(std::streamoff{1} << 40).write(bytes + first, end - first);
  file.close();
  auto reader = files::open_trace(path);
  REQUIRE(error_of(reader) == "");
  CHECK(merged(*reader) == small.first_blocks(3));
  REQUIRE(reader->damage().size() == 1);
  CHECK(reader->damage()[0].offset == small.ends[0]);
}

TEST_CASE("a FIFO without a writer is refused at once") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("fifo.sjt");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(error_of(files::open_trace(path)) == fmt::format("open {}: not a regular file", path));
}

}  // namespace
}  // namespace sojourn::trace
