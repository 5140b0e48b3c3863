// Work in a child that is bounded by the processor time it takes.
#include "userspace/symbols/bounded_child.h"

#include <chrono>
#include <thread>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::symbols {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a child's answer comes back") {
  const auto text = run_in_bounded_child([] { return std::string(100'000, 'x'); }, 1 << 20, 5s);
  REQUIRE(text);
  CHECK(*text == std::string(100'000, 'x'));
}

// Beside real-time threads a second of processor time may take minutes.
TEST_CASE("a child that waits is not given up, however long that takes") {
  const auto text = run_in_bounded_child(
      [] {
        std::this_thread::sleep_for(400ms);
        return std::string("done");
      },
      1 << 20, 100ms);
  REQUIRE(text);
  CHECK(*text == "done");
}

TEST_CASE("a child that computes without end is ended, and its error has the limit") {
  const auto text = run_in_bounded_child(
      []() -> std::string {
        for (;;) asm volatile("" ::: "memory");
      },
      1 << 20, 100ms);
  REQUIRE_FALSE(text);
  CHECK(text.error().text() == "it took more than 0.1 s of processor time");
}

TEST_CASE("an answer that is too long is refused") {
  const auto text = run_in_bounded_child([] { return std::string(2000, 'x'); }, 1000, 5s);
  REQUIRE_FALSE(text);
  CHECK(text.error().text() == "it answered with 2000 bytes");
}

}  // namespace
}  // namespace sojourn::symbols
