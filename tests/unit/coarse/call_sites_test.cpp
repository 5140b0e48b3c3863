// The places where a function is called, in a real file: this test itself.
#include "userspace/coarse/code/call_sites.h"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include "userspace/coarse/functions/call_search.h"

// Functions with known paths, which no compiler may write.
asm(R"asm(
  .pushsection .text
  .globl sj_called
  .type sj_called, @function
sj_called:
  .cfi_startproc
  mov 8(%rdi), %rax
  ret
  .cfi_endproc
  .size sj_called, . - sj_called

  .globl sj_calls_twice
  .type sj_calls_twice, @function
sj_calls_twice:
  .cfi_startproc
  push %rbx
  .cfi_def_cfa_offset 16
  .globl sj_first_call
sj_first_call:
  call sj_called
  .globl sj_second_call
sj_second_call:
  call getppid@PLT
  pop %rbx
  .cfi_def_cfa_offset 8
  .globl sj_jump
sj_jump:
  jmp sj_called
  .cfi_endproc
  .size sj_calls_twice, . - sj_calls_twice

# The bytes of a call of sj_called, as the number in another instruction.
  .globl sj_hides_call
  .type sj_hides_call, @function
sj_hides_call:
  .cfi_startproc
  .byte 0x48, 0xb8, 0xe8
  .long sj_called - . - 4
  .byte 0, 0, 0
  ret
  .cfi_endproc
  .size sj_hides_call, . - sj_hides_call
  .popsection
)asm");

namespace sojourn::coarse {
namespace {

tracee::ElfFile this_program() {
  auto file = tracee::ElfFile::open("/proc/self/exe", "this test");
  if (!file) FAIL(file.error().text());
  return std::move(*file);
}

std::uint64_t address_of(const tracee::ElfFile& file, const char* name) {
  const auto address = file.symbol(name);
  REQUIRE(address);
  return *address;
}

TEST_CASE("a function's calls are found, and jumps in the place of one, and no more") {
  const auto file = this_program();
  const auto found = find_calls(file, "sj_called", address_of(file, "sj_called"));
  if (!found) FAIL(found.error().text());
  CHECK(found->sites ==
        std::vector<CallSite>{{.address = address_of(file, "sj_first_call"), .is_jump = false},
                              {.address = address_of(file, "sj_jump"), .is_jump = true}});
  CHECK_FALSE(found->has_pointers);
}

TEST_CASE("a call through the linker's stub is one of the other file's function") {
  const auto file = this_program();
  const auto found = find_calls(file, "getppid", std::nullopt);
  if (!found) FAIL(found.error().text());
  CHECK(std::ranges::find(found->sites, address_of(file, "sj_second_call"), &CallSite::address) !=
        found->sites.end());
  CHECK(find_calls(file, "nothing_calls_this", std::nullopt)->sites.empty());
}

}  // namespace
}  // namespace sojourn::coarse
