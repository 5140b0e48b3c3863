// The words for a program's threads.
#include "analysis/present/threads/thread_labels.h"

#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/threads/threads_content.h"
#include "tests/unit/threads/program.h"

namespace sojourn::threads {
namespace {

using namespace test;

Program pipeline() {
  Program program;
  program.waits_in(101, {1100, 1105, 1110}, 900, kBySoftirq, kRecvfrom, 100, kSocketIn);
  program.waits_in(102, {1050, 1130, 1140}, 101, kByThread, kFutex, 0, 0x7f00, kFutexWaitBitset);
  program.trace.call(1190, 1195, 102, kSendto, 100, kSocketOut);
  program.rests(101, 1200);
  program.rests(102, 1200);
  return program;
}

TEST_CASE("the text names threads, what drives them, who wakes them and the path of a packet") {
  const auto survey = pipeline().survey(2000);
  const std::string text = present::threads_text({.survey = *survey, .duration_s = 1});
  CHECK(text.contains("by packets (recvfrom udp 127.0.0.1:2152); receives"));
  CHECK(text.contains("woken by reader 100 %; sends"));
  CHECK(text.contains("network -> reader"));
  CHECK(text.contains("reader -> worker"));
  CHECK(text.contains("futex 0x7f00"));
  CHECK(text.contains("queue 0x7f00"));
  CHECK(text.contains("79 ns"));  // from the packet to the one that was sent
  CHECK_FALSE(text.contains("system calls were not recorded"));
}

TEST_CASE("on a terminal of 80 columns no line is longer, and columns left out are named") {
  Program program = pipeline();
  for (std::uint32_t tid = 101; tid <= 104; ++tid)
    program.trace.context.names.push_back({.kind = model::NameKind::kThread,
                                           .id = tid,
                                           .name = fmt::format("a_long_name_{}", tid),
                                           .pid = kPid,
                                           .state = {}});
  const auto survey = program.survey(2000);
  std::istringstream lines(
      present::threads_text({.survey = *survey, .duration_s = 1, .width = 80}));
  bool is_told = false;
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
    is_told |= line.starts_with("`| less -S` also shows: ");
  }
  CHECK(is_told);
}

TEST_CASE("the JSON has the same, with numbers") {
  const auto survey = pipeline().survey(2000);
  const auto json = present::threads_json({.survey = *survey, .duration_s = 1});
  REQUIRE(json.at("edges").size() == 2);
  REQUIRE(json.at("hand_offs").size() == 1);
  CHECK(json.at("hand_offs")[0].at("kind") == "queue");
  CHECK(json.at("hand_offs")[0].at("woken_by") == std::vector<std::uint32_t>{101});
  CHECK(json.at("paths")[0].at("tids") == std::vector<std::uint32_t>{101, 102});
  CHECK(json.at("paths")[0].at("latency_ns").at("max") == 79);
  CHECK(json.at("threads")[0].at("role") == "socket");
  CHECK(json.at("threads")[1].at("role") == "driven");
}

TEST_CASE("no name ends the string that it is in, neither in the text nor in the graph") {
  Program program = pipeline();
  program.trace.context.names.push_back({.kind = model::NameKind::kThread,
                                         .id = 101,
                                         .name = "a\"b\n\x1b[31m",
                                         .pid = kPid,
                                         .state = {}});
  const auto survey = program.survey(2000);
  const std::string dot = present::threads_dot({.survey = *survey, .duration_s = 1});
  CHECK(dot.starts_with("digraph threads {"));
  CHECK(dot.contains("a\\\"b??[31m"));
  CHECK_FALSE(dot.contains('\x1b'));
  CHECK_FALSE(present::threads_text({.survey = *survey, .duration_s = 1}).contains('\x1b'));
}

}  // namespace
}  // namespace sojourn::threads
