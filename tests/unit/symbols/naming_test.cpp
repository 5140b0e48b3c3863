// Names and lines of addresses, of whole files and of broken ones.
#include "userspace/symbols/naming.h"

#include <algorithm>
#include <cstring>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "tests/support/child.h"
#include "userspace/symbols/demangle.h"
#include "userspace/symbols/dwarf.h"

namespace sojourn::symbols {
namespace {

using tracee::ElfFile;

ElfFile open_file(const std::string& path) {
  auto file = ElfFile::open(path, path);
  if (!file) FAIL(file.error().text());
  return std::move(*file);
}

std::uint64_t address_of(const ElfFile& file, const char* name) {
  const auto address = file.symbol(name);
  if (!address) FAIL(address.error().text());
  return *address;
}

model::Frame frame_at(std::uint64_t address) {
  return {
      .id = 1, .module = "m", .build_id = {}, .address = address, .is_kernel = false, .calls = {}};
}

// The calls at each address of the function `outer`.
std::vector<model::Frame> frames_of_outer(const ElfFile& file) {
  const auto functions = file.functions();
  REQUIRE(functions);
  const auto outer = std::ranges::find(*functions, "outer", &tracee::FunctionSymbol::name);
  REQUIRE(outer != functions->end());
  std::vector<model::Frame> frames;
  for (std::uint64_t at = 0; at < outer->bytes; ++at) {
    frames.push_back(frame_at(outer->address + at));
    frames.back().id = static_cast<std::uint32_t>(at);
  }
  return frames;
}

bool has_inlined_chain(const std::vector<model::Frame>& frames) {
  return std::ranges::any_of(frames, [](const model::Frame& frame) {
    return frame.calls.size() == 3 && frame.calls[0].function == "inner" &&
           frame.calls[1].function == "middle" && frame.calls[2].function == "outer" &&
           frame.calls[0].file.ends_with("inlined.c") && frame.calls[0].line == 6 &&
           frame.calls[1].line == 10 && frame.calls[2].line == 14;
  });
}

TEST_CASE("an address has the functions that were inlined there, and where each was called") {
  const ElfFile file = open_file(SJ_INLINED);
  std::vector<model::Frame> frames = frames_of_outer(file);
  name_frames(file, Lines::kWhereKnown, frames);
  CHECK(has_inlined_chain(frames));
  for (const model::Frame& frame : frames) {
    REQUIRE(!frame.calls.empty());
    CHECK(frame.calls.back().function == "outer");
  }
}

TEST_CASE("a child of its own finds the same names") {
  const ElfFile file = open_file(SJ_INLINED);
  std::vector<model::Frame> frames = frames_of_outer(file);
  REQUIRE(name_frames_in_child(file, frames));
  CHECK(has_inlined_chain(frames));
}

TEST_CASE("a child that is not done in time is given up, and the names with it") {
  const ElfFile file = open_file(SJ_INLINED);
  std::vector<model::Frame> frames = frames_of_outer(file);
  CHECK(!name_frames_in_child(file, frames, std::chrono::milliseconds(0)));
  CHECK(frames.front().calls.empty());
}

TEST_CASE("without lines a function is the symbol that covers the address") {
  const ElfFile file = open_file(SJ_INLINED);
  std::vector<model::Frame> frames = {frame_at(address_of(file, "main")), frame_at(1),
                                      frame_at(UINT64_MAX)};
  name_frames(file, Lines::kNo, frames);
  REQUIRE(frames[0].calls.size() == 1);
  CHECK(frames[0].calls[0].function == "main");
  CHECK(frames[0].calls[0].line == 0);
  CHECK(frames[1].calls.empty());
  CHECK(frames[2].calls.empty());
}

TEST_CASE("a stripped file gives no names, but the beginnings of its functions") {
  const ElfFile whole = open_file(SJ_INLINED);
  const ElfFile file = open_file(SJ_STRIPPED);
  const std::uint64_t outer = address_of(whole, "outer");
  const std::uint64_t main = address_of(whole, "main");
  std::vector<model::Frame> frames = {frame_at(outer), frame_at(outer + 3), frame_at(main + 1),
                                      frame_at(1)};
  for (std::size_t at = 0; at < frames.size(); ++at) frames[at].id = static_cast<std::uint32_t>(at);
  REQUIRE(name_frames_in_child(file, frames));
  for (const std::size_t at : {0U, 1U, 2U}) {
    REQUIRE(frames[at].calls.size() == 1);
    CHECK(frames[at].calls[0].function == fmt::format("m+{:#x}", at == 2 ? main : outer));
  }
  CHECK(frames[3].calls.empty());
}

TEST_CASE("overwritten debug information ends no test") {
  const std::string whole = test::contents(SJ_INLINED);
  const ElfFile file = open_file(SJ_INLINED);
  const test::TemporaryDirectory directory;
  std::mt19937_64 random(20261122);
  int came_back = 0;
  for (int round = 0; round < 15; ++round) {
    std::string damaged = whole;
    for (const tracee::Section& section : file.sections()) {
      const bool is_wanted = section.name.starts_with(".debug_") || section.name == ".symtab" ||
                             section.name == ".strtab";
      if (!is_wanted || section.bytes == 0) continue;
      for (int hit = 0; hit < 8; ++hit)
        damaged[section.offset + random() % section.bytes] = static_cast<char>(random());
    }
    if (round % 3 == 0) damaged.resize(damaged.size() - random() % (damaged.size() / 2));
    const std::string path = directory.path("damaged");
    test::write_contents(path, damaged);
    const auto opened = ElfFile::open(path, "damaged");
    if (!opened) continue;
    std::vector<model::Frame> frames = frames_of_outer(file);
    // It may fail, with its child; this process goes on.
    came_back += name_frames_in_child(*opened, frames, std::chrono::seconds(5)) ? 1 : 0;
    for (const model::Frame& frame : frames) REQUIRE(frame.module == "m");
  }
  CHECK(came_back > 0);
}

TEST_CASE("C++ names are as people write them, others as they are") {
  CHECK(demangled("_ZN3rlc2Am4sendEi") == "rlc::Am::send(int)");
  CHECK(demangled("main") == "main");
  CHECK(demangled("_Zgarbage") == "_Zgarbage");
  CHECK(demangled("_ZN3rlc2Am4sendEi.part.0") == "rlc::Am::send(int) [clone .part.0]");
  CHECK(demangled(std::string(100'000, 'x')).size() == 8192);
}

}  // namespace
}  // namespace sojourn::symbols
