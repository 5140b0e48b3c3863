// The processes of a stream's events, and the groups of processes.
#include "analysis/model/capture_info.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::model {
namespace {

using Groups = std::vector<std::uint16_t>;

Target target(std::int32_t pid, const char* exe, std::int32_t parent = 0) {
  Target one;
  one.pid = pid;
  one.exe = exe;
  one.parent = parent;
  return one;
}

std::vector<Stream> streams(std::initializer_list<std::int32_t> pids) {
  std::vector<Stream> all;
  for (const std::int32_t pid : pids)
    all.push_back({.id = static_cast<std::uint32_t>(all.size()), .pid = pid});
  return all;
}

TEST_CASE("programs that are there once may hand units to each other") {
  CHECK(groups_of(streams({1, 2}), {target(1, "cu"), target(2, "du")}) == Groups{});
  CHECK(groups_of(streams({-1}), {target(1, "cu")}) == Groups{});
  CHECK(groups_of({}, {}) == Groups{});
}

TEST_CASE("copies of a program keep their units to themselves, and others are not concerned") {
  const auto groups =
      groups_of(streams({7, 1, 2, 1, -1}), {target(1, "du"), target(2, "du"), target(7, "cu")});
  REQUIRE(groups.size() == 4);
  CHECK(groups[0] == 0);
  CHECK(groups[1] != 0);
  CHECK(groups[2] != 0);
  CHECK(groups[1] != groups[2]);
  CHECK(groups[3] == groups[1]);
}

TEST_CASE("a forked child shares its parent's units") {
  CHECK(groups_of(streams({1, 2, 3}), {target(1, "du"), target(2, "du", 1), target(3, "du", 2)}) ==
        Groups{});
  const auto groups =
      groups_of(streams({1, 2, 9}), {target(1, "du"), target(2, "du", 1), target(9, "du")});
  REQUIRE(groups.size() == 3);
  CHECK(groups[0] == groups[1]);
  CHECK(groups[2] != groups[0]);
}

TEST_CASE("a stream belongs to the host whose streams begin with it or before it") {
  const std::vector<MergedHost> hosts = {
      {.first_stream = 0}, {.first_stream = 3}, {.first_stream = 4}};
  CHECK(host_of(hosts, 0) == 0);
  CHECK(host_of(hosts, 2) == 0);
  CHECK(host_of(hosts, 3) == 1);
  CHECK(host_of(hosts, 4) == 2);
  CHECK(host_of(hosts, 4'000'000'000) == 2);
  CHECK(host_of({}, 7) == 0);
  CHECK(host_of({{.first_stream = 5}}, 1) == 0);  // of a forged trace
}

TEST_CASE("a time between two hosts is as uncertain as their clocks were at that time") {
  const std::vector<MergedHost> hosts = {
      {.first_stream = 0, .stamp_error_ns = 60},
      {.first_stream = 3, .stamp_error_ns = 80, .bounds = {{100, 5000}, {200, 9000}, {300, 4000}}},
      {.first_stream = 4, .stamp_error_ns = 1, .bounds = {{0, 700}}}};
  CHECK(time_error_ns(hosts, {.host = 0, .ts_ns = 50}, {.host = 0, .ts_ns = 900}) == 60);
  CHECK(time_error_ns(hosts, {.host = 1, .ts_ns = 250}, {.host = 1, .ts_ns = 260}) == 80);
  CHECK(time_error_ns(hosts, {.host = 0, .ts_ns = 50}, {.host = 1, .ts_ns = 150}) == 5140);
  CHECK(time_error_ns(hosts, {.host = 1, .ts_ns = 200}, {.host = 0, .ts_ns = 400}) == 9140);
  CHECK(time_error_ns(hosts, {.host = 0, .ts_ns = 1}, {.host = 1, .ts_ns = 2}) == 5140);
  CHECK(time_error_ns(hosts, {.host = 1, .ts_ns = 999}, {.host = 2, .ts_ns = 999}) == 4781);
  CHECK(time_error_ns({}, {.host = 0, .ts_ns = 1}, {.host = 0, .ts_ns = 2}) == 0);
}

TEST_CASE("a trace with a circle of parents, or a stream beyond all numbers, does no harm") {
  std::vector<Stream> wild = streams({1, 2, 3});
  wild[2].id = 4'000'000'000;
  const std::vector<Target> targets = {target(1, "du", 2), target(2, "du", 1), target(3, "du", 3)};
  CHECK(groups_of(wild, targets).size() <= 2);
}

}  // namespace
}  // namespace sojourn::model
