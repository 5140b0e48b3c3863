// Times as people type them.
#include "analysis/base/time_text.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn {
namespace {

std::string error_of(std::string_view text) {
  const auto time = parse_time(text);
  return time ? fmt::format("no error: {}", *time) : time.error().text();
}

TEST_CASE("a time is a number with a unit, to the nanosecond") {
  CHECK(parse_time("7ns").value() == 7);
  CHECK(parse_time("1.5us").value() == 1'500);
  CHECK(parse_time("500ms").value() == 500'000'000);
  CHECK(parse_time("10s").value() == 10'000'000'000);
  CHECK(parse_time("2min").value() == 120'000'000'000);
  CHECK(parse_time("1h").value() == 3'600'000'000'000);
  // A double would lose the last digits.
  CHECK(parse_time("1732320000.123456789s").value() == 1'732'320'000'123'456'789);
  CHECK(parse_time("1.5000000000000000000000000000s").value() == 1'500'000'000);
}

TEST_CASE("a time is read as reports print it, with a blank before the unit") {
  CHECK(parse_time("1.92 ms").value() == 1'920'000);
  CHECK(parse_time("14.2  us").value() == 14'200);
}

TEST_CASE("a number without a unit is refused with a valid example; only 0 needs no unit") {
  CHECK(error_of("5") == "\"5\": a time wants a unit: 5s, 5ms, 5us");
  CHECK(error_of("0.5") == "\"0.5\": a time wants a unit: 0.5s, 0.5ms, 0.5us");
  CHECK(parse_time("0").value() == 0);
  CHECK(parse_time("0.0").value() == 0);
  CHECK(parse_time("0ms").value() == 0);
}

TEST_CASE("an invalid time is refused with the reason") {
  CHECK(error_of("") == "\"\" is not a time such as 10s, 500ms or 2min");
  CHECK(error_of("soon") == "\"soon\" is not a time such as 10s, 500ms or 2min");
  CHECK(error_of("-5s") == "\"-5s\" is not a time such as 10s, 500ms or 2min");
  CHECK(error_of(".5s") == "\".5s\" is not a time such as 10s, 500ms or 2min");
  CHECK(error_of("5m") == "\"5m\": \"m\" is no unit of time: ns, us, ms, s, min, h are");
  CHECK(error_of("5.s") == "\"5.s\": \".s\" is no unit of time: ns, us, ms, s, min, h are");
  CHECK(error_of("5s ") == "\"5s \": \"s \" is no unit of time: ns, us, ms, s, min, h are");
  CHECK(error_of("1e3s") == "\"1e3s\": \"e3s\" is no unit of time: ns, us, ms, s, min, h are");
  CHECK(error_of("1.5ns") == "\"1.5ns\": a time has whole nanoseconds");
  CHECK(error_of("1.00000000000000000000000001s").ends_with(": a time has whole nanoseconds"));
  CHECK(error_of("99999999999999999999999999999s").ends_with("is too long: more than 292 years"));
}

TEST_CASE("a time that is written out is read back as it was") {
  CHECK(exact_time(0) == "0s");
  CHECK(exact_time(1'500'000'000) == "1500ms");
  CHECK(exact_time(60'000'000'000) == "60s");
  for (const std::uint64_t ns : {0UL, 1UL, 999UL, 20'000UL, 1'000'001UL, 600'000'000'000UL})
    CHECK(parse_time(exact_time(ns)).value() == ns);
}

}  // namespace
}  // namespace sojourn
