// Names as people write them, against names as demanglers do.
#include "userspace/coarse/functions/written_name.h"

#include <string>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::coarse {
namespace {

constexpr std::string_view kSdu = "srsran::pdcp_entity_tx::handle_sdu(srsran::byte_buffer)";

TEST_CASE("the beginning of a qualified name may be left out, and not its end") {
  CHECK(likeness(kSdu, "srsran::pdcp_entity_tx::handle_sdu(srsran::byte_buffer)") ==
        Likeness::kSame);
  CHECK(likeness(kSdu, "::srsran::pdcp_entity_tx::handle_sdu") == Likeness::kSame);
  CHECK(likeness(kSdu, "pdcp_entity_tx::handle_sdu") == Likeness::kEnding);
  CHECK(likeness(kSdu, "handle_sdu") == Likeness::kEnding);
  for (const char* none : {"pdcp_entity_tx", "entity_tx::handle_sdu", "x::handle_sdu",
                           "x::srsran::pdcp_entity_tx::handle_sdu", "handle_sdu::x", "", "(",
                           "::", "handle_sdu<", "handle_sdu(", "<", "handle_sdu<>"})
    CHECK(likeness(kSdu, none) == Likeness::kNone);
}

TEST_CASE("parameters are compared as types, by the ends of their names") {
  CHECK(likeness(kSdu, "pdcp_entity_tx::handle_sdu(byte_buffer)") == Likeness::kEnding);
  CHECK(likeness(kSdu, "handle_sdu( byte_buffer )") == Likeness::kEnding);
  for (const char* none : {"handle_sdu()", "handle_sdu(buffer)", "handle_sdu(byte_buffer&)",
                           "handle_sdu(byte_buffer, int)", "handle_sdu(byte_buffer) const"})
    CHECK(likeness(kSdu, none) == Likeness::kNone);
  CHECK(likeness("f(a::T const&, unsigned char*)", "f(const T &, uint8_t *)") == Likeness::kSame);
  CHECK(likeness("f(a::T const&)", "f(T&)") == Likeness::kNone);
  CHECK(likeness("f(char const* const*)", "f(const char* const*)") == Likeness::kSame);
  CHECK(likeness("f()", "f(void)") == Likeness::kSame);
  CHECK(likeness("f(void (*)(int))", "f(void(*)(int))") == Likeness::kSame);
  CHECK(likeness("f(unsigned long, long)", "f(std::size_t, int64_t)") == Likeness::kSame);
  CHECK(likeness("f(unsigned int)", "f(unsigned)") == Likeness::kSame);
  CHECK(likeness("f(unsigned long)", "f(long unsigned int)") == Likeness::kSame);
  CHECK(likeness("f(unsigned long)", "f(unsigned)") == Likeness::kNone);
  CHECK(likeness("a::f(int) const", "f(int)") == Likeness::kEnding);
  CHECK(likeness("a::f(int) const", "f(int) const") == Likeness::kEnding);
}

TEST_CASE("template arguments of a parameter may be left out, those of a function may not") {
  const std::string_view pull = "srsran::rlc_tx_um_entity::pull_pdu(srsran::span<unsigned char>)";
  CHECK(likeness(pull, "rlc_tx_um_entity::pull_pdu(span<uint8_t>)") == Likeness::kEnding);
  CHECK(likeness(pull, "pull_pdu(span)") == Likeness::kEnding);
  CHECK(likeness(pull, "pull_pdu(span<int>)") == Likeness::kNone);
  const std::string_view strings =
      "f(std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, "
      "std::allocator<char> >, std::allocator<std::__cxx11::basic_string<char> > >)";
  CHECK(likeness(strings, "f(std::vector<std::string>)") == Likeness::kSame);
  CHECK(likeness(strings, "f(std::vector<int>)") == Likeness::kNone);
  CHECK(likeness("mac::count<int>(int)", "count<int>") == Likeness::kEnding);
  CHECK(likeness("mac::count<int>(int)", "count") == Likeness::kNone);
  CHECK(likeness("mac::q<unsigned int>::put(int)", "q<uint32_t>::put") == Likeness::kEnding);
}

TEST_CASE("an unnamed namespace may be left out of a written name") {
  const std::string_view hidden = "mac::(anonymous namespace)::run(int)";
  CHECK(likeness(hidden, "mac::run") == Likeness::kSame);
  CHECK(likeness(hidden, "run(int)") == Likeness::kEnding);
  CHECK(likeness(hidden, "mac::(anonymous namespace)::run") == Likeness::kSame);
}

TEST_CASE("no row of brackets is too much") {
  CHECK(likeness(std::string(100'000, '<'), std::string(100'000, '<')) == Likeness::kNone);
  std::string deep = "f(";
  for (int level = 0; level < 3000; ++level) deep += "a<";
  CHECK(likeness(deep, deep) == Likeness::kNone);
}

}  // namespace
}  // namespace sojourn::coarse
