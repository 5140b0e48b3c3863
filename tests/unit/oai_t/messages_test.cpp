// The list of messages at the head of a recording.
#include "analysis/oai_t/messages.h"

#include <string>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::oai_t {
namespace {

TEST_CASE("a list's messages are numbered as they stand, and formats become fields") {
  const auto messages = parse_messages(
      "#general\n"
      "ID = TICK\n"
      "    DESC = one a ms: FORMAT\n"
      "    GROUP = ALL:GENERAL\n"
      "    FORMAT = int,frame : int,subframe\n"
      "\n"
      "ID = EMPTY\r\n"
      "ID = MAC_SDU\n"
      "FORMAT=int , rnti:ulong,when : string,log : float,snr : buffer,data : int,length\n");
  REQUIRE(messages.has_value());
  REQUIRE(messages->size() == 3);
  CHECK((*messages)[0].point.name() == "TICK");
  CHECK(format_fields((*messages)[0].point) == "::frame.subframe");
  CHECK((*messages)[1].types.empty());
  const Message& sdu = (*messages)[2];
  CHECK(sdu.types == std::vector{Type::kInt, Type::kUlong, Type::kString, Type::kFloat,
                                 Type::kBuffer, Type::kInt});
  CHECK(sdu.fields == std::vector{0, 1, 2, kNoField, 3, 4});
  REQUIRE(sdu.point.fields.size() == 5);
  CHECK(sdu.point.fields[0].role == model::Role::kGlobal);
  CHECK(sdu.point.fields[0].is_signed);
  CHECK(sdu.point.fields[1].bytes == 8);
  CHECK(sdu.point.fields[3].name == "data_len");
}

TEST_CASE("a message that does not fit into a point is skipped") {
  std::string text = "ID = MANY\nFORMAT = int,a0";
  for (int i = 1; i < 20; ++i) text += " : int,a" + std::to_string(i);
  const auto messages = parse_messages(text);
  REQUIRE(messages.has_value());
  CHECK((*messages)[0].types.size() == 20);
  CHECK((*messages)[0].point.fields.size() == model::kMaxFields);
  CHECK((*messages)[0].fields[16] == kNoField);
}

TEST_CASE("a hostile list is refused with its line") {
  const auto error = [](const std::string& text) {
    const auto messages = parse_messages(text);
    return messages ? std::string() : messages.error().text();
  };
  CHECK(error("").contains("empty"));
  CHECK(error("GROUP = ALL\n").contains("empty"));
  CHECK(error("FORMAT = int,a\n").contains("line 1"));
  CHECK(error("ID = A\nFORMAT = int,a\nFORMAT = int,b\n").contains("line 3"));
  CHECK(error("ID = A\x1b[31m\n").contains("line 1"));
  CHECK(error("ID = A\nFORMAT = rune,a\n").contains("line 2"));
  CHECK(error("ID = A\nFORMAT = int\n").contains("line 2"));
  CHECK(error("ID = A\nFORMAT = int,a b\n").contains("line 2"));
  CHECK(error("ID = " + std::string(200, 'A') + "\n").contains("line 1"));
  std::string many;
  for (int i = 0; i < 20'001; ++i) many += "ID = A" + std::to_string(i) + "\n";
  CHECK(error(many).contains("more than 20000 messages"));
}

}  // namespace
}  // namespace sojourn::oai_t
