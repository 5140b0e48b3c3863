// The contents of an xlap.yml, and errors that name its line.
#include "analysis/xlap/xlap_config.h"

#include <string>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::xlap {
namespace {

const std::string kSound = R"(data_files:
    sender: sender.csv
    receiver: receiver.csv
cycle_reference:
    sender: Submit
    receiver: Receive
time_reference:
    sender: Submit
    receiver: Receive
stamps:
    Submit:
        Source: sender
        Type: time
    Transmit:
        Source: sender
        Type: cycle
    Receive:
        Source: receiver
        Type: time
durations:
    Send:
        Start: Submit
        Stop: Transmit
        Source: sender
packet_types:
    Data: 0
    Ack: 1
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

void refuses(const std::string& text, const std::string& words) {
  const auto config = parse_config(text, "d/xlap.yml");
  CAPTURE(words);
  REQUIRE_FALSE(config.has_value());
  CAPTURE(config.error().text());
  CHECK(config.error().text().starts_with("d/xlap.yml:"));
  CHECK(config.error().text().contains(words));
  CHECK_FALSE(config.error().text().contains('\n'));
}

TEST_CASE("files, references, stamps, durations and packet types are read") {
  const auto config = parse_config(kSound, "d/xlap.yml");
  REQUIRE(config.has_value());
  REQUIRE(config->sources.size() == 2);
  CHECK(config->sources[0].name == "sender");
  CHECK(config->sources[1].file == "receiver.csv");
  CHECK(config->sources[0].time_reference == 0);
  CHECK(config->sources[1].cycle_reference == 2);
  REQUIRE(config->stamps.size() == 3);
  CHECK(config->stamps[1].name == "Transmit");
  CHECK(config->stamps[1].is_cycle);
  CHECK(config->stamps[1].line == 14);
  CHECK_FALSE(config->stamps[2].is_cycle);
  REQUIRE(config->durations.size() == 1);
  CHECK(config->durations[0].start == 0);
  CHECK(config->durations[0].stop == 1);
  CHECK(config->packet_types.at(1) == "Ack");
}

TEST_CASE("durations and packet types may be left out, and unknown members are no error") {
  const std::string short_one = kSound.substr(0, kSound.find("durations:")) + "notes: [a, b]\n";
  const auto config = parse_config(short_one, "d/xlap.yml");
  REQUIRE(config.has_value());
  CHECK(config->durations.empty());
  CHECK(config->packet_types.empty());
}

TEST_CASE("names that are nowhere are errors with their line") {
  refuses(with(kSound, "receiver: Receive", "receiver: Reciev"),
          "xlap.yml:6: Reciev is not in stamps");
  refuses(with(kSound, "Source: sender", "Source: sendr"), ":12: sendr is not in data_files");
  refuses(with(kSound, "Type: cycle", "Type: cycles"), ":16: Type cycles: time or cycle is wanted");
  refuses(with(kSound, "Stop: Transmit", "Stop: Nowhere"), ":23: Nowhere is not in stamps");
  refuses(with(kSound, "        Type: time\n    Transmit", "    Transmit"),
          ":11: Submit has no Type");
  refuses(with(kSound, "    sender: Submit\n", "    sender: Receive\n"),
          ":5: Receive is a stamp of receiver");
  refuses(with(kSound, "    receiver: Receive\n", ""), ":3: receiver has no cycle_reference");
  refuses(with(kSound, "Data: 0", "Data: zero"), "packet type Data: zero is no whole number");
}

TEST_CASE("hostile files are refused in one line") {
  refuses("", "is empty");
  refuses("- a\n- b\n", "is a list of names with values");
  refuses("data_files: {a: b\n", "xlap.yml:2: ");
  refuses("data_files:\n    a: ../../etc/passwd\n", "is not in this directory");
  refuses("data_files:\n    a: /etc/passwd\n", "is not in this directory");
  refuses("data_files:\n    output: a.csv\n", "cannot be called output");
  refuses("data_files:\n    a: [1, 2]\n", "a data file is one word");
  refuses("data_files:\n    a: b\n    a: c\n", ":3: a is there twice");
  refuses("data_files: {}\nstamps: {}\n", "data_files has no file");
  refuses("\xff\xfe\x00garbage", "xlap.yml:");
  refuses(std::string(100'000, '['), "xlap.yml:");
  refuses("a: &a [*a]\ndata_files: *b\n", "xlap.yml:");
  refuses("data_files: &x\n    a: *x\n", "xlap.yml:");
  std::string many = "data_files:\n";
  for (int at = 0; at < 1100; ++at) many += "    f" + std::to_string(at) + ": x\n";
  refuses(many, "more than 1000 entries");
}

}  // namespace
}  // namespace sojourn::xlap
