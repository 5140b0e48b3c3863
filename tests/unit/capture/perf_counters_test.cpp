#include "userspace/capture/perf/perf_counters.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

std::string why_not(const char* list) {
  const auto counters = parse_counters(list);
  return counters ? "" : counters.error().text();
}

TEST_CASE("a list of counters is read as it is written, with periods where they are given") {
  const auto counters = parse_counters("page-faults,cycles=1000,LLC-load-misses");
  REQUIRE(counters);
  REQUIRE(counters->size() == 3);
  CHECK((*counters)[0].kind->name == "page-faults");
  CHECK((*counters)[0].period == 1);
  CHECK((*counters)[1].period == 1000);
  CHECK((*counters)[2].period == perf_kind("LLC-load-misses")->period);
}

TEST_CASE("an error in a list of counters is named") {
  CHECK(why_not("weather").contains("\"weather\" is no counter: there are cycles,"));
  CHECK(why_not("cycles,cycles") == "cycles is asked for twice");
  CHECK(why_not("").contains("at least one"));
  CHECK(why_not(",").contains("is no counter"));
  CHECK(why_not("cycles=").contains("the period after ="));
  CHECK(why_not("cycles=0").contains("the period after ="));
  CHECK(why_not("cycles=99999999999999999999").contains("the period after ="));
  CHECK(why_not("page-faults=2").contains("there is no period"));
  CHECK(why_not("\x1b[31m").contains("\\x1b"));
}

TEST_CASE("a frequency has a unit or none") {
  CHECK(parse_frequency("999Hz") == 999u);
  CHECK(parse_frequency("999") == 999u);
  CHECK(parse_frequency("2kHz") == 2000u);
  CHECK(parse_frequency("1.5kHz") == 1500u);
  for (const char* text : {"", "Hz", "0", "-5", "nan", "inf", "1e9", "100001", "5MHz", "5 Hz"}) {
    CAPTURE(text);
    CHECK(!parse_frequency(text));
  }
}

TEST_CASE("every known counter is available, or has a reason") {
  for (const PerfKind& kind : perf_kinds()) {
    const PerfOffer offer = ask_perf(kind);
    CAPTURE(kind.name, offer.missing);
    CHECK((offer.missing.empty() || !offer.user_only));
  }
}

}  // namespace
}  // namespace sojourn::capture
