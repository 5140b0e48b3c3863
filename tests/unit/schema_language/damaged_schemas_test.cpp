// Random and damaged schemas: every one is accepted or refused, in time, without reading out of
// bounds.
#include <cstddef>
#include <random>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "analysis/schema_language/generate.h"
#include "tests/unit/schema_language/support.h"

namespace sojourn::schema_language {

namespace {

bool has_a_place(const std::string& error) {
  return error.starts_with("s:") && error.contains(": expected ") && error.contains(", found ");
}

// Taken, and then made into outputs, or refused with a place.
void survives(const std::string& text) {
  const auto schema = parse(text, "s");
  if (!schema) {
    INFO(schema.error().text());
    CHECK(has_a_place(schema.error().text()));
    return;
  }
  CHECK(generate_header(*schema, "s").contains("SJ_SUBSYS_"));
  CHECK(generate_json(*schema, "s").contains("\"subsystems\""));
}

}  // namespace

TEST_CASE("a schema that is cut off is refused with a place, wherever it is cut") {
  const std::string text = read("typed.pleco");
  REQUIRE(text.ends_with("};\n"));
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    INFO(size);
    CHECK(has_a_place(error_of(text.substr(0, size))));
  }
}

TEST_CASE("a schema with any bytes changed is taken or refused with a place") {
  std::mt19937 random(20'240'711);
  const std::string text = read("plain.pleco") + read("typed.pleco");
  REQUIRE(error_of(text) == "");
  constexpr std::string_view kSyntax = "{};,-\"\\/*.D\n";
  for (int round = 0; round < 3'000; ++round) {
    std::string damaged = text;
    for (auto changes = random() % 4 + 1; changes > 0; --changes) {
      const bool syntax = random() % 2 == 0;
      damaged[random() % damaged.size()] =
          syntax ? kSyntax[random() % kSyntax.size()] : static_cast<char>(random() % 256);
    }
    survives(damaged);
  }
}

TEST_CASE("deep and long schemas are refused, not recursed into") {
  std::string comments;
  for (int i = 0; i < 1'000'000; ++i) comments += "/*";
  CHECK(has_a_place(error_of(comments)));
  CHECK(has_a_place(error_of(std::string(2'000'000, '{'))));
  CHECK(has_a_place(error_of("subsystem " + std::string(2'000'000, 'x'))));
  CHECK(error_of("subsystem " + std::string(2'000'000, 'x')).size() < 300);
  CHECK(has_a_place(error_of("subsystem s { event e \"" + std::string(2'000'000, 'x'))));
}

TEST_CASE("a schema that is too large is refused unread") {
  CHECK(parse(std::string(kMaxSchemaBytes + 1, ' '), "s").error().text() ==
        "s: a schema of 4194305 bytes: at most 4194304 are allowed");
}

TEST_CASE("more events than a trace can number are refused") {
  std::string text = "subsystem s {\n";
  for (std::size_t i = 0; i < model::kMaxPoints; ++i)
    text += "event e" + std::to_string(i) + " \"\",\n";
  CHECK(error_of(text + "};") == "");
  CHECK(error_of(text + "event last \"\", };") ==
        "s:65537:7: expected at most 65535 events, found one more");
}

}  // namespace sojourn::schema_language
