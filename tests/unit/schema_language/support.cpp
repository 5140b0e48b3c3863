#include "tests/unit/schema_language/support.h"

#include <fstream>
#include <iterator>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/pointed_error.h"

namespace sojourn::schema_language {

std::string read(const std::string& name) {
  std::ifstream file(SJ_HERE "/" + name, std::ios::binary);
  INFO(name);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

Schema parsed(std::string_view text) {
  auto schema = parse(text, "s");
  INFO((schema ? "" : schema.error().text()));
  REQUIRE(schema);
  return *std::move(schema);
}

std::string error_of(std::string_view text) {
  const auto schema = parse(text, "s");
  return schema ? "" : test::first_line_of_pointed(schema.error().text());
}

}  // namespace sojourn::schema_language
