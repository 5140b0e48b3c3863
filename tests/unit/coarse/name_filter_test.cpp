// The filter of the linker's names for a query, before any of them is demangled.
#include "userspace/coarse/functions/name_filter.h"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "userspace/coarse/functions/function_names.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::coarse {
namespace {

bool lets_by(const std::string& pattern, std::string_view linked) {
  const std::vector<std::string> patterns = {pattern};
  NameFilter filter(patterns);
  filter.look({.address = 1, .bytes = 1, .name = 1, .symbol = 1, .file = 0}, linked);
  return !filter.candidates(0).empty();
}

TEST_CASE("a word is found behind its length, also where digits stand before that") {
  CHECK(lets_by("Tx::send", "_ZN3rlc2Tx4sendEi"));
  CHECK(lets_by("send(int)", "_ZN2f14sendEi"));  // f1::send
  CHECK(lets_by("Tx::~Tx", "_ZN3rlc2TxD1Ev"));
  CHECK(lets_by("thunk to Tx::send", "_ZThn8_N3rlc2Tx4sendEi"));
  CHECK(lets_by("msgb_free", "msgb_free@@LIBOSMOCORE_1.0"));
  CHECK(lets_by("f", "f.lto_priv.0"));
  CHECK_FALSE(lets_by("send", "_ZN3rlc2Tx6resendEi"));
  CHECK_FALSE(lets_by("send", "_ZN3rlc2Tx8send_allEi"));
  CHECK_FALSE(lets_by("msgb_free", "msgb_freed"));
}

TEST_CASE("for a glob, its longest word that mangled names contain is searched") {
  CHECK(lets_by("*du::f1u_bearer_impl::handle_?du", "_ZN6srs_du15f1u_bearer_impl10handle_sduEv"));
  CHECK(lets_by("rlc::T?::h*", "_ZN3rlc2Tx1hEv"));
  CHECK(lets_by("*", "anything"));
  CHECK_FALSE(lets_by("*bearer*", "_ZN3rlc2Tx4sendEi"));
}

TEST_CASE("a class that mangled names abbreviate is found by its name") {
  CHECK(lets_by("std::allocator<int>::~allocator", "_ZNSaIiED2Ev"));
  CHECK(lets_by("~allocator", "_ZNSaIhED2Ev"));
  CHECK(lets_by("std::string::basic_string", "_ZNSsC1Ev"));
}

// Checks all functions of this program, which has C++ of all kinds in it.
TEST_CASE("names that fit are never dropped") {
  const auto file = tracee::ElfFile::open("/proc/self/exe", "this test");
  REQUIRE(file);
  const auto functions = file->functions();
  REQUIRE(functions);
  REQUIRE(functions->size() > 1000);
  std::vector<std::string> patterns = {"*",
                                       "*::*",
                                       "std::*",
                                       "*string*",
                                       "main",
                                       "*::operator*",
                                       "*basic_string<char*",
                                       "_ZN7sojourn*",
                                       "*lambda*"};
  const std::size_t globs = patterns.size();
  const std::size_t step = functions->size() / 150;
  for (std::size_t at = 0; at < functions->size(); at += step) {
    const FunctionName name = function_name((*functions)[at].name);
    patterns.push_back(name.shown);
    patterns.emplace_back(without_parameters(name.shown));
    patterns.emplace_back(last_part(name.shown));
    if (name.is_thunk) patterns.push_back("thunk to " + std::string(behind_thunk(name.shown)));
  }
  NameFilter filter(patterns);
  for (std::uint32_t at = 0; at < functions->size(); ++at)
    filter.look({.address = 0, .bytes = 0, .name = 0, .symbol = at, .file = 0},
                (*functions)[at].name);
  std::size_t fitting = 0;
  // Each of the globs with all functions; the others with some, as each is demangled.
  for (std::uint32_t at = 0; at < functions->size(); at += 7) {
    const FunctionName name = function_name((*functions)[at].name);
    for (std::size_t query = 0; query < patterns.size(); ++query) {
      if (query >= globs && (query + at) % 5 != 0) continue;
      if (fit(name, patterns[query]) == Fit::kNot) continue;
      ++fitting;
      const auto& candidates = filter.candidates(query);
      const bool is_there = std::ranges::any_of(
          candidates, [&](const symbols::TableFunction& one) { return one.symbol == at; });
      if (!is_there) FAIL_CHECK(patterns[query] << " fits " << name.linked);
    }
  }
  CHECK(fitting > 500);
}

TEST_CASE("the last word of a mangled name is its function's") {
  CHECK(last_word("_ZN3rlc2Tx4sendEi") == "send");
  CHECK(last_word("_ZNK3rlc2Tx4sendEi.cold") == "send");
  CHECK(last_word("_ZL4helpv") == "help");
  CHECK(last_word("_ZNSt6vectorIiE4pushEv") == "vector");
  CHECK(last_word("msgb_free@@X") == "msgb_free");
  CHECK(last_word("_Z") == "");
}

}  // namespace
}  // namespace sojourn::coarse
