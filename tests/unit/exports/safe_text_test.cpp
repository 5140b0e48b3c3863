#include "analysis/exports/safe_text.h"

#include <string>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/exports/hostile_names.h"

namespace sojourn::exports {
namespace {

TEST_CASE("text that is not UTF-8 is converted byte by byte, and the rest stays as it is") {
  CHECK(utf8_text("caf\xC3\xA9") == "caf\xC3\xA9");
  CHECK(utf8_text("a\xFF"
                  "b") ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(utf8_text("\xC0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD");          // too long a form
  CHECK(utf8_text("\xED\xA0\x80").size() == 9);                        // half a surrogate pair
  CHECK(utf8_text("\xF4\x90\x80\x80").size() == 12);                   // beyond Unicode
  CHECK(utf8_text("end \xE2\x80") == "end \xEF\xBF\xBD\xEF\xBF\xBD");  // cut
  CHECK(utf8_text("").empty());
}

TEST_CASE(
    "shown text contains no control characters, and none that turn or hide their neighbours") {
  CHECK(shown_text("two\nlines\x1b[31m") == "two\xEF\xBF\xBDlines\xEF\xBF\xBD[31m");
  CHECK(shown_text("\xE2\x80\xAE"
                   "abc") ==
        "\xEF\xBF\xBD"
        "abc");
  CHECK(shown_text("\xC2\x85") == "\xEF\xBF\xBD");
  CHECK(shown_text("caf\xC3\xA9 \xF0\x9F\x93\xA1") == "caf\xC3\xA9 \xF0\x9F\x93\xA1");
}

TEST_CASE("any name in JSON is read back as the UTF-8 that it became, and is ASCII on its way") {
  for (const std::string& name : hostile_names()) {
    std::string text;
    append_json_text(text, name);
    CAPTURE(text.substr(0, 80));
    CHECK(nlohmann::json::parse(text).get<std::string>() == utf8_text(name));
    for (const char c : text) REQUIRE((c >= ' ' && c <= '~'));
  }
}

}  // namespace
}  // namespace sojourn::exports
