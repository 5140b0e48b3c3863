// How much of a trace a page may carry, as a user says it, and which files a page may replace.
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

void is_wrong_usage(const std::vector<std::string>& arguments, const std::string& words) {
  const test::Ended ended = sojourn(arguments);
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 2);
  CHECK(ended.out.empty());
  CHECK(ended.err.contains(words));
}

TEST_CASE("the size of a page is a whole number of megabytes") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const std::string page = traces.directory().path("page.html");
  for (const char* const size : {"0", "-1", "many", "1.5", "1025", "1M"}) {
    is_wrong_usage({"report", trace, "--html", page, "--html-size", size}, "--html-size");
    is_wrong_usage({"open", trace, "--html-size", size}, "--html-size");
    is_wrong_usage({"open", trace, "--html-size", size}, "from 1 to 1,024, of megabytes (MB)");
    is_wrong_usage({"diff", trace, "--against", trace, "--html", page, "--html-size", size},
                   "--html-size");
  }
}

TEST_CASE("the size of a page needs a page") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  is_wrong_usage({"report", trace, "--html-size", "1"}, "--html");
  is_wrong_usage({"diff", trace, "--against", trace, "--html-size", "1"}, "--html");
}

TEST_CASE("a page never replaces a trace that it shows, by whatever name") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const std::string other = traces.path("parts");
  const std::string link = traces.directory().path("link.html");
  std::filesystem::create_hard_link(trace, link);
  const std::string before = test::contents(trace);
  require_error(sojourn({"report", trace, "--html", trace}), "it is the trace to show");
  require_error(sojourn({"report", trace, "--html", link}), "it is the trace to show");
  require_error(sojourn({"report", trace, "--redact", "--html", trace}), "it is the trace to show");
  require_error(sojourn({"diff", other, "--against", trace, "--html", trace}),
                "it is the trace to show");
  CHECK(test::contents(trace) == before);
}

}  // namespace
}  // namespace sojourn::cli_tests
