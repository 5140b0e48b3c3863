// Every variant of a line that LatSeq files are met in, and lines that mean harm.
#include "analysis/latseq/line.h"

#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

namespace sojourn::latseq {
namespace {

using Values = std::vector<std::uint64_t>;

Line parsed(std::string_view text) {
  LineParser parser;
  return parser.parse(text);
}

void check_event(std::string_view text, std::string_view shape, const Values& values) {
  CAPTURE(text);
  const Line line = parsed(text);
  REQUIRE(line.kind == Line::Kind::kEvent);
  CHECK(line.shape == shape);
  CHECK(line.values == values);
  CHECK(line.fields_left_out == 0);
}

void check_skipped(std::string_view text, Skip why) {
  CAPTURE(text);
  const Line line = parsed(text);
  REQUIRE(line.kind == Line::Kind::kSkipped);
  CHECK(key(line.why) == key(why));
}

constexpr std::uint64_t minus(std::uint64_t number) {
  return 0 - number;
}

TEST_CASE("an event is its time, direction, places and fields in three groups") {
  const Line line =
      parsed("1592409297.377889 D mac.txreq--phy.out.proc len18:rnti65535:ue0.harq0.fm182.subfm5");
  REQUIRE(line.kind == Line::Kind::kEvent);
  CHECK_FALSE(line.stamp.cycles);
  CHECK(line.stamp.value == 1'592'409'297'377'889'000);
  CHECK(line.shape == "D mac.txreq--phy.out.proc len:rnti:ue.harq.fm.subfm");
  CHECK(line.values == Values{18, 65535, 0, 0, 182, 5});
}

TEST_CASE("a stamp without a point counts cycles, one with a point is seconds to the nanosecond") {
  CHECK(parsed("8123456789012345 U a--b").stamp.cycles);
  CHECK(parsed("8123456789012345 U a--b").stamp.value == 8'123'456'789'012'345);
  CHECK(parsed("12.5 U a--b").stamp.value == 12'500'000'000);
  CHECK(parsed("12. U a--b").stamp.value == 12'000'000'000);
  CHECK(parsed("1592409297.1234567899 U a--b").stamp.value == 1'592'409'297'123'456'789);
}

TEST_CASE("repeated keys are kept, one value each") {
  check_event("1.5 U rlc--pdcp len9:rnti7:psn0.psn34.fm1", "U rlc--pdcp len:rnti:psn.psn.fm",
              {9, 7, 0, 34, 1});
}

TEST_CASE("groups may be empty or missing") {
  check_event("1.5 D a--b ::drb1.psn2", "D a--b ::drb.psn", {1, 2});
  check_event("1.5 D a--b len3::drb1", "D a--b len::drb", {3, 1});
  check_event("1.5 D a--b len3:rnti4:", "D a--b len:rnti", {3, 4});
  check_event("1.5 D a--b len3", "D a--b len", {3});
  check_event("1.5 D a--b ::", "D a--b ", {});
  check_event("1.5 D a--b", "D a--b ", {});
}

TEST_CASE("blanks may stand for a colon, and beside one") {
  check_event("1.5 D a--b len3 rnti4 drb1.psn2", "D a--b len:rnti:drb.psn", {3, 4, 1, 2});
  check_event("1.5 D a--b len3 : rnti4: drb1", "D a--b len:rnti:drb", {3, 4, 1});
  check_event("1.5\tD\ta--b\tlen3\trnti4\tdrb1", "D a--b len:rnti:drb", {3, 4, 1});
  check_event("  1.5   D  a--b   len3  rnti4  \r", "D a--b len:rnti", {3, 4});
}

TEST_CASE("fields behind the third group are local") {
  check_event("1.5 D a--b len3:rnti4:drb1:psn2", "D a--b len:rnti:drb.psn", {3, 4, 1, 2});
}

TEST_CASE("a field may be written with an equals sign") {
  check_event("1.5 D a--b len=3:rnti=0x4601:snr=-7", "D a--b len:rnti:snr", {3, 0x4601, minus(7)});
}

TEST_CASE("keys may have digits, underscores and a percent sign in them") {
  check_event("1.5 D a--b n3len5:ue_id6:k2_7", "D a--b n3len:ue_id:k2_", {5, 6, 7});
  check_event("1.5 D a--b prb%50:rnti%d7:l1=8", "D a--b prb:rnti:l1", {50, 7, 8});
}

TEST_CASE("values may be negative or hexadecimal") {
  check_event("1.5 D a--b snr-12:rnti0x4601:buf0x7f00Ab", "D a--b snr:rnti:buf",
              {minus(12), 0x4601, 0x7f00ab});
  check_event("1.5 D a--b min-9223372036854775808:max0xffffffffffffffff", "D a--b min:max",
              {std::uint64_t{1} << 63, UINT64_MAX});
}

TEST_CASE("a place may have no next one, and a scalar only one place") {
  check_event("1.5 D mac.harq-- len3", "D mac.harq-- len", {3});
  check_event("1.5 I rlc.tx.occ occ12:drb1", "I rlc.tx.occ-- occ:drb", {12, 1});
  check_event("1.5 S slot sfn7", "S slot-- sfn", {7});
  check_event("1.5 I ue--bsr bsr40:rnti7", "I ue--bsr bsr:rnti", {40, 7});
}

TEST_CASE("a clock line pairs the counter with the wall's clock") {
  const Line line = parsed("8123456789012345 S rdtsc--gettimeofday 1592409297.377889");
  REQUIRE(line.kind == Line::Kind::kClock);
  CHECK(line.stamp.value == 8'123'456'789'012'345);
  CHECK(line.clock_ns == 1'592'409'297'377'889'000);
  check_skipped("8123 S rdtsc--gettimeofday", Skip::kClockLine);
  check_skipped("8123 S rdtsc--gettimeofday noon", Skip::kClockLine);
  check_skipped("0 S rdtsc--gettimeofday 1592409297.3", Skip::kClockLine);
  check_skipped("8123 S rdtsc--gettimeofday 99999999999999999999.3", Skip::kClockLine);
  check_event("8123 S slot--edge :sfn3", "S slot--edge :sfn", {3});
}

TEST_CASE("headers and blank lines are distinguished from skipped lines") {
  CHECK(parsed("# timestamp\tU/D\tsrc--dest\tlen:ctxtId:localId").kind == Line::Kind::kHeader);
  CHECK(parsed("#").kind == Line::Kind::kHeader);
  CHECK(parsed("").kind == Line::Kind::kBlank);
  CHECK(parsed(" \t\r").kind == Line::Kind::kBlank);
}

TEST_CASE("an event that is glued to a header is read") {
  const Line line = parsed("#funcId ip pdcp.out.gtp1592409297.377889 D mac--phy len18:rnti7:fm1");
  REQUIRE(line.kind == Line::Kind::kEvent);
  CHECK(line.stamp.value == 1'592'409'297'377'889'000);
  CHECK(line.shape == "D mac--phy len:rnti:fm");
  // The name before it may end in digits.
  CHECK(parsed("#funcId gtp51592409297.377889 D a--b").stamp.value == 1'592'409'297'377'889'000);
  CHECK(parsed("#funcId ip8123456 U a--b len1").stamp.value == 8'123'456);
  CHECK(parsed("# D a--b is how a point is written").kind == Line::Kind::kHeader);
}

TEST_CASE("a line that cannot be an event is skipped with the reason") {
  check_skipped("hello world", Skip::kNoStamp);
  check_skipped("-5 D a--b", Skip::kNoStamp);
  check_skipped("1.2.3 D a--b", Skip::kNoStamp);
  check_skipped(".5 D a--b", Skip::kNoStamp);
  check_skipped("0 D a--b len1", Skip::kStampZero);
  check_skipped("0.000000 D a--b len1", Skip::kStampZero);
  check_skipped("99999999999.5 D a--b", Skip::kStampRange);
  check_skipped("18446744073709551616 D a--b", Skip::kStampRange);
  check_skipped("9223372036854775808 D a--b", Skip::kStampRange);
  check_skipped("1.5", Skip::kNoDirection);
  check_skipped("1.5 X a--b", Skip::kNoDirection);
  check_skipped("1.5 DU a--b", Skip::kNoDirection);
  check_skipped("1.5 K a--b", Skip::kNoDirection);  // a direction of kernel context only
  check_skipped("1.5 Q a--b", Skip::kNoDirection);  // or samples of queues have
  check_skipped("1.5 D", Skip::kNoPlaces);
  check_skipped("1.5 D mac.", Skip::kNoPlaces);
  check_skipped("1.5 D --b", Skip::kNoPlaces);
  check_skipped("1.5 I", Skip::kNoPlaces);
  check_skipped("1.5 D a--b len18446744073709551616", Skip::kValueRange);
  check_skipped("1.5 D a--b len-9223372036854775809", Skip::kValueRange);
  check_skipped("1.5 D a--b len0x10000000000000000", Skip::kValueRange);
  check_skipped("1.5 D a--b len3:rnti1592409297.3 D c--d len4", Skip::kTwoLines);
}

TEST_CASE("a field without a name or a number is left out, and counted") {
  for (const std::string field : {"len", "7", "=7", "len=", "len=x", "%7", "-7", "0x7", "len-"}) {
    CAPTURE(field);
    const Line line = parsed("1.5 D a--b " + field + ":rnti4");
    REQUIRE(line.kind == Line::Kind::kEvent);
    CHECK(line.shape == "D a--b :rnti");
    CHECK(line.values == Values{4});
    CHECK(line.fields_left_out == 1);
  }
}

TEST_CASE("fields past those that a point may have are left out, and counted") {
  std::string text = "1.5 D a--b ::";
  for (int i = 0; i < 20; ++i) text += "sn" + std::to_string(i) + ".";
  const Line line = parsed(text);
  CHECK(line.kind == Line::Kind::kEvent);
  CHECK(line.values.size() == model::kMaxFields);
  CHECK(line.fields_left_out == 20 - model::kMaxFields);
}

TEST_CASE("a line longer than any is skipped") {
  check_skipped("1.5 D a--b " + std::string(kMaxLineBytes, '7'), Skip::kTooLong);
}

TEST_CASE("any bytes are read without harm, and a value belongs to each name") {
  const std::string sample =
      "1592409297.377889 D mac.txreq--phy.out len18:rnti0x4601:ue-3.harq=5 prb%7::#S";
  std::mt19937_64 random(GENERATE(1, 2, 3));
  LineParser parser;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = sample;
    for (auto hits = random() % 6; hits > 0; --hits)
      text[random() % text.size()] =
          random() % 2 == 0 ? sample[random() % sample.size()] : static_cast<char>(random());
    text.resize(random() % (text.size() + 1));
    const Line& line = parser.parse(text);
    if (line.kind != Line::Kind::kEvent) continue;
    REQUIRE(line.values.size() <= model::kMaxFields);
    const auto fields = line.shape.substr(line.shape.find(' ', 2) + 1);
    std::size_t names = 0;
    bool in_name = false;
    for (const char c : fields) {
      const bool part = c != '.' && c != ':';
      names += part && !in_name;
      in_name = part;
    }
    CAPTURE(text, line.shape);
    REQUIRE(names == line.values.size());
  }
}

}  // namespace
}  // namespace sojourn::latseq
