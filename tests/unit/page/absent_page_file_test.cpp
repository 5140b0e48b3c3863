#include <catch2/catch_test_macros.hpp>

#include "userspace/page/page_file.h"

namespace sojourn::page {
namespace {

TEST_CASE("a program that was built without the page says so") {
  constexpr std::string_view kAbsent =
      "this sojourn was built without the report page (SOJOURN_PAGE=OFF)";
  std::string page;
  const auto write = [&](std::string_view piece) {
    page += piece;
    return Result<void>();
  };
  const auto written = write_page({}, 1'000'000, write, {});
  REQUIRE(!written);
  CHECK(written.error().text() == kAbsent);
  const auto made = write_page_of("a.sjt", {}, 1'000'000, write, {});
  REQUIRE(!made);
  CHECK(made.error().text() == kAbsent);
  const auto served = served_page();
  REQUIRE(!served);
  CHECK(served.error().text() == kAbsent);
  CHECK(page.empty());
}

}  // namespace
}  // namespace sojourn::page
