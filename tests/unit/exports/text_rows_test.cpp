#include "analysis/exports/text_rows.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "analysis/exports/safe_text.h"
#include "tests/unit/exports/hostile_names.h"

namespace sojourn::exports {
namespace {

const std::vector<Column> kColumns = {{"n", CellType::kUnsigned},
                                      {"signed", CellType::kInteger},
                                      {"is, so", CellType::kBool},
                                      {"text", CellType::kText}};

// The text that a writer makes of rows.
template <typename Writer>
std::string written(const std::vector<std::vector<Cell>>& rows) {
  std::string text;
  Writer writer([&](std::string_view bytes) -> Result<void> {
    text += bytes;
    return {};
  });
  REQUIRE(writer.begin(kColumns).has_value());
  for (const auto& row : rows) REQUIRE(writer.row(row).has_value());
  REQUIRE(writer.finish().has_value());
  return text;
}

// RFC 4180, as a reader of it does.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows = {{""}};
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"')
      rows.back().back() += text[++at];
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == ',')
      rows.back().emplace_back();
    else if (!quoted && c == '\n')
      rows.push_back({""});
    else
      rows.back().back() += c;
  }
  rows.pop_back();
  return rows;
}

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST_CASE(
    "comma-separated values keep integers whole, and do not distinguish empty text from none") {
  CHECK(written<CsvRows>({{kLargest, kLeast, true, std::string_view("a")},
                          {Cell(), Cell(), Cell(), Cell()},
                          {std::uint64_t{0}, std::int64_t{0}, false, std::string_view("")}}) ==
        "n,signed,\"is, so\",text\n"
        "18446744073709551615,-9223372036854775808,true,a\n"
        ",,,\n"
        "0,0,false,\"\"\n");
}

TEST_CASE("JSON lines keep integers whole, and leave out missing values") {
  CHECK(
      written<JsonRows>(
          {{kLargest, kLeast, true, std::string_view("a")}, {Cell(), Cell(), Cell(), Cell()}}) ==
      "{\"n\":18446744073709551615,\"signed\":-9223372036854775808,\"is, so\":true,\"text\":\"a\"}"
      "\n{}\n");
}

TEST_CASE("any name comes back from both") {
  std::vector<std::vector<Cell>> rows;
  const auto names = hostile_names();
  for (const std::string& name : names)
    rows.push_back({std::uint64_t{1}, Cell(), Cell(), std::string_view(name)});
  const auto table = read_csv(written<CsvRows>(rows));
  REQUIRE(table.size() == names.size() + 1);
  std::string lines = written<JsonRows>(rows);
  for (std::size_t at = 0; at < names.size(); ++at) {
    REQUIRE(table[at + 1].size() == kColumns.size());
    CHECK(table[at + 1][3] == utf8_text(names[at]));
    const auto end = lines.find('\n');
    CHECK(nlohmann::json::parse(lines.substr(0, end))["text"] == utf8_text(names[at]));
    lines.erase(0, end + 1);
  }
  CHECK(lines.empty());
}

TEST_CASE("an error of the receiver of the text ends the rows") {
  CsvRows writer([](std::string_view) -> Result<void> { return fail("the disk is full"); });
  REQUIRE(writer.begin(kColumns).has_value());
  const std::string longish(100'000, 'x');
  const std::vector<Cell> row = {Cell(), Cell(), Cell(), std::string_view(longish)};
  CHECK_FALSE(writer.row(row).has_value());
}

}  // namespace
}  // namespace sojourn::exports
