// Answers about a file that are kept between runs, of this test itself.
#include "userspace/coarse/functions/answer_cache.h"

#include <array>
#include <cstdlib>
#include <filesystem>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/child.h"

extern "C" {
[[gnu::noipa, gnu::used]] int sj_cached_function(int number) {
  return number + 5;
}
}

namespace sojourn::coarse {
namespace {

// The user's cache is a directory of this test as long as this lives.
class OwnHome {
 public:
  OwnHome() { setenv("XDG_CACHE_HOME", path().c_str(), 1); }
  ~OwnHome() { unsetenv("XDG_CACHE_HOME"); }
  OwnHome(const OwnHome&) = delete;
  OwnHome& operator=(const OwnHome&) = delete;

  std::string path() const { return directory_.path("cache"); }
  // The only file that is kept.
  std::string kept() const {
    for (const auto& one : std::filesystem::directory_iterator(path() + "/sojourn/functions"))
      return one.path();
    return {};
  }

 private:
  test::TemporaryDirectory directory_;
};

tracee::ElfFile this_program() {
  auto file = tracee::ElfFile::open("/proc/self/exe", "this test");
  if (!file) FAIL(file.error().text());
  return std::move(*file);
}

const Query kQuery{.pattern = "sj_cached_function"};

TEST_CASE("the next run reads the answer of a search as it was") {
  const OwnHome home;
  const auto file = this_program();
  REQUIRE_FALSE(file.build_id().empty());
  const auto first = find_functions(file, nullptr, std::array{kQuery});
  if (!first) FAIL(first.error().text());
  REQUIRE(first->front().functions.size() == 1);
  CHECK(home.kept().ends_with(file.build_id()));
  const auto cache = AnswerCache::of(file, nullptr);
  REQUIRE(cache);
  const auto known = cache->find(kQuery);
  REQUIRE(known);
  REQUIRE(known->functions.size() == 1);
  CHECK(known->functions[0].code.address == first->front().functions[0].code.address);
  CHECK(known->functions[0].shown == "sj_cached_function");
  CHECK_FALSE(cache->find({.pattern = "sj_cached_function2"}));
  CHECK_FALSE(cache->find({.pattern = "sj_cached_function", .variables = {"x"}}));
  const auto second = find_functions(file, nullptr, std::array{kQuery});
  REQUIRE(second);
  CHECK(second->front().functions.size() == 1);
}

TEST_CASE("an answer that the file's symbol table does not bear out is not believed") {
  const OwnHome home;
  const auto file = this_program();
  auto found = search_functions(file, nullptr, std::array{kQuery});
  if (!found) FAIL(found.error().text());
  for (const bool is_elsewhere : {false, true}) {
    SearchResult answer = found->front();
    if (is_elsewhere)
      answer.functions.front().code.address += 1;
    else
      answer.functions.front().symbol += 1;
    auto cache = AnswerCache::of(file, nullptr);
    REQUIRE(cache);
    cache->add(kQuery, answer);
    cache->store();
    CHECK_FALSE(AnswerCache::of(file, nullptr)->find(kQuery));
    const auto again = find_functions(file, nullptr, std::array{kQuery});
    REQUIRE(again);
    CHECK(again->front().functions.front().code.address ==
          found->front().functions.front().code.address);
  }
}

TEST_CASE("damage to a kept answer costs a search, and nothing else") {
  const OwnHome home;
  const auto file = this_program();
  REQUIRE(find_functions(file, nullptr, std::array{kQuery}));
  const std::string whole = test::contents(home.kept());
  for (std::size_t at = 0; at < whole.size(); at += whole.size() / 50 + 1) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] + 1);
    test::write_contents(home.kept(), damaged);
    const auto cache = AnswerCache::of(file, nullptr);
    REQUIRE(cache);
    CHECK_FALSE(cache->find(kQuery));
  }
  const auto found = find_functions(file, nullptr, std::array{kQuery});
  REQUIRE(found);
  CHECK(found->front().functions.size() == 1);
}

}  // namespace
}  // namespace sojourn::coarse
