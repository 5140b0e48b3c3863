// The places of probes in the beginnings of functions, in compilers' code and in unusual code.
#include "userspace/coarse/code/prologue.h"

#include <random>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/coarse/code_of.h"

namespace sojourn::coarse {
namespace {

constexpr std::uint64_t kAddress = 0x401000;
constexpr std::uint32_t kRdi = 1U << 14;

struct Wanted {
  std::uint32_t registers = kRdi;
  bool stack = false;
  bool is_whole = true;
  std::vector<std::uint64_t> entered_at = {};
  KernelNops nops = {};
};

Result<ProbeSite> site_in(const std::string& hexadecimal, const Wanted& wanted) {
  const auto bytes = code_of(hexadecimal);
  return find_site(
      {.address = kAddress,
       .bytes = bytes,
       .is_whole = wanted.is_whole,
       .entered_at = wanted.entered_at},
      {.registers = wanted.registers, .stack_arguments = wanted.stack, .nops = wanted.nops});
}

void check_site(const std::string& hexadecimal, const Wanted& wanted, std::uint64_t offset,
                bool is_stepped, const std::string& instruction) {
  CAPTURE(hexadecimal);
  const auto site = site_in(hexadecimal, wanted);
  if (!site) FAIL(site.error().text());
  CHECK(site->offset == offset);
  CHECK(site->is_stepped == is_stepped);
  CHECK(site->instruction == instruction);
}

void check_none(const std::string& hexadecimal, const Wanted& wanted, const std::string& words) {
  CAPTURE(hexadecimal);
  const auto site = site_in(hexadecimal, wanted);
  REQUIRE_FALSE(site);
  CAPTURE(site.error().text());
  CHECK(site.error().text().contains(words));
}

TEST_CASE("a push at the entry is taken, and behind endbr64") {
  check_site("55 48 89 e5 c3", {}, 0, false, "push rbp");
  check_site("f3 0f 1e fa 55 48 89 e5 c3", {}, 4, false, "push rbp");
  check_site("f3 0f 1e fa 41 57 c3", {}, 4, false, "push r15");
}

TEST_CASE("instructions that leave the arguments alone are passed on the way to a better one") {
  check_site("48 89 f8 41 57 c3", {}, 3, false, "push r15");                  // mov rax, rdi
  check_site("48 85 ff 74 01 c3 c3", {}, 3, false, "jz 0x0000000000401006");  // test rdi, rdi
  check_site("0f 1f 44 00 00 55 c3", {}, 5, false, "push rbp");               // a nop of five bytes
  check_site("c5 f9 6f 07 53 c3", {}, 4, false, "push rbx");                  // vmovdqa xmm0, [rdi]
  check_site("89 f7 53 c3", {.registers = 0}, 2, false, "push rbx");          // mov edi, esi
  check_site("90 c3", {}, 0, false, "nop");
}

TEST_CASE("the harmless nops that clang leaves at an entry are used") {
  check_site("66 90 8d 47 01 c3", {}, 0, false, "nop");
  // If no better instruction follows, it is as good a place for a single step as any, and cheap on
  // newer kernels.
  check_site("0f 1f 00 8d 47 01 c3", {}, 0, true, "nop [rax], eax");
  check_site("0f 1f 40 08 55 c3", {}, 4, false, "push rbp");
  check_site("66 0f 1f 84 00 00 02 00 00 8d 47 01 c3", {}, 0, true, "nop [rax+rax*1+0x200], ax");
  // Nops of five and of ten bytes, in any form: kernels make calls of some.
  check_site("0f 1f 44 00 00 8d 47 01 c3", {}, 5, true, "lea eax, [rdi+0x01]");
  check_site("0f 1f 44 00 08 8d 47 01 c3", {}, 5, true, "lea eax, [rdi+0x01]");
  check_site("2e 66 0f 1f 84 00 00 02 00 00 8d 47 01 c3", {}, 10, true, "lea eax, [rdi+0x01]");
}

TEST_CASE("if the kernel emulates longer nops, its own forms of them are accepted") {
  const Wanted newer{.nops = {.emulates_long = true}};
  for (const char* nop : {"0f 1f 00", "0f 1f 40 00", "66 0f 1f 44 00 00", "0f 1f 80 00 00 00 00",
                          "0f 1f 84 00 00 00 00 00"}) {
    CAPTURE(nop);
    const auto site = site_in(std::string(nop) + " 8d 47 01 c3", newer);
    REQUIRE(site);
    CHECK(site->offset == 0);
    CHECK_FALSE(site->is_stepped);
  }
  check_site("0f 1f 44 00 00 8d 47 01 c3", newer, 5, true, "lea eax, [rdi+0x01]");
  check_site("0f 1f 40 08 8d 47 01 c3", newer, 0, true, "nop [rax+0x08], eax");
  check_none("0f 1f", newer, "cannot be decoded");
}

TEST_CASE("nops of five and of ten bytes are taken where this kernel does them well, each") {
  const char* const kFive = "0f 1f 44 00 00 8d 47 01 c3";
  const char* const kTen = "66 2e 0f 1f 84 00 00 00 00 00 8d 47 01 c3";
  const Wanted five{.nops = {.takes_five = true}};
  check_site(kFive, five, 0, false, "nop [rax+rax*1], eax");
  check_site(kTen, five, 10, true, "lea eax, [rdi+0x01]");
  const Wanted ten{.nops = {.takes_ten = true}};
  check_site(kFive, ten, 5, true, "lea eax, [rdi+0x01]");
  check_site(kTen, ten, 0, false, "nop [rax+rax*1], ax");
  // Another form of the same length is not what was tried.
  check_site("0f 1f 44 00 08 8d 47 01 c3", five, 5, true, "lea eax, [rdi+0x01]");
  check_none("66 2e 0f 1f 84 00 00 00 00", ten, "cannot be decoded");
}

TEST_CASE("an argument that is written over ends the search") {
  check_site("89 f7 53 c3", {}, 0, true, "mov edi, esi");
  // mov bh, 1 is no argument; mov dil, 1 is a part of one.
  check_site("b7 01 53 c3", {}, 2, false, "push rbx");
  check_site("40 b7 01 53 c3", {}, 0, true, "mov dil, 0x01");
}

TEST_CASE("how far the stack pointer has come by then is known") {
  const auto site = site_in("48 83 ec 18 e8 00 00 00 00 c3", {});  // sub rsp, 24; call
  REQUIRE(site);
  CHECK(site->offset == 4);
  CHECK_FALSE(site->is_stepped);
  CHECK(site->stack_bytes == 24);
  const auto by_lea = site_in("48 8d 64 24 f0 53 c3", {});  // lea rsp, [rsp - 16]
  REQUIRE(by_lea);
  CHECK(by_lea->stack_bytes == 16);
  // and rsp, -16: by how much the stack pointer changes is not known.
  check_site("48 83 e4 f0 53 c3", {}, 0, true, "and rsp, 0xFFFFFFFFFFFFFFF0");
}

TEST_CASE("a write to memory may change a pointer's target") {
  check_site("48 c7 07 00 00 00 00 53 c3", {}, 0, true, "mov qword ptr [rdi], 0x00");
  // The own frame is no argument's business, unless arguments are there.
  check_site("48 89 7c 24 f8 53 c3", {}, 5, false, "push rbx");  // mov [rsp - 8], rdi
  check_site("48 89 7c 24 f8 53 c3", {.stack = true}, 5, false, "push rbx");
  check_site("48 89 7c 24 08 53 c3", {}, 5, false, "push rbx");
  check_site("48 89 7c 24 08 53 c3", {.stack = true}, 0, true, "mov [rsp+0x08], rdi");
}

TEST_CASE("without an emulated instruction, the first that can be stepped over is used") {
  check_site("48 8d 04 7f c3", {}, 0, true, "lea rax, [rdi+rdi*2]");
  check_site("f3 0f 1e fa c3", {}, 4, true, "ret");
  check_site("c5 f9 6f 07 c3", {}, 4, true, "ret");
}

TEST_CASE("a place that the function itself jumps to is passed once a call no more") {
  // endbr64; add rdi, rsi; jnz back to the add; ret
  check_none("f3 0f 1e fa 48 01 f7 75 fb c3", {}, "jumps back to +0x4");
  // mov rax, rdi; push rbx, and a jump to the push.
  check_site("48 89 f8 53 5b 75 fc c3", {}, 0, true, "mov rax, rdi");
  // A jump to the very beginning is a call as any.
  check_site("53 5b 75 fc c3", {}, 0, false, "push rbx");
  check_site("48 89 f8 53 5b c3", {.entered_at = {kAddress + 3}}, 0, true, "mov rax, rdi");
  check_site("48 89 f8 53 5b c3", {.entered_at = {kAddress + 4}}, 3, false, "push rbx");
}

TEST_CASE("without a known end no more than endbr64 is passed") {
  check_site("f3 0f 1e fa 55 c3", {.is_whole = false}, 4, false, "push rbp");
  check_site("48 89 f8 55 c3", {.is_whole = false}, 0, true, "mov rax, rdi");
  // A byte that is no instruction, further down.
  check_site("48 89 f8 55 c3 06", {}, 0, true, "mov rax, rdi");
}

TEST_CASE("an instruction that the kernel refuses, or may refuse, is no place for a probe") {
  check_none("c5 f9 6f 07 ff e0", {}, "jmp rax");                 // vector, then an indirect jump
  check_none("f0 48 0f c1 07 c3", {}, "writes to memory");        // lock xadd
  check_none("64 48 8b 04 25 28 00 00 00 ff e0", {}, "jmp rax");  // mov rax, fs:[40]
  check_none("66 e8 00 00 00 00 ff e0", {}, "");
  check_none("cc c3", {}, "int3");
  check_none("0f 05", {}, "syscall");
  check_none("06", {}, "cannot be decoded");
  check_none("", {}, "cannot be decoded");
}

TEST_CASE("a site is within the function, for any bytes") {
  std::mt19937 random(3);
  int found = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::vector<std::byte> bytes(random() % 40);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    if (bytes.size() > 4 && random() % 2 == 0) {
      bytes[0] = std::byte{0x48};
      bytes[1] = std::byte{0x89};
    }
    const auto site =
        find_site({.address = kAddress, .bytes = bytes},
                  {.registers = static_cast<std::uint32_t>(random()), .stack_arguments = true});
    if (!site) continue;
    ++found;
    CHECK(site->offset < bytes.size());
  }
  CHECK(found > 1000);
}

}  // namespace
}  // namespace sojourn::coarse
