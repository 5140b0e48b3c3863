// Functions looked for by name in a real file: this test itself.
#include "userspace/coarse/functions/function_search.h"

#include <array>

#include <catch2/catch_test_macros.hpp>

extern "C" {
[[gnu::noipa, gnu::used]] int sj_searched_for(int number) noexcept {
  return number + 1;
}
[[gnu::alias("sj_searched_for")]] int sj_folded_into_it(int number) noexcept;
}

namespace sojourn::coarse {

namespace searched {
struct Thing {
  [[gnu::noipa, gnu::used]] static int handle(int number) { return number + 2; }
  [[gnu::noipa, gnu::used]] static int handle(const char* text) { return text[0]; }
  [[gnu::noipa, gnu::used]] static int only(int number) { return number + 3; }
};
[[gnu::noipa, gnu::used]] int only_here(int number) {
  return number + 4;
}

// Its second base is 8 bytes into it: a call through that base comes by a thunk, into which gcc
// copies small methods.
struct First {
  First() = default;
  First(const First&) = delete;
  First& operator=(const First&) = delete;
  virtual ~First() = default;
  virtual int first() { return 1; }
};
struct Second {
  Second() = default;
  Second(const Second&) = delete;
  Second& operator=(const Second&) = delete;
  virtual ~Second() = default;
  virtual int through_thunk(int number) { return number; }
};
struct Both : First, Second {
  int first() override { return value_; }
  [[gnu::noinline]] int through_thunk(int number) override;
  int value_ = 3;
};
int Both::through_thunk(int number) {
  return value_ + only_here(number);
}
}  // namespace searched

namespace {

tracee::ElfFile this_program() {
  auto file = tracee::ElfFile::open("/proc/self/exe", "this test");
  if (!file) FAIL(file.error().text());
  return std::move(*file);
}

SearchResult search(const std::string& pattern) {
  const auto file = this_program();
  auto results = find_functions(file, nullptr, std::array{Query{.pattern = pattern}});
  if (!results) FAIL(results.error().text());
  REQUIRE(results->size() == 1);
  return std::move(results->front());
}

TEST_CASE("a function is found where its symbol is, with those that are the same code") {
  const SearchResult result = search("sj_searched_for");
  REQUIRE(result.functions.size() == 1);
  CHECK(this_program().symbol("sj_searched_for") == result.functions[0].code.address);
  CHECK(result.functions[0].code.bytes > 0);
  CHECK(result.functions[0].folded == std::vector<std::string>{"sj_folded_into_it"});
}

TEST_CASE("a method is found by the end of its name") {
  const SearchResult result = search("Thing::only");
  REQUIRE(result.functions.size() == 1);
  CHECK(result.functions[0].shown == "sojourn::coarse::searched::Thing::only(int)");
  CHECK(result.near.empty());
}

TEST_CASE("a method is distinguished from its thunk, and each is found by its own name") {
  searched::Both both;
  searched::Second& second = both;
  CHECK(second.through_thunk(1) == 8);  // both are linked
  const SearchResult method = search("Both::through_thunk");
  REQUIRE(method.functions.size() == 1);
  CHECK(method.ambiguous.empty());
  CHECK(method.functions[0].linked.starts_with("_ZN"));
  CHECK(search("Both::through_thunk(int)").functions.size() == 1);
  CHECK(search("*Both::through_thunk*").functions.size() == 1);
  const SearchResult thunk = search("thunk to Both::through_thunk");
  REQUIRE(thunk.functions.size() == 1);
  CHECK(thunk.functions[0].linked.starts_with("_ZTh"));
  CHECK(thunk.functions[0].code.address != method.functions[0].code.address);
  CHECK(thunk.functions[0].copies.empty());
}

TEST_CASE("overloads are reported, and all are taken by a glob, or one by its parameters") {
  const SearchResult result = search("searched::Thing::handle");
  CHECK(result.functions.empty());
  REQUIRE(result.ambiguous.size() == 2);
  CHECK(result.ambiguous[0] == "sojourn::coarse::searched::Thing::handle(char const*)");
  CHECK(search("*searched::Thing::handle").functions.size() == 2);
  CHECK(search("searched::Thing::handle(int)").functions.size() == 1);
}

TEST_CASE("an address within a function is distinguished from the beginning of a function") {
  const auto file = this_program();
  const auto begin = file.symbol("sj_searched_for");
  REQUIRE(begin);
  const auto results = find_functions(file, nullptr,
                                      std::array{Query{.pattern = {}, .address = *begin},
                                                 Query{.pattern = {}, .address = *begin + 1}});
  if (!results) FAIL(results.error().text());
  REQUIRE(results->size() == 2);
  CHECK(results->front().functions.size() == 1);
  CHECK(results->front().within.empty());
  CHECK(results->back().functions.empty());
  CHECK(results->back().within.ends_with("+0x1"));
}

TEST_CASE("similar names are suggested") {
  const SearchResult result = search("sj_serched_for");
  CHECK(result.functions.empty());
  CHECK(result.near == std::vector<std::string>{"sj_searched_for"});
  CHECK(search("Thing::onyl").near ==
        std::vector<std::string>{"sojourn::coarse::searched::Thing::only(int)"});
  CHECK(search("nothing_like_this_at_all").near.empty());
}

TEST_CASE("several are looked for at once, each with its own result") {
  const auto file = this_program();
  const std::array patterns = {Query{.pattern = "only_here"}, Query{.pattern = "?"},
                               Query{.pattern = "*::Thing::*"}};
  const auto results = find_functions(file, nullptr, patterns);
  REQUIRE(results);
  REQUIRE(results->size() == 3);
  CHECK((*results)[0].functions.size() == 1);
  CHECK((*results)[2].functions.size() == 3);
}

}  // namespace
}  // namespace sojourn::coarse
