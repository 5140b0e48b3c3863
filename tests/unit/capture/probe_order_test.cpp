#include "userspace/capture/bpf/probe_order.h"

#include <cstddef>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "userspace/capture/perf/perf_open.h"

namespace sojourn::capture {
namespace {

using Bytes = std::vector<std::byte>;

Bytes packed_order(bool is_negated) {
  ProbeOrder order;
  order.keep = {{{.field = 3, .low = 5, .width = 7, .is_negated = is_negated}}, {}};
  return pack(order).take();
}

Bytes packed_request(bool has_stacks) {
  base::Packer words;
  pack(PerfRequest{.type = 1, .config = 2, .period = 3, .has_stacks = has_stacks}, words);
  return words.take();
}

// The two differ only in the bool's byte.
Bytes with_another_byte(const Bytes& no, const Bytes& yes) {
  REQUIRE(no.size() == yes.size());
  Bytes other = yes;
  std::size_t changed = 0;
  for (std::size_t at = 0; at < no.size(); ++at) {
    if (no[at] == yes[at]) continue;
    other[at] = std::byte{0x82};
    ++changed;
  }
  REQUIRE(changed == 1);
  return other;
}

TEST_CASE("an order for probes comes out as it was put in") {
  const Bytes bytes = packed_order(true);
  base::Unpacker words(bytes);
  const auto order = unpack_probe_order(words);
  REQUIRE(order);
  REQUIRE(order->keep.size() == 2);
  REQUIRE(order->keep[0].size() == 1);
  CHECK(order->keep[0][0].field == 3);
  CHECK(order->keep[0][0].low == 5);
  CHECK(order->keep[0][0].width == 7);
  CHECK(order->keep[0][0].is_negated);
  CHECK(order->keep[1].empty());
}

TEST_CASE("which sites share a link is kept") {
  ProbeOrder order;
  order.points.files.emplace_back();
  order.points.sites.push_back({.point = 4, .args = {}, .probe = {}, .group = 3});
  const Bytes bytes = pack(order).take();
  base::Unpacker words(bytes);
  const auto taken = unpack_probe_order(words);
  REQUIRE(taken);
  REQUIRE(taken->points.sites.size() == 1);
  CHECK(taken->points.sites[0].point == 4);
  CHECK(taken->points.sites[0].group == 3);
}

TEST_CASE("any byte that another process sends for a bool of an order is a valid bool") {
  const Bytes bytes = with_another_byte(packed_order(false), packed_order(true));
  base::Unpacker words(bytes);
  const auto order = unpack_probe_order(words);
  REQUIRE(order);
  CHECK(pack(*order).take() == packed_order(true));
}

TEST_CASE("any byte that another process sends for a bool of a perf event is a valid bool") {
  const Bytes bytes = with_another_byte(packed_request(false), packed_request(true));
  base::Unpacker words(bytes);
  const PerfRequest request = unpack_perf_request(words);
  CHECK(words.is_sound());
  CHECK(request.type == 1);
  CHECK(request.config == 2);
  CHECK(request.period == 3);
  base::Packer again;
  pack(request, again);
  CHECK(again.take() == packed_request(true));
}

}  // namespace
}  // namespace sojourn::capture
