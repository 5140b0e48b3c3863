// X-Lap's tables: their cells, and errors that name the line.
#include "analysis/xlap/xlap_table.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::xlap {
namespace {

class Text : public imports::ByteStream {
 public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  std::size_t read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), text_.size() - done_);
    if (size != 0) std::memcpy(into.data(), text_.data() + done_, size);
    done_ += size;
    return size;
  }
  const std::string& failure() const override { return failure_; }
  std::uint64_t done_bytes() const override { return done_; }
  std::uint64_t size_bytes() const override { return text_.size(); }
  std::optional<std::uint64_t> changed_ns() const override { return std::nullopt; }

 private:
  std::string text_;
  std::size_t done_ = 0;
  std::string failure_;
};

TEST_CASE("microseconds become nanoseconds without loss") {
  CHECK(parse_us("0") == 0U);
  CHECK(parse_us("1498552355123456") == 1'498'552'355'123'456'000U);
  CHECK(parse_us("1498552355123456.789") == 1'498'552'355'123'456'789U);
  CHECK(parse_us("12.5") == 12'500U);
  CHECK(parse_us("12.0009") == 12'000U);
  CHECK(parse_us("1.5e3") == 1'500'000U);
  for (const char* wrong : {"", "-5", "x", "1x", "1.5.5", "99999999999999999999", "inf", "1e300"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_us(wrong));
  }
}

TEST_CASE("whole numbers may have a fraction of zeros") {
  CHECK(parse_number("18446744073709551615") == UINT64_MAX);
  CHECK(parse_number("42.0") == 42U);
  CHECK_FALSE(parse_number("42.5"));
  CHECK_FALSE(parse_number("seven"));
  for (const char* none : {"", "0", "0.0", "nan", "NaN"}) CHECK(is_missing(none));
  CHECK_FALSE(is_missing("1"));
}

TEST_CASE("rows have their cells by the names of the first line") {
  Text text("SeqNo, \"Kind\",A_T\r\n1,0,100.5\n\n2,1,\n");
  auto table = Table::open(text, "t.csv");
  REQUIRE(table.has_value());
  CHECK(table->columns().size() == 3);
  CHECK(table->column("Kind") == 1U);
  CHECK_FALSE(table->column("B_T"));
  REQUIRE(table->next().value());
  CHECK((*table)[2] == "100.5");
  REQUIRE(table->next().value());
  CHECK(table->line() == 4);
  CHECK((*table)[2].empty());
  CHECK_FALSE(table->next().value());
  CHECK_FALSE(table->is_cut());
}

TEST_CASE("rows that do not fit are errors with their line, and a cut one is left out") {
  Text few("a,b\n1,2\n1\n");
  auto table = Table::open(few, "t.csv");
  REQUIRE(table.has_value());
  REQUIRE(table->next().value());
  const auto next = table->next();
  REQUIRE_FALSE(next.has_value());
  CHECK(next.error().text() == "t.csv:3: 1 columns where the first line names 2");

  Text cut("a,b\n1,2\n3,4");
  auto shorter = Table::open(cut, "t.csv");
  REQUIRE(shorter.has_value());
  REQUIRE(shorter->next().value());
  CHECK_FALSE(shorter->next().value());
  CHECK(shorter->is_cut());
}

TEST_CASE("invalid tables are refused with their line") {
  const auto refused = [](std::string bytes) {
    Text text(std::move(bytes));
    const auto table = Table::open(text, "t.csv");
    REQUIRE_FALSE(table.has_value());
    return table.error().text();
  };
  CHECK(refused("") == "t.csv:1: is empty");
  CHECK(refused("a,b,a\n") == "t.csv:1: column a is there twice");
  CHECK(refused(std::string(100'000, 'x') + "\n").starts_with("t.csv:1: longer than"));
  CHECK(refused(std::string(5000, ',') + "\n").starts_with("t.csv:1: more than 2000 columns"));
}

}  // namespace
}  // namespace sojourn::xlap
