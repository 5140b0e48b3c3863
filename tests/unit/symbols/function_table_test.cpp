// A file's functions in one pass, compared with what libelf says of them.
#include "userspace/symbols/function_table.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/child.h"

namespace sojourn::symbols {
namespace {

tracee::ElfFile open_file(const std::string& path) {
  auto file = tracee::ElfFile::open(path, path);
  if (!file) FAIL(file.error().text());
  return std::move(*file);
}

FunctionTable read_table(const tracee::ElfFile& file, std::vector<std::string>* names = nullptr) {
  const std::array files = {&file};
  auto table = FunctionTable::read(files, [&](const TableFunction&, std::string_view name) {
    if (names != nullptr) names->emplace_back(name);
  });
  if (!table) FAIL(table.error().text());
  return std::move(*table);
}

TEST_CASE("a table has the functions that the file has, by address, with names and ends") {
  const auto file = open_file("/proc/self/exe");
  const auto expected = file.functions();
  REQUIRE(expected);
  std::vector<std::string> looked_at;
  const FunctionTable table = read_table(file, &looked_at);
  REQUIRE(table.functions().size() == expected->size());
  CHECK(looked_at.size() == expected->size());
  for (std::size_t at = 0; at < expected->size(); ++at) {
    const TableFunction& one = table.functions()[at];
    REQUIRE(one.address == (*expected)[at].address);
    REQUIRE(one.bytes == (*expected)[at].bytes);
    REQUIRE(table.name(one) == (*expected)[at].name);
    REQUIRE(is_symbol(file, one.symbol, one.address, table.name(one)));
  }
  const auto main = file.symbol("main");
  REQUIRE(main);
  REQUIRE(table.at(*main).size() == 1);
  CHECK(table.name(table.at(*main)[0]) == "main");
  CHECK(table.has_function_in({*main, 1}));
  CHECK_FALSE(table.has_function_in({*main + 1, 1}));
  CHECK(table.around(*main + 1).size() == 1);
}

TEST_CASE("a row of the symbol table is only the function that it says") {
  const auto file = open_file("/proc/self/exe");
  const FunctionTable table = read_table(file);
  const TableFunction& one = table.functions()[table.functions().size() / 2];
  const std::string name(table.name(one));
  CHECK(is_symbol(file, one.symbol, one.address, name));
  CHECK_FALSE(is_symbol(file, one.symbol, one.address + 1, name));
  CHECK_FALSE(is_symbol(file, one.symbol, one.address, name + "x"));
  CHECK_FALSE(is_symbol(file, one.symbol, one.address, name.substr(1)));
  CHECK_FALSE(is_symbol(file, 0xffffffff, one.address, name));
  CHECK_FALSE(is_symbol(file, 0, one.address, name));
}

TEST_CASE("a file without names has an empty table") {
  const auto file = open_file(SJ_STRIPPED);
  const FunctionTable table = read_table(file);
  for (const TableFunction& one : table.functions()) CHECK(!table.name(one).empty());
  CHECK(table.at(1).empty());
}

TEST_CASE("names that reach beyond their table are ignored") {
  const auto file = open_file(SJ_INLINED);
  std::string bytes = test::contents(SJ_INLINED);
  const auto* const strings = file.section(".strtab");
  REQUIRE(strings != nullptr);
  // The last name has no end any more.
  bytes[strings->offset + strings->bytes - 1] = 'x';
  const test::TemporaryDirectory directory;
  test::write_contents(directory.path("endless"), bytes);
  const auto damaged = open_file(directory.path("endless"));
  const FunctionTable table = read_table(damaged);
  for (const TableFunction& one : table.functions()) CHECK(table.name(one).size() < strings->bytes);
}

}  // namespace
}  // namespace sojourn::symbols
