#include "userspace/symbols/kernel_symbols.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::symbols {
namespace {

TEST_CASE("a kernel address is in the last function before it") {
  const KernelSymbols symbols(
      "ffffffff81000200 t second\n"
      "ffffffff81000100 T first\n"
      "ffffffff81000180 D data_is_no_function\n"
      "ffffffffc0000000 t of_a_module\t[nf_tables]\n");
  CHECK(symbols.function_at(0xffffffff81000100) == "first");
  CHECK(symbols.function_at(0xffffffff810001ff) == "first");
  CHECK(symbols.function_at(0xffffffff81000200) == "second");
  CHECK(symbols.function_at(0xffffffffc0000010) == "of_a_module");
  CHECK(symbols.function_at(0xffffffff810000ff).empty());
}

TEST_CASE("without the rights all addresses are 0, and nothing is known") {
  const KernelSymbols symbols("0000000000000000 T first\n0000000000000000 T second\n");
  CHECK(symbols.function_at(0xffffffff81000100).empty());
}

TEST_CASE("invalid lines are skipped") {
  const KernelSymbols symbols("\nxyz\nffffffff81000100\nffffffff81000100 TT x\n1000 T only\n");
  CHECK(symbols.function_at(0x1001) == "only");
}

}  // namespace
}  // namespace sojourn::symbols
