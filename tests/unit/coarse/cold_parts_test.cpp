// Code of a function that lies elsewhere and has no name, as in stripped files; here in this test
// itself.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/core.h>

#include "userspace/coarse/functions/function_search.h"
#include "userspace/symbols/unwind_table.h"

#ifdef __x86_64__

// Code that compilers would make: the parts without a name stand in front of their functions.
asm(R"asm(
  .pushsection .text
# Entered with a frame, and returns by itself.
.Lframed:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  xor %eax, %eax
  pop %rbx
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
.Lframed_end:
  .type sj_jumps_with_frame, @function
  .globl sj_jumps_with_frame
sj_jumps_with_frame:
  .cfi_startproc
  push %rbx
  .cfi_def_cfa_offset 16
  test %edi, %edi
  je .Lframed
  pop %rbx
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
  .size sj_jumps_with_frame, . - sj_jumps_with_frame

# Entered as a function is, but it comes back.
.Lback:
  .cfi_startproc
  xor %edi, %edi
  jmp .Lback_to
  .cfi_endproc
.Lback_end:
  .type sj_comes_back, @function
  .globl sj_comes_back
sj_comes_back:
  .cfi_startproc
  test %edi, %edi
  js .Lback
.Lback_to:
  mov %edi, %eax
  ret
  .cfi_endproc
  .size sj_comes_back, . - sj_comes_back

# Never comes back.
.Lfatal:
  .cfi_startproc
  push %rax
  .cfi_def_cfa_offset 16
  call abort@PLT
  .cfi_endproc
.Lfatal_end:
  .type sj_may_abort, @function
  .globl sj_may_abort
sj_may_abort:
  .cfi_startproc
  test %edi, %edi
  js .Lfatal
  ret
  .cfi_endproc
  .size sj_may_abort, . - sj_may_abort

# A function of its own, as far as can be seen.
.Lother:
  .cfi_startproc
  mov %edi, %eax
  ret
  .cfi_endproc
  .type sj_ends_with_another, @function
  .globl sj_ends_with_another
sj_ends_with_another:
  .cfi_startproc
  test %edi, %edi
  js .Lother
  jmp sj_comes_back
  .cfi_endproc
  .size sj_ends_with_another, . - sj_ends_with_another

# Through the linker's stub.
  .type sj_ends_with_call, @function
  .globl sj_ends_with_call
sj_ends_with_call:
  .cfi_startproc
  jmp getpid@PLT
  .cfi_endproc
  .size sj_ends_with_call, . - sj_ends_with_call
  .popsection

# What only this test wants to know.
  .pushsection .data.rel.ro, "aw"
  .balign 8
  .globl sj_pieces
sj_pieces:
  .quad .Lframed, .Lframed_end, .Lback, .Lback_end, .Lfatal, .Lfatal_end
  .popsection
)asm");

extern "C" {
extern const std::array<std::uint64_t, 6> sj_pieces;
extern const char sj_jumps_with_frame;
}

namespace sojourn::coarse {
namespace {

tracee::ElfFile this_program() {
  auto file = tracee::ElfFile::open("/proc/self/exe", "this test");
  if (!file) FAIL(file.error().text());
  return std::move(*file);
}

FoundFunction found(const tracee::ElfFile& file, Query query) {
  const auto results = find_functions(file, nullptr, std::array{std::move(query)});
  if (!results) FAIL(results.error().text());
  REQUIRE(results->front().functions.size() == 1);
  return results->front().functions.front();
}

// Converts an address at run time to one in the file.
std::uint64_t in_file(const tracee::ElfFile& file, std::uint64_t address) {
  const auto at = file.symbol("sj_jumps_with_frame");
  REQUIRE(at);
  return address - reinterpret_cast<std::uint64_t>(&sj_jumps_with_frame) + *at;
}

void check_piece(const std::string& name, std::size_t which) {
  CAPTURE(name);
  const auto file = this_program();
  const FoundFunction function = found(file, {.pattern = name});
  REQUIRE(function.pieces.size() == 1);
  CHECK(function.pieces[0].address == in_file(file, sj_pieces.at(2 * which)));
  CHECK(function.pieces[0].bytes == sj_pieces.at(2 * which + 1) - sj_pieces.at(2 * which));
}

TEST_CASE("a part without a name is known by its frame, by where it leads, or by leading nowhere") {
  check_piece("sj_jumps_with_frame", 0);
  check_piece("sj_comes_back", 1);
  check_piece("sj_may_abort", 2);
}

TEST_CASE("code that may be another function is no part") {
  const auto file = this_program();
  CHECK(found(file, {.pattern = "sj_ends_with_another"}).pieces.empty());
  CHECK(found(file, {.pattern = "sj_ends_with_call"}).pieces.empty());
}

TEST_CASE("where code without a name ends is known from the table for unwinding") {
  const auto file = this_program();
  const std::uint64_t address = in_file(file, sj_pieces[0]);
  const FoundFunction function = found(file, {.pattern = {}, .address = address});
  CHECK(function.code.bytes == sj_pieces[1] - sj_pieces[0]);
  // No function begins in its middle.
  const auto results =
      find_functions(file, nullptr, std::array{Query{.pattern = {}, .address = address + 1}});
  if (!results) FAIL(results.error().text());
  CHECK(results->front().functions.empty());
  CHECK(results->front().within == fmt::format("the function at {:#x}", address));
}

TEST_CASE("the table for unwinding knows where a frame is") {
  const auto file = this_program();
  const symbols::UnwindTable table(file.fd());
  const auto begin = file.symbol("sj_jumps_with_frame");
  REQUIRE(begin);
  CHECK_FALSE(table.has_frame_at(*begin));
  CHECK(table.has_frame_at(*begin + 1));  // behind the push
  const auto range = table.range_at(*begin + 1);
  REQUIRE(range);
  CHECK(range->address == *begin);
  CHECK_FALSE(table.range_at(1));
  CHECK_FALSE(table.has_frame_at(1));
}

}  // namespace
}  // namespace sojourn::coarse

#endif
