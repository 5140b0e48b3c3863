// Random expressions over random events: the compiled program agrees with the plain meaning.
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/unit/filter/naive.h"
#include "tests/unit/filter/support.h"

namespace sojourn::filter_tests {
namespace {

class Maker {
 public:
  explicit Maker(std::uint32_t seed) : random_(seed) {}

  std::string condition(int depth) {
    switch (depth == 0 ? 4 + below(5) : below(9)) {
      case 0:
        return fmt::format("({} && {})", condition(depth - 1), condition(depth - 1));
      case 1:
        return fmt::format("({} || {})", condition(depth - 1), condition(depth - 1));
      case 2:
        return fmt::format("{} && {} || {}", condition(depth - 1), condition(depth - 1),
                           condition(depth - 1));
      case 3:
        return "!(" + condition(depth - 1) + ")";
      case 4:
        return text();
      case 5:
        return fmt::format("has({})", field());
      case 6:
        return fmt::format("{} in {{{}, {}..{}}}", number(1), constant(), below(3), 3 + below(6));
      default:
        return fmt::format("{} {} {}", number(2), comparison(),
                           below(3) == 0 ? number(2) : constant());
    }
  }

  std::vector<Event> events(const model::Schema& schema, std::size_t count) {
    std::vector<Event> made;
    for (std::size_t i = 0; i < count; ++i) {
      Event event;
      event.point = static_cast<model::PointId>(below(static_cast<unsigned>(schema.points.size())));
      for (std::size_t field = 0; field < schema.points[event.point].fields.size(); ++field)
        event.values.push_back(value());
      event.ts_ns = below(10);
      event.tid = below(4);
      event.stream = below(3);
      made.push_back(std::move(event));
    }
    return made;
  }

 private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  std::uint64_t value() {
    constexpr std::uint64_t kEdges[] = {0, 1, UINT64_MAX, std::uint64_t{1} << 63,
                                        (std::uint64_t{1} << 63) - 1};
    return below(4) == 0 ? kEdges[below(5)] : below(8);
  }

  std::string field() {
    constexpr const char* kFields[] = {"len", "rnti", "sn", "slot"};
    return kFields[below(4)];
  }

  std::string constant() {
    constexpr const char* kConstants[] = {"0", "-1", "0x7fffffffffffffff", "0xffffffffffffffff",
                                          "-0x7fffffffffffffff - 1"};
    return below(4) == 0 ? kConstants[below(5)] : std::to_string(below(8));
  }

  // Always of something that an event has, or it would be refused.
  std::string number(int depth) {
    if (depth == 0 || below(2) == 0) return below(6) == 0 ? "tid" : field();
    constexpr const char* kOperators[] = {"+", "-", "*", "/", "%"};
    const std::string left = number(depth - 1);
    const std::string right = below(2) == 0 ? number(depth - 1) : std::to_string(1 + below(4));
    return fmt::format("({} {} {}{})", left, kOperators[below(5)], below(5) == 0 ? "-" : "", right);
  }

  std::string comparison() {
    constexpr const char* kComparisons[] = {"==", "!=", "<", "<=", ">", ">="};
    return kComparisons[below(6)];
  }

  std::string text() {
    constexpr const char* kTexts[] = {
        "dir == D",      "dir in {U, I}",       "point ~ *mac*",        "point !~ rlc.*",
        "src == mac",    "dest != mac",         "point in {depth}",     "thread == mac",
        "thread != mac", "thread ~ 'dl *'",     "thread in {1, mac}",   "thread !~ *l*",
        "thread == 2",   "thread in {0, 2..3}", "thread in {'dl *',3}", "thread > 1"};
    return kTexts[below(16)];
  }

  std::mt19937 random_;
};

TEST_CASE("a compiled expression selects the same as a plain evaluation") {
  const model::Schema schema = radio();
  filter::BindContext around;
  around.threads = thread_names();
  std::size_t some = 0;
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    Maker maker(seed);
    const std::string expression = maker.condition(3);
    const auto events = batch(maker.events(schema, 300));
    const auto parsed = filter::parse(expression);
    CAPTURE(seed, expression);
    REQUIRE(parsed);
    for (const auto missing : {filter::Missing::kReject, filter::Missing::kAccept}) {
      const Truth least = missing == filter::Missing::kReject ? Truth::kTrue : Truth::kUnknown;
      std::vector<std::uint32_t> expected;
      for (std::uint32_t row = 0; row < events.size(); ++row)
        if (naive(parsed->root, schema, events[row]) >= least) expected.push_back(row);
      REQUIRE(selected(expression, events, missing, around) == expected);
      if (!expected.empty() && expected.size() < events.size()) ++some;
    }
  }
  CHECK(some > 500);  // most of them tell events apart
}

}  // namespace
}  // namespace sojourn::filter_tests
