#include "tests/cli/programs.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <catch2/catch_test_macros.hpp>

#include "tests/golden/fixture.h"
#include "tests/support/pointed_error.h"

namespace sojourn::cli_tests {

std::string Traces::path(const std::string& fixture) const {
  const std::string trace = directory_.path(fixture + ".sjt");
  if (std::filesystem::exists(trace)) return trace;
  const auto written = golden::write_trace(SJ_GOLDEN "/" + fixture + ".events", trace);
  if (!written) FAIL(written.error().text());
  return trace;
}

test::Ended sojourn(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SJ_SOJOURN);
  return test::run(std::move(arguments));
}

std::string output_of(std::vector<std::string> arguments) {
  test::Ended ended = sojourn(std::move(arguments));
  CHECK(ended.err.empty());
  REQUIRE(ended.exit_code == 0);
  return std::move(ended.out);
}

void require_error(const test::Ended& ended, const std::string& words) {
  CAPTURE(ended.err, ended.out);
  CHECK(ended.exit_code == 1);
  CHECK(std::ranges::count(ended.err, '\n') == 1);
  CHECK(ended.err.starts_with("sojourn: "));
  CHECK(ended.err.contains(words));
  CHECK(ended.out.empty());
}

void require_pointed_error(const test::Ended& ended, const std::string& words) {
  constexpr std::string_view kLead = "sojourn: ";
  CAPTURE(ended.err, ended.out);
  CHECK(ended.exit_code == 1);
  REQUIRE(ended.err.starts_with(kLead));
  REQUIRE(ended.err.ends_with('\n'));
  const std::string error = ended.err.substr(kLead.size(), ended.err.size() - kLead.size() - 1);
  CHECK(test::first_line_of_pointed(error).contains(words));
  CHECK(ended.out.empty());
}

void compare(const std::string& name, const std::string& text) {
  golden::compare(SJ_EXPECTED "/" + name, text);
}

}  // namespace sojourn::cli_tests
