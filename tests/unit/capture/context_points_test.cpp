// The words of kernel context, and its points as a trace has them.
#include "userspace/capture/context/context_points.h"

#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "userspace/capture/context/context_names.h"

namespace sojourn::capture {
namespace {

TEST_CASE("families are taken once each, in their own order") {
  const auto families = parse_context_families("irq,sched,irq");
  REQUIRE(families);
  CHECK(*families == std::vector{ContextFamily::kSched, ContextFamily::kIrq});
}

TEST_CASE("a word that is no family is named in the error") {
  for (const char* list : {"weather", "sched,weather", "sched,,irq", "SCHED", "sched\x1b"}) {
    CAPTURE(list);
    CHECK(!parse_context_families(list));
  }
  CHECK(parse_context_families("sched,weather")
            .error()
            .text()
            .starts_with("\"weather\" is no context: there are sched, irq"));
}

TEST_CASE("every kind of hit is a point of its own that a trace may hold") {
  std::set<std::string> names;
  for (int kind = 0; kind < SJ_CONTEXT_KINDS; ++kind) {
    const model::Point point = point_of(static_cast<sj_context_kind>(kind));
    CHECK(model::check(point));
    CHECK(point.direction == model::Direction::kContext);
    CHECK(point.fields.size() <= SJ_CONTEXT_MAX_VALUES);
    names.insert(point.name());
  }
  CHECK(names.size() == SJ_CONTEXT_KINDS);
}

TEST_CASE("every kind of hit belongs to one family") {
  std::multiset<int> kinds;
  for (std::size_t family = 0; family < kContextFamilies; ++family)
    for (const sj_context_kind kind : kinds_of(static_cast<ContextFamily>(family)))
      kinds.insert(kind);
  CHECK(kinds.size() == SJ_CONTEXT_KINDS);
  CHECK(std::set<int>(kinds.begin(), kinds.end()).size() == SJ_CONTEXT_KINDS);
}

TEST_CASE("a system call that is not known is reported by its number") {
  CHECK(syscall_name(999) == "syscall 999");
}

}  // namespace
}  // namespace sojourn::capture
