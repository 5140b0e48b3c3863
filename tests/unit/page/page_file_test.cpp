#include "userspace/page/page_file.h"

#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/child.h"
#include "userspace/page/page_parts.h"

namespace sojourn::page {
namespace {

std::string made(const std::vector<std::string>& traces, std::uint64_t most = 1'000'000) {
  std::string page;
  const auto written = write_page(traces, most, [&](std::string_view piece) {
    page += piece;
    return Result<void>();
  });
  return written ? page : "refused: " + written.error().text();
}

TEST_CASE("a name cannot leave its attribute") {
  CHECK(attribute_text(R"(a"><script>&'.sjt)") == "a&quot;&gt;&lt;script&gt;&amp;'.sjt");
  CHECK(attribute_text("a\n\x01\xff") == "a???");
}

#ifdef SJ_HAS_PAGE
TEST_CASE("the trace stands in the page as base64") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("a.sjt");
  std::ofstream(trace, std::ios::binary) << "any carnal pleasure.";
  const std::string page = made({trace});
  CHECK(page.find(R"(data-name="a.sjt">YW55IGNhcm5hbCBwbGVhc3VyZS4=</script>)") !=
        std::string::npos);
  CHECK(page.starts_with("<!doctype html>"));
}

TEST_CASE("a trace that is larger than the page takes is refused, with what to do") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("a.sjt");
  std::ofstream(trace, std::ios::binary) << std::string(2'000'000, 'x');
  CHECK(made({trace}) ==
        "refused: " + trace +
            ": has 2 MB, and the page takes 1 (--html-size). Make the page without "
            "a trace with `sojourn page`, and drop the file onto it");
  CHECK(made({directory.path("none.sjt")}) ==
        "refused: open " + directory.path("none.sjt") + ": No such file or directory");
}

TEST_CASE("two traces stand in the page one behind the other, each with its name") {
  const test::TemporaryDirectory directory;
  const std::string base = directory.path("a.sjt");
  const std::string now = directory.path("b\".sjt");
  std::ofstream(base, std::ios::binary) << "any carnal pleasure.";
  std::ofstream(now, std::ios::binary) << "pleasure.";
  const std::string page = made({base, now});
  CHECK(
      page.contains("id=\"trace\" data-name=\"a.sjt\">YW55IGNhcm5hbCBwbGVhc3VyZS4=</script>\n"
                    "<script type=\"application/octet-stream\" id=\"against\" "
                    "data-name=\"b&quot;.sjt\">cGxlYXN1cmUu</script>"));
  CHECK(!made({base}).contains("id=\"against\""));
  CHECK(!made({}).contains("id=\"against\""));
  // Each fits, and both do not.
  CHECK(made({base, now}, 28) == "refused: " + base + " and " + now +
                                     ": have 1 MB, and the page takes 0 (--html-size). Make the "
                                     "page without a trace with `sojourn page`, and drop the two "
                                     "files onto it");
}
#else
TEST_CASE("a program that was built without the page says so") {
  CHECK(made({}) == "refused: this sojourn was built without the report page (SOJOURN_PAGE=OFF)");
}
#endif

}  // namespace
}  // namespace sojourn::page
