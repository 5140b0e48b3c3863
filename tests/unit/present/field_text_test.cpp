// Values of events in words and in JSON.
#include "analysis/present/words/field_text.h"

#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "analysis/model/value_text.h"

namespace sojourn::present {
namespace {

TEST_CASE("a name that a point has several times has all its values") {
  const auto point = *model::parse_point("D rlc--pdcp", "len:rnti:drb.psn.psn");
  const std::vector<std::uint64_t> values = {95, 7, 1, 0, 34};
  CHECK(values_json(point, values, false).dump() == R"({"rnti":7,"drb":1,"psn":[0,34]})");
  CHECK(values_json(point, values, true).dump() == R"({"len":95})");
  CHECK(ids_text(point, values) == " rnti 0x7 drb 1 psn 0 psn 34");
}

TEST_CASE("a value that could not be read is shown as that, not as 0") {
  auto point = *model::parse_point("D a--b", "len:rnti:sn");
  point.fields.push_back({.name = "unread-fields", .bytes = 2});
  const std::vector<std::uint64_t> values = {95, 0, 3, 2};
  CHECK(values_json(point, values, false).dump() == R"({"rnti":null,"sn":3})");
  CHECK(ids_text(point, values) == " rnti ? sn 3");
}

TEST_CASE("addresses, RNTIs, TEIDs and ids of queues are hexadecimal, other numbers are not") {
  auto mapped = *model::parse_point("D put.msgb--msgb", "len::queue.item");
  const std::vector<std::uint64_t> values = {64, 0x7f00'0010, 0x7f00'0020};
  CHECK(ids_text(mapped, values) == " queue 2130706448 item 2130706464");
  mapped.fields[1].is_address = mapped.fields[2].is_address = true;
  CHECK(ids_text(mapped, values) == " queue 0x7f000010 item 0x7f000020");
  CHECK(model::value_text(mapped, 0, values) == "64");
  const auto registered = *model::parse_point("I queue--enqueue", "depth:queue:item");
  CHECK(ids_text(registered, values) == " queue 0x7f000010 item 2130706464");
  const auto radio = *model::parse_point("D a--b", "oldCRNTI:tc_rnti:rntis");
  CHECK(model::value_text(radio, 0, values) == "0x40");
  CHECK(ids_text(radio, values) == " tc_rnti 0x7f000010 rntis 2130706464");
  const auto core = *model::parse_point("D gtp.in--gtp.rx", "len:teid:C-RNTI");
  CHECK(ids_text(core, values) == " teid 0x7f000010 C-RNTI 0x7f000020");
  CHECK(values_json(core, values, false).dump() == R"({"teid":2130706448,"C-RNTI":2130706464})");
}

TEST_CASE("a negative value stays negative in any form") {
  auto point = *model::parse_point("D a--b", ":rnti:");
  point.fields[0].is_signed = true;
  CHECK(model::value_text(point, 0, std::vector<std::uint64_t>{UINT64_MAX}) == "-1");
  CHECK(model::value_text(point, 0, std::vector<std::uint64_t>{0x4601}) == "0x4601");
}

}  // namespace
}  // namespace sojourn::present
