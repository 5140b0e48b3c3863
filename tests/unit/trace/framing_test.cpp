// Where blocks end in a stream of bytes, however they come.
#include "analysis/trace/framing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "analysis/trace/meta.h"
#include "tests/unit/trace/support.h"

namespace sojourn::trace {
namespace {

test::Bytes block_of(BlockType type, const std::string& json) {
  BlockHeader header;
  header.type = type;
  header.payload_bytes = static_cast<std::uint32_t>(json.size());
  header.raw_bytes = header.payload_bytes;
  return test::block(header, test::bytes_of(json));
}

std::string origin_of(const std::string& capture) {
  model::Origin origin;
  origin.capture = capture;
  return to_json(origin);
}

std::string capture_until(std::uint64_t close_ns) {
  model::Capture capture;
  capture.open_ns = 5;
  capture.close_ns = close_ns;
  return to_json(capture);
}

TEST_CASE("blocks are followed in any pieces") {
  test::Bytes bytes = test::file_header();
  test::append(bytes, block_of(BlockType::kHost, R"({"name": "here"})"));
  test::append(bytes, block_of(BlockType::kOrigin, origin_of("abc")));
  const std::size_t begun = bytes.size();
  test::append(bytes, block_of(BlockType::kCapture, capture_until(0)));
  const std::size_t whole = bytes.size();
  test::append(bytes, block_of(BlockType::kCapture, capture_until(9)));
  const std::size_t piece =
      GENERATE(std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{100'000});
  CAPTURE(piece);
  Framing framing;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const std::size_t end = std::min(at + piece, bytes.size());
    framing.add(std::span(bytes).subspan(at, end - at));
    CHECK(framing.is_trace());
    CHECK(framing.whole_bytes() <= end);
    CHECK((framing.capture() == "abc") == (end >= begun));
    if (end >= whole && end < bytes.size()) CHECK(framing.whole_bytes() == whole);
    CHECK(framing.has_ended() == (end == bytes.size()));
  }
  CHECK(framing.whole_bytes() == bytes.size());
}

TEST_CASE("bytes that cannot be a trace are recognised") {
  Framing framing;
  framing.add(test::bytes_of("HTTP/1.1 400 Bad Request\r\n\r\n"));
  CHECK_FALSE(framing.is_trace());
  CHECK(framing.whole_bytes() == 0);
  Framing later;
  test::Bytes bytes = test::file_header();
  bytes.resize(bytes.size() + sizeof(BlockHeader), 'x');
  later.add(bytes);
  CHECK_FALSE(later.is_trace());
  CHECK(later.whole_bytes() == sizeof(FileHeader));
}

}  // namespace
}  // namespace sojourn::trace
