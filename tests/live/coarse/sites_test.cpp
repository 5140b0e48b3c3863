// The functions of unprepared programs that a map finds, the places of probes in them, and the
// report on the others.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/live/coarse/subject.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

TEST_CASE("points of a map that the program lacks are named one by one, and hide no others") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string map = directory.path("my.toml");
  test::Child target({coarse_path("c-O2")});
  REQUIRE(target.wait_for_output("ready"));
  const std::string pid = std::to_string(target.pid());
  const auto list = [&](const std::string& text, const std::vector<std::string>& more = {}) {
    test::write_contents(map, text);
    std::vector<std::string> arguments = {"list", "-p", pid, "--map", map, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return sojourn(arguments);
  };
  const test::Ended ended = list(
      "[[point]]\nfunction = 'coarse_frame'\n[[point]]\nfunction = 'coarse_fraem'\n"
      "[[point]]\nfunction = 'coarse_leaf'\n[[point]]\nfunction='f'\nlibrary='libnone.so'\n");
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("my.toml:4:12: no function 'coarse_fraem' in"));
  CHECK(ended.err.contains(", but coarse_frame"));
  CHECK(ended.err.contains("coarse_leaf is probed where it is called, at 3 places"));
  CHECK(ended.err.contains("no file named 'libnone.so' is executed"));
  json listed = json::parse(ended.out);
  REQUIRE(listed.at("points").size() == 2);
  const json place = listed.at("points")[0].at("places").at(0);
  CHECK(place.at("function") == "coarse_frame");
  CHECK(place.at("single_step") == false);
  CHECK(place.at("hit_ns").get<std::uint64_t>() > 50);
  CHECK(listed.at("unusable").size() == 2);

  listed = json::parse(list("[[point]]\nfunction = 'coarse_*f'\n", {"--allow-slow-sites"}).out);
  const json slow = listed.at("points")[0].at("places").at(0);
  CHECK(slow.at("single_step") == true);
  CHECK(slow.at("hit_ns").get<std::uint64_t>() > 50);

  const test::Ended nothing = list("[[point]]\nfunction = 'none_such'\n");
  CHECK(nothing.exit_code == 1);
  CHECK(nothing.err.contains("none of the map's functions can be traced"));
  const test::Ended broken = list("[[point]]\nfunction = 'f'\nsn = '*arg0'\n");
  CHECK(broken.exit_code == 1);
  CHECK(broken.err.contains("my.toml:3:7: sn: the width is missing"));
}

TEST_CASE("damaged symbols packed into a file are ignored") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string map = directory.path("my.toml");
  test::write_contents(map, "[[point]]\nfunction = 'coarse_frame'\n");
  auto elf = tracee::ElfFile::open(coarse_path("c-O2-mini"), "subject");
  REQUIRE(elf);
  const tracee::Section* const section = elf->section(".gnu_debugdata");
  REQUIRE(section != nullptr);
  const std::string whole = test::contents(coarse_path("c-O2-mini"));
  const std::string file = directory.path("program");
  const auto list = [&](const std::string& contents) {
    test::write_contents(file, contents);
    return sojourn({"list", file, "--map", map});
  };
  CHECK(list(whole).exit_code == 0);
  for (const std::uint64_t at : {std::uint64_t{0}, section->bytes / 2, section->bytes - 1}) {
    CAPTURE(at);
    std::string damaged = whole;
    damaged[section->offset + at] = static_cast<char>(~damaged[section->offset + at]);
    const test::Ended ended = list(damaged);
    CHECK(ended.exit_code == 1);
    CHECK(ended.err.contains("no function 'coarse_frame'"));
  }
}

TEST_CASE("functions that begin with a patchable nop get probes without a single step") {
  need_root();
  const std::string name = GENERATE("c-O2-patchable", "c-clang-patchable");
  CAPTURE(name);
  if (!std::filesystem::exists(coarse_path(name))) SKIP("clang is not installed: " << name);
  std::string map;
  for (const char* function :
       {"coarse_registers", "coarse_pointers", "coarse_leaf", "coarse_loop", "coarse_frame"})
    map += fmt::format("[[point]]\nfunction = '{}'\nn = 'arg0'\n", function);
  const CoarseSubject target(name, map);
  const test::Ended ended = sojourn(target.with_map("list", {"--json"}));
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  const json listed = json::parse(ended.out);
  CHECK(listed.at("unusable").empty());
  CHECK(listed.at("points").size() == 5);
  for (const json& point : listed.at("points"))
    for (const json& place : point.at("places")) {
      CHECK(place.at("instruction") == "nop");
      CHECK(place.at("single_step") == false);
    }
}

TEST_CASE("longer nops are reported as stepped over or emulated as this kernel does it") {
  need_root();
  const std::string name = GENERATE("c-clang-patchable-3", "c-clang-patchable-8");
  CAPTURE(name);
  if (!std::filesystem::exists(coarse_path(name))) SKIP("clang is not installed: " << name);
  CoarseSubject target(name, "[[point]]\nfunction = 'coarse_leaf'\nn = 'arg0'\n");
  const json listed =
      json::parse(sojourn_done(target.with_map("list", {"--allow-slow-sites", "--json"})));
  const json& place = listed.at("points").at(0).at("places").at(0);
  CAPTURE(place.dump());
  CHECK(place.at("offset") == 0);
  CHECK(place.at("instruction").get<std::string>().starts_with("nop"));
  target.record("200ms");
  // A process that has stepped over an instruction has a page for that from then on.
  const bool has_stepped =
      test::contents("/proc/" + target.pid() + "/maps").contains("[uprobes]\n");
  CHECK(place.at("single_step") == has_stepped);
  CHECK(target.running());
}

TEST_CASE("nops of five and ten bytes are probed where doctor finds that safe, and nowhere else") {
  need_root();
  const unsigned bytes = GENERATE(5U, 10U);
  CAPTURE(bytes);
  const std::string name = fmt::format("c-clang-patchable-{}", bytes);
  if (!std::filesystem::exists(coarse_path(name))) SKIP("clang is not installed: " << name);
  bool is_safe = false;
  bool is_optimised = false;
  for (const json& check : json::parse(sojourn({"doctor", "--json"}).out).at("checks")) {
    if (check.at("id") != "nops") continue;
    for (const json& nop : check.at("nops"))
      if (nop.at("bytes") == bytes && nop.at("usable")) {
        is_safe = nop.at("keeps_red_zone") && nop.at("keeps_children");
        is_optimised = nop.at("optimised");
      }
  }
  CoarseSubject target(name, "[[point]]\nfunction = 'coarse_leaf'\nn = 'arg0'\n");
  const json listed =
      json::parse(sojourn_done(target.with_map("list", {"--allow-slow-sites", "--json"})));
  const json& place = listed.at("points").at(0).at("places").at(0);
  CAPTURE(place.dump());
  const bool is_taken = place.at("offset") == 0;
  CHECK(place.at("offset") == (is_taken ? 0 : bytes));
  CHECK(place.at("single_step") == !is_taken);
  if (is_taken) CHECK(is_safe);
  if (is_safe && is_optimised) CHECK(is_taken);
  target.record("200ms");
  CHECK(target.running());
}

TEST_CASE("a function is found by its address, and in a library") {
  need_root();
  auto elf = tracee::ElfFile::open(coarse_path("c-O2-stripped"), "subject");
  REQUIRE(elf);
  const auto address = elf->symbol("coarse_frame");
  REQUIRE(address);
  CoarseSubject target(
      "c-O2-stripped",
      "[[point]]\nfunction = 'c-O2-stripped:" + fmt::format("{:#x}", *address) +
          "'\nsrc = 'frame'\nn = 'arg0'\n"
          "[[point]]\nfunction = 'clock_nanosleep'\nlibrary = 'libc.so*'\nsrc = 'sleep'\n");
  target.record("200ms");
  trace::Reader reader = open_trace(target.trace());
  std::map<std::string, std::uint64_t> hits;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row)
      ++hits[reader.schema().points[batch[row].point].src];
    return true;
  }));
  CHECK(hits["frame"] > 50);
  CHECK(hits["sleep"] + 1 >= hits["frame"]);
  CHECK(hits["sleep"] <= hits["frame"] + 1);
}

TEST_CASE("an address in the middle of a function is refused, as a probe there would kill") {
  need_root();
  // The program with its symbols, and with nothing but the table for unwinding.
  const test::TemporaryDirectory directory;
  const std::string bare = directory.path("bare");
  REQUIRE(test::run({"/usr/bin/strip", "-o", bare, coarse_path("c-O2")}).exit_code == 0);
  auto elf = tracee::ElfFile::open(coarse_path("c-O2"), "subject");
  REQUIRE(elf);
  const auto address = elf->symbol("coarse_frame");
  REQUIRE(address);
  const std::string map = directory.path("my.toml");
  for (const std::string& program : {coarse_path("c-O2"), bare}) {
    CAPTURE(program);
    for (const std::uint64_t behind : {0U, 1U, 5U, 6U}) {
      CAPTURE(behind);
      test::write_contents(map,
                           fmt::format("[[point]]\nfunction = '{}:{:#x}'\n",
                                       program.substr(program.rfind('/') + 1), *address + behind));
      const test::Ended listed = sojourn({"list", program, "--map", map, "--allow-slow-sites"});
      CAPTURE(listed.err);
      CHECK(listed.exit_code == (behind == 0 ? 0 : 1));
      CHECK(listed.err.contains("is not the beginning of a function, but within") == (behind != 0));
    }
  }
}

}  // namespace
}  // namespace sojourn::live
