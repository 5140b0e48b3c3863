#include "userspace/capture/bpf/arg_span.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

constexpr std::uint8_t kStack = 19;
constexpr std::uint8_t kOther = 5;

sj_arg in_memory(std::int64_t displacement, std::uint8_t bytes, std::uint8_t base = kStack) {
  return {.displacement = displacement,
          .kind = SJ_ARG_MEMORY,
          .base = base,
          .index = SJ_NO_REG,
          .shift = 0,
          .bytes = bytes,
          .is_signed = 0,
          .low_bit = 0,
          .number = 0};
}

TEST_CASE("arguments side by side become one read") {
  std::vector<sj_arg> args = {in_memory(24, 4), in_memory(-8, 8), in_memory(10, 2)};
  const sj_span span = join_span(args);
  CHECK(span.base == kStack);
  CHECK(span.displacement == -8);
  CHECK(span.bytes == 36);
  for (const sj_arg& arg : args) CHECK(arg.kind == SJ_ARG_SPAN);
  CHECK(args[0].shift == 32);
  CHECK(args[1].shift == 0);
  CHECK(args[2].shift == 18);
  CHECK(args[2].displacement == 10);  // it may still have to be read alone
}

TEST_CASE("a read takes no more than it has room for, and as many as it can") {
  std::vector<sj_arg> args = {in_memory(0, 8), in_memory(120, 8), in_memory(121, 8),
                              in_memory(200, 8)};
  const sj_span span = join_span(args);
  CHECK(span.displacement == 120);
  CHECK(span.bytes == 88);
  CHECK(args[0].kind == SJ_ARG_MEMORY);
  CHECK(args[3].kind == SJ_ARG_SPAN);
}

TEST_CASE("arguments that are apart, or have another base or an index, are read alone") {
  sj_arg indexed = in_memory(8, 8);
  indexed.index = kOther;
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  std::vector<sj_arg> args = {in_memory(0, 8),    in_memory(0, 8, kOther), indexed,
                              in_memory(1000, 8), in_memory(kEnd, 8),      in_memory(-kEnd - 1, 8)};
  const std::vector<sj_arg> before = args;
  CHECK(join_span(args).bytes == 0);
  for (std::size_t at = 0; at < args.size(); ++at) CHECK(args[at].kind == before[at].kind);
  CHECK(join_span({}).bytes == 0);
}

}  // namespace
}  // namespace sojourn::capture
