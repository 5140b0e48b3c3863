#include "analysis/exports/perfetto_packets.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <protozero/pbf_reader.hpp>
#include <zlib.h>

#include "tests/unit/exports/hostile_names.h"

namespace sojourn::exports {
namespace {

// The packets of a file, inflated.
std::vector<std::string> packets_of(const std::string& file) {
  std::vector<std::string> packets;
  protozero::pbf_reader outer(file);
  while (outer.next(1)) {
    auto compressed = outer.get_message();
    REQUIRE(compressed.next(50));
    const std::string deflated = compressed.get_string();
    std::string text(16 << 20, '\0');
    uLongf bytes = text.size();
    REQUIRE(uncompress(reinterpret_cast<Bytef*>(text.data()), &bytes,
                       reinterpret_cast<const Bytef*>(deflated.data()), deflated.size()) == Z_OK);
    text.resize(bytes);
    protozero::pbf_reader inner(text);
    while (inner.next(1)) packets.push_back(inner.get_string());
  }
  return packets;
}

// The distances between the stamps of packets of events.
std::vector<std::uint64_t> steps_of(const std::vector<std::string>& packets) {
  std::vector<std::uint64_t> steps;
  for (const std::string& packet : packets) {
    protozero::pbf_reader fields(packet);
    bool is_event = false;
    std::uint64_t step = 0;
    while (fields.next()) {
      if (fields.tag() == 8)
        step = fields.get_uint64();
      else {
        is_event = is_event || fields.tag() == 11;
        fields.skip();
      }
    }
    if (is_event) steps.push_back(step);
  }
  return steps;
}

TEST_CASE("events come in any order, and are written as steps from one to the next") {
  std::string file;
  PerfettoPackets packets([&](std::string_view bytes) -> Result<void> {
    file += bytes;
    return {};
  });
  const auto name = packets.name("a");
  CHECK(packets.name("b") != name);
  CHECK(packets.name("a") == name);
  for (const std::uint64_t ts_ns : {500, 100, 300})
    packets.add({.ts_ns = ts_ns, .track = 7, .number = 1, .name = name});
  REQUIRE(packets.finish().has_value());
  CHECK(steps_of(packets_of(file)) == std::vector<std::uint64_t>{0, 200, 200});
}

TEST_CASE("names that differ only in hidden characters are one") {
  PerfettoPackets packets([](std::string_view) -> Result<void> { return {}; });
  CHECK(packets.name("a\xE2\x80\xAE") == packets.name("a\n"));
  for (const std::string& name : hostile_names()) CHECK(packets.name(name) != 0);
}

TEST_CASE("an error of the receiver of the bytes is that of the trace") {
  PerfettoPackets packets(
      [](std::string_view) -> Result<void> { return fail("the disk is full"); });
  for (std::uint64_t at = 0; at < 200'000; ++at)
    packets.add({.ts_ns = at * at, .track = at % 64, .number = at});
  CHECK_FALSE(packets.is_good());
  CHECK(packets.finish().error().text() == "the disk is full");
}

}  // namespace
}  // namespace sojourn::exports
