// The exits of functions, in compilers' code and in unusual code.
#include "userspace/coarse/code/exits.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/coarse/code_of.h"

namespace sojourn::coarse {
namespace {

constexpr std::uint64_t kAddress = 0x401000;
constexpr std::uint64_t kPiece = 0x400800;

Result<std::vector<Exit>> exits_in(const std::string& hexadecimal, const std::string& piece = "",
                                   bool is_whole = true) {
  const auto bytes = code_of(hexadecimal);
  const auto of_piece = code_of(piece);
  std::vector<FunctionCode> pieces;
  if (!of_piece.empty()) pieces.push_back({.address = kPiece, .bytes = of_piece});
  return find_exits({.address = kAddress, .bytes = bytes, .is_whole = is_whole}, pieces);
}

// The offset of an exit, and its text.
using Found = std::vector<std::pair<std::uint64_t, std::string>>;

void check_exits(const std::string& hexadecimal, const Found& wanted,
                 const std::string& piece = "") {
  CAPTURE(hexadecimal);
  const auto exits = exits_in(hexadecimal, piece);
  if (!exits) FAIL(exits.error().text());
  Found found;
  for (const Exit& exit : *exits) found.emplace_back(exit.address, exit.instruction);
  CHECK(found == wanted);
}

void check_none(const std::string& hexadecimal, const std::string& words,
                const std::string& piece = "") {
  CAPTURE(hexadecimal);
  const auto exits = exits_in(hexadecimal, piece);
  REQUIRE_FALSE(exits);
  CAPTURE(exits.error().text());
  CHECK(exits.error().text().contains(words));
}

TEST_CASE("a function is left at each of its returns") {
  // test edi, edi; jz +1; ret; xor eax, eax; ret
  check_exits("85 ff 74 01 c3 31 c0 c3", {{kAddress + 4, "ret"}, {kAddress + 7, "ret"}});
  check_exits("53 5b c2 08 00", {{kAddress + 2, "ret 0x08"}});
  const auto exits = exits_in("f3 c3");
  REQUIRE(exits);
  REQUIRE(exits->size() == 1);
  CHECK(exits->front().is_return);
  CHECK(exits->front().is_stepped);
}

TEST_CASE("a jump to elsewhere is an exit, one within the function and its pieces is not") {
  // push rbx; pop rbx; jmp far behind
  auto exits = exits_in("53 5b e9 00 01 00 00");
  REQUIRE(exits);
  REQUIRE(exits->size() == 1);
  CHECK(exits->front().address == kAddress + 2);
  CHECK_FALSE(exits->front().is_return);
  CHECK_FALSE(exits->front().is_stepped);
  // jmp over a nop to the return
  check_exits("eb 01 90 c3", {{kAddress + 3, "ret"}});
  // jnz to the piece in front, which jumps back: 0x400800 - 0x401006; ret
  check_exits("0f 85 fa f7 ff ff c3", {{kAddress + 6, "ret"}}, "e9 01 08 00 00");
  // A piece may have a return of its own.
  check_exits("0f 85 fa f7 ff ff c3", {{kAddress + 6, "ret"}, {kPiece + 1, "ret"}}, "90 c3");
}

TEST_CASE("a call through a pointer at the end is an exit, a switch is not") {
  check_exits("ff 67 18", {{kAddress, "jmp [rdi+0x18]"}});  // a virtual function
  check_exits("ff 25 00 10 00 00", {{kAddress, "jmp [0x0000000000402006]"}});
  check_exits("48 8b 07 ff e0", {{kAddress + 3, "jmp rax"}});  // mov rax, [rdi]
  check_exits("48 89 f0 ff e0", {{kAddress + 3, "jmp rax"}});  // mov rax, rsi
  check_exits("ff e7", {{kAddress, "jmp rdi"}});
  // movsxd rax, [rdx + rax*4]; add rax, rdx; jmp rax; ret
  check_exits("48 63 04 82 48 01 d0 ff e0 c3", {{kAddress + 9, "ret"}});
  check_exits("3e ff e0 c3", {{kAddress + 3, "ret"}});              // notrack jmp rax
  check_exits("ff 24 c5 00 10 40 00 c3", {{kAddress + 7, "ret"}});  // jmp [rax*8 + table]
  check_exits("48 8b 04 c5 00 10 40 00 ff e0 c3", {{kAddress + 10, "ret"}});
  check_none("48 8d 04 b7 ff e0", "may be a switch");  // lea rax, [rdi + rsi*4]
}

TEST_CASE("a function whose end is not certain has no exits") {
  check_none("74 10 c3", "may be an exit");  // jz to elsewhere
  check_none("48 ff cf 75 fb c3", "jumps back to its beginning");
  check_none("eb fe", "jumps back to its beginning");
  check_none("90 eb fd", "jumps back to its beginning");
  check_none("90 eb fe", "never return");
  check_none("c3 06", "+0x1 cannot be decoded");
  check_none("cb", "no plain return");
  check_none("48 cf", "no plain return");
  check_none("", "never return");
  check_none("c3", "cannot be decoded", "06");
  REQUIRE_FALSE(exits_in("c3", "", false));
  CHECK(exits_in("c3", "", false).error().text().contains("the end of its code"));
  std::string many;
  for (int at = 0; at < 300; ++at) many += "c3 ";
  check_none(many, "left at 300 places");
}

TEST_CASE("an exit is within the function, for any bytes") {
  std::mt19937 random(5);
  int found = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::vector<std::byte> bytes(random() % 24);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    if (!bytes.empty()) bytes.back() = std::byte{0xc3};
    const auto exits = find_exits({.address = kAddress, .bytes = bytes}, {});
    if (!exits) continue;
    ++found;
    for (const Exit& exit : *exits) {
      CHECK(exit.address >= kAddress);
      CHECK(exit.address < kAddress + bytes.size());
    }
  }
  CHECK(found > 1000);
}

}  // namespace
}  // namespace sojourn::coarse
