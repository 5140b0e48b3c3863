#include "userspace/page/page_file.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/golden/fixture.h"
#include "tests/support/child.h"

namespace sojourn::page {
namespace {

std::string made(const std::vector<std::string>& traces, std::uint64_t most = 1'000'000) {
  std::string page;
  const auto written = write_page(
      traces, most,
      [&](std::string_view piece) {
        page += piece;
        return Result<void>();
      },
      [](double) {});
  return written ? page : "refused: " + written.error().text();
}

TEST_CASE("a name cannot leave its attribute") {
  CHECK(attribute_text(R"(a"><script>&'.sjt)") == "a&quot;&gt;&lt;script&gt;&amp;'.sjt");
  CHECK(attribute_text("a\n\x01\xff") == "a???");
}

TEST_CASE("the trace stands in the page as base64") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("a.sjt");
  std::ofstream(trace, std::ios::binary) << "any carnal pleasure.";
  const std::string page = made({trace});
  CHECK(page.find(R"(data-name="a.sjt">YW55IGNhcm5hbCBwbGVhc3VyZS4=</script>)") !=
        std::string::npos);
  CHECK(page.starts_with("<!doctype html>"));
}

TEST_CASE("of a trace that is larger than the page takes there is a summary") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("a\".sjt");
  REQUIRE(golden::write_trace(SJ_GOLDEN "/radio.events", trace));
  const auto size = std::filesystem::file_size(trace);
  CHECK(!made({trace}, size).contains("id=\"summary\""));
  const std::string page = made({trace}, size - 1);
  CHECK(page.contains("data-name=\"a&quot;.sjt\" data-bytes=\"" + std::to_string(size) + "\">"));
  CHECK(page.contains("<script type=\"application/octet-stream\" id=\"summary\">H4sI"));
  CHECK(page.ends_with("</html>\n"));
  CHECK(made({directory.path("none.sjt")}) ==
        "refused: open " + directory.path("none.sjt") + ": No such file or directory");
}

TEST_CASE("a summary says whether somebody has the file of its trace") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("a.sjt");
  REQUIRE(golden::write_trace(SJ_GOLDEN "/radio.events", trace));
  std::ifstream file(trace, std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  std::string page;
  const auto write = [&](std::string_view piece) {
    page += piece;
    return Result<void>();
  };
  const auto make = [&](const trace::Put& put) -> Result<void> { return put(bytes); };
  REQUIRE(write_page_of("redacted.sjt", make, 1000, write, [](double) {}));
  const std::string size = std::to_string(bytes.size());
  CHECK(page.contains("data-name=\"redacted.sjt\" data-bytes=\"" + size + "\" data-gone=\"\">"));
  CHECK(made({trace}, 1000).contains("data-name=\"a.sjt\" data-bytes=\"" + size + "\">"));
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
}

TEST_CASE("a served page may ask its server, and nobody else") {
  const auto served = served_page();
  REQUIRE(served);
  CHECK(served->policy == "default-src 'none'; connect-src 'self'; worker-src blob:");
  CHECK(served->html.contains("content=\"" + served->policy + "\""));
  CHECK(served->html.ends_with("data-name=\"\" data-served=\"\"></script>\n</html>\n"));
}

}  // namespace
}  // namespace sojourn::page
