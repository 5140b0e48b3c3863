// The errors of wrong expressions, and the place of the caret.
#include <catch2/catch_test_macros.hpp>

#include "analysis/filter/journey_filter.h"
#include "tests/unit/filter/support.h"

namespace sojourn::filter_tests {
namespace {

// "column N: WORDS", then the expression, then the caret and as many tildes as the cause is long.
void refused(std::string_view expression, std::size_t column, std::size_t length,
             std::string_view words) {
  const std::string error = error_of(expression);
  const std::string expected =
      fmt::format("column {}: {}\n  {}\n  {}^{}", column, words, expression,
                  std::string(column - 1, ' '), std::string(length - 1, '~'));
  CHECK(error == expected);
}

TEST_CASE("a slip of the hand is named, with the column and a caret under it") {
  refused("rnti = 5", 6, 1, "a single '=' means nothing: write == to compare");
  refused("len == 1 & rnti == 2", 10, 1, "a single '&' means nothing: write && for \"and\"");
  refused("len == 1 | rnti == 2", 10, 1, "a single '|' means nothing: write || for \"or\"");
  refused("len == 1 and rnti == 2", 10, 3, "write && for \"and\", || for \"or\", ! for \"not\"");
  refused("len == #", 8, 1, "this character means nothing here");
  refused("len > .5", 7, 1, "a '.' belongs into a number, or with another one into a range");
  refused("point ~ 'rlc", 9, 4, "the quotes are not closed");
  refused("(len == 1", 1, 1, "this parenthesis is never closed");
  refused("len == 1)", 9, 1, "this parenthesis was never opened");
  refused("len in {1, 2", 13, 1, "expected } after the set");
  refused("", 1, 1, "the expression is empty");
  refused("len ==", 7, 1, "the expression ends where a value is wanted");
  refused("len == 1 len == 2", 10, 3, "expected an operator such as && or ||, or the end");
  refused("len == == 2", 8, 2, "expected a field, a word or a number here");
}

TEST_CASE("invalid numbers are refused") {
  refused("len == 0x", 8, 2, "digits are missing after 0x");
  refused("len == 5m", 9, 1, "\"m\" is no unit: ns, us, ms, s, min, h, k, M, G are");
  refused("len == 1.00000000000000000000001s", 8, 26, "a time has whole nanoseconds");
  refused("len == 5 kb", 10, 2, "expected an operator such as && or ||, or the end");
  refused("len == 5kb", 9, 2, "\"kb\" is no unit: ns, us, ms, s, min, h, k, M, G are");
  refused("len == 1.5", 8, 3, "a whole number is wanted here");
  refused("len == 1.5ns", 8, 5, "a time has whole nanoseconds");
  refused("len == 99999999999999999999", 8, 20, "the number needs more than 64 bits");
  refused("len == 99999999999999999999999999999999999999999999999", 8, 47,
          "the number needs more than 64 bits");
  refused("len == 18446744073709551615k", 8, 21, "the number needs more than 64 bits");
  refused("len == 1 / (2 - 2)", 12, 7, "division by zero");
  refused("len == 0x8000000000000000 * 0x8000000000000000 * 4", 8, 43,
          "the number becomes too large");
}

TEST_CASE("conditions and numbers are not taken for each other") {
  refused("rnti", 1, 4, "rnti is a number, not a condition: compare it, e.g. rnti > 0");
  refused("len == 1 && 5", 13, 1, "this is a number, not a condition: compare it");
  refused("!len", 2, 3, "len is a number, not a condition: compare it, e.g. len > 0");
  refused("(len == 1) + 2 > 3", 1, 10, "this is a condition, not a number");
  refused("len == 1 == 2", 10, 2, "a comparison cannot be compared: join two with &&");
  refused("1 == 2", 1, 6, "this compares two constants: it is always the same");
  refused("1 in 2..3", 1, 1, "this is a constant: it is always the same");
}

TEST_CASE("times have units, and counts have none") {
  refused("time > 500", 8, 3, "a time wants a unit: 500s, 500ms, 500us");
  refused("thread == 5ms", 1, 6, "a count and a time cannot be compared or added");
  refused("time * time > 1s", 8, 4, "two times cannot be multiplied");
  refused("thread / time > 1", 10, 4, "a count cannot be divided by a time");
  refused("time + 5 > 1s", 8, 1, "a time wants a unit: 5s, 5ms, 5us");
}

TEST_CASE("sets and ranges consist of constants, the smaller one first") {
  refused("len in 5", 8, 1, "after \"in\" comes a set {1, 2, 10..20} or a range 10..20");
  refused("len in {rnti}", 9, 4, "a set is of constants");
  refused("len in 20..10", 8, 6, "the range is empty: the smaller number comes first");
}

TEST_CASE("errors that do not depend on the trace are refused before there is one") {
  for (const char* expression :
       {"rnti in 9..3", "rnti in {1, 9..3}", "thread in {mac, 9..3}", "len / 0 > 1",
        "len % (2 - 2) > 1", "5 == 5", "-5 < 1", "5 in {5}", "len in {rnti}", "dir == X",
        "dir in {D, X}", "len > 0x8000000000000000 * 0x8000000000000000 * 4",
        "event(len in 9..3)"}) {
    CAPTURE(expression);
    CHECK_FALSE(filter::parse(expression));
  }
  for (const char* expression : {"len / 2 > 1 - 2", "len in -9..-3", "0 < len", "dir == D"}) {
    CAPTURE(expression);
    CHECK(filter::parse(expression));
  }
}

TEST_CASE("texts are compared as texts") {
  refused("point > 5", 7, 1,
          "point is a text: ==, !=, ~ (matches), !~ or in {..} is wanted after it");
  refused("len ~ 5", 1, 3,
          "only point, src, dest, hop and thread are texts that a pattern can match");
  refused("'rlc' == point", 1, 5, "a text stands only after point, src, dest, hop, dir or thread");
  refused("dir ~ D", 5, 1, "dir is one letter: compare it by ==, != or in {..}");
  refused("dir == X", 8, 1, "\"X\" is no direction: one of A D I K Q S U");
  refused("point == rlc.*", 10, 5, "== compares exactly: write point ~ for a pattern");
  refused("point == ", 10, 1, "a name is wanted here, such as rlc.tx or 'rlc.*'");
}

TEST_CASE("unknown names are reported with similar ones that the trace has") {
  refused("rnit == 5", 1, 4, "no point has a field \"rnit\": did you mean rnti?");
  refused("len == 1 && tme > 5", 13, 3, "no point has a field \"tme\": did you mean time?");
  refused("field(time) > 5", 1, 11, "no point has a field \"time\"");
  refused("has(slit)", 1, 9, "no point has a field \"slit\": did you mean slot?");
  refused("xyzzy == 5", 1, 5, "no point has a field \"xyzzy\"");
  refused("point == mac--phi", 10, 8, "no point is called \"mac--phi\": did you mean mac--phy?");
  refused("src == rlc.tx.um", 8, 9, "no place is called \"rlc.tx.um\": did you mean rlc.tx.am?");
  refused("point ~ gtp.*", 9, 5, "no point matches \"gtp.*\"");
  refused("near(len) > 5", 1, 4,
          "there is no near(): at(PLACE), has(FIELD), field(NAME) and event(CONDITION) are");
}

TEST_CASE("an unknown thread is named, and the form of a name is explained") {
  refused("len == 1 && thread == mca", 23, 3, "no thread is called \"mca\": did you mean mac?");
  refused("thread ~ ul*", 10, 3, "no thread's name matches \"ul*\"");
  refused("thread in {7, ul}", 15, 2, "no thread is called \"ul\"");
  refused("thread == m*", 11, 2, "== compares exactly: write thread ~ for a pattern");
  refused("thread == kworker/3", 18, 1, "a name with a '/' in it needs quotes");
  refused("thread ~ 4", 10, 1, "no thread is called \"4\"");
  refused("thread > mac", 10, 3, "no point has a field \"mac\"");
  refused("thread in {mac, }", 17, 1, "expected a field, a word or a number here");
  refused("thread in {mac 2}", 16, 1, "expected } after the set");
  refused("tid ~ mac", 1, 3,
          "only point, src, dest, hop and thread are texts that a pattern can match");
  const auto nameless = filter::EventFilter::compile(*filter::parse("thread == mac"), radio(), {});
  REQUIRE_FALSE(nameless);
  CHECK(nameless.error().text().starts_with("column 11: no thread's name is known here"));
}

TEST_CASE("a journey's word says that single events do not have it") {
  refused("latency > 5ms", 1, 7,
          "latency is known of whole journeys, and this is about single events");
  refused("len > 1 && complete", 12, 8,
          "complete is known of whole journeys, and this is about single events");
  refused("at(rlc.tx) > 5us", 1, 10,
          "at() is known of whole journeys, and this is about single events");
  refused("event(len > 1)", 1, 14, "this is about single events already: event() says nothing");
}

TEST_CASE("a journey's expression is checked as well, and event() is about events again") {
  const auto error = [](std::string_view expression) {
    const auto made = filter::JourneyFilter::compile(*filter::parse(expression), radio(), {});
    REQUIRE_FALSE(made);
    return made.error().text();
  };
  CHECK(error("at(rlc.ty) > 5us").starts_with("column 4: there is no place \"rlc.ty\""));
  CHECK(error("event(latency > 5us)").starts_with("column 7: latency is known of whole journeys"));
  CHECK(error("latncy > 5us")
            .starts_with("column 1: no point has a field \"latncy\": did you mean latency?"));
}

TEST_CASE("the caret of a long expression stands under the cause, in the part that is shown") {
  std::string expression = "len == 1";
  for (int i = 0; i < 30; ++i) expression += " || len == 1";
  expression += " || rnit == 1";
  for (int i = 0; i < 30; ++i) expression += " || len == 1";
  const std::string error = error_of(expression);
  const auto first = error.find('\n');
  const auto second = error.find('\n', first + 1);
  const std::string shown = error.substr(first + 1, second - first - 1);
  const std::string caret = error.substr(second + 1);
  CHECK(shown.size() < 120);
  CHECK(shown.find("rnit") == caret.find('^'));
  CHECK(caret.ends_with("^~~~"));
}

TEST_CASE("an expression that is nested too deeply or too long is refused without a crash") {
  const std::string open(2'000, '(');
  CHECK(error_of(open + "len == 1").contains("nested too deeply"));
  CHECK(error_of(std::string(2'000, '!') + "len == 1").contains("nested too deeply"));
  CHECK(error_of("len == " + std::string(2'000, '-') + "1").contains("nested too deeply"));
  CHECK(error_of(std::string(5'000, ' ')).contains("at most 4096"));
  std::string sum = "len";
  for (int i = 0; i < 1'000; ++i) sum += "+1";
  CHECK(error_of(sum + " > 1").contains("too much arithmetic"));
}

}  // namespace
}  // namespace sojourn::filter_tests
