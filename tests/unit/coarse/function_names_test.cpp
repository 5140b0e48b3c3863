// The functions that a map's words mean.
#include "userspace/coarse/functions/function_names.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::coarse {
namespace {

// rlc::Tx::handle_sdu(int) const; void mac::count<int>(int); two with names of C
constexpr const char* kMethod = "_ZNK3rlc2Tx10handle_sduEi";
constexpr const char* kTemplate = "_ZN3mac5countIiEEvT_";

TEST_CASE("names lose their decorations") {
  CHECK(without_parameters("rlc::Tx::handle_sdu(int) const") == "rlc::Tx::handle_sdu");
  CHECK(without_parameters("void mac::count<int>(int)") == "mac::count<int>");
  CHECK(without_parameters("std::map<int, char> mac::f<(int)3>(std::map<int, char>)") ==
        "mac::f<(int)3>");
  CHECK(without_parameters("(anonymous namespace)::f(int)") == "(anonymous namespace)::f");
  CHECK(without_parameters("X::operator()(int)") == "X::operator()");
  CHECK(without_parameters("X::operator bool() const") == "X::operator bool");
  CHECK(without_parameters("msgb_enqueue") == "msgb_enqueue");
  CHECK(without_parameters("") == "");
  CHECK(last_part("rlc::Tx::handle_sdu(int) const") == "handle_sdu");
  CHECK(last_part("void mac::count<a::b>(int)") == "count");
}

TEST_CASE("a name is as short as tells it from the others") {
  const std::vector<std::string> names = {"srsran::cu::f1u::handle_pdu",
                                          "srsran::du::f1u::handle_pdu",
                                          "srsran::gtpu::handle_pdu",
                                          "srsran::pool<a::b>::take",
                                          "srsran::encode",
                                          "msgb_enqueue",
                                          "srsran::mac::twice",
                                          "srsran::mac::twice"};
  CHECK(shortest_names(names) ==
        std::vector<std::string>{"cu::f1u::handle_pdu", "du::f1u::handle_pdu", "gtpu::handle_pdu",
                                 "pool<a::b>::take", "srsran::encode", "msgb_enqueue",
                                 "srsran::mac::twice", "srsran::mac::twice"});
  CHECK(shortest_names(std::vector<std::string>{"", ""}) == std::vector<std::string>{"", ""});
}

TEST_CASE("a function is named as its linker does, or as people do") {
  const FunctionName name = function_name(kMethod);
  CHECK(name.shown == "rlc::Tx::handle_sdu(int) const");
  for (const char* whole : {kMethod, "rlc::Tx::handle_sdu(int) const", "rlc::Tx::handle_sdu"})
    CHECK(fit(name, whole) == Fit::kWhole);
  for (const char* ending : {"Tx::handle_sdu", "handle_sdu", "Tx::handle_sdu(int) const"})
    CHECK(fit(name, ending) == Fit::kEnding);
  for (const char* glob : {"rlc::*::handle_sdu", "rlc::T?::h*", "_ZNK3rlc2Tx*"})
    CHECK(fit(name, glob) == Fit::kGlob);
  for (const char* none : {"sdu", "x::handle_sdu", "handle_sd", "rlc::*::handle_pdu", ""})
    CHECK(fit(name, none) == Fit::kNot);
  CHECK(fit(function_name(kTemplate), "mac::count<int>") == Fit::kWhole);
  CHECK(fit(function_name(kTemplate), "count<int>") == Fit::kEnding);
  CHECK(fit(function_name("msgb_enqueue"), "msgb_enqueue") == Fit::kWhole);
  CHECK(fit(function_name("_talloc_free"), "msgb_*") == Fit::kNot);
  CHECK(fit(function_name("read@@GLIBC_2.2.5"), "read") == Fit::kWhole);
  CHECK(function_name("").shown.empty());
  CHECK(function_name("@").linked == "@");
}

TEST_CASE("a function that returns a string is named without the tag of its kind of strings") {
  const FunctionName name = function_name("_ZN3rlc4nameB5cxx11Ei");
  CHECK(name.shown == "rlc::name(int)");
  CHECK(fit(name, "rlc::name") == Fit::kWhole);
  CHECK(fit(name, "name") == Fit::kEnding);
  CHECK(fit(name, "rlc::n*") == Fit::kGlob);
  for (const char* copied : {"rlc::name[abi:cxx11](int)", "rlc::name[abi:cxx11]"})
    CHECK(fit(name, copied) == Fit::kWhole);
  CHECK(fit(name, "rlc::name[abi:cx") == Fit::kNot);
}

// srsran::pdcp_entity_tx::handle_sdu(srsran::byte_buffer), and its three kinds of thunks.
constexpr const char* kSdu = "_ZN6srsran14pdcp_entity_tx10handle_sduENS_11byte_bufferE";

TEST_CASE("a thunk is matched only by a name that says thunk") {
  const FunctionName method = function_name(kSdu);
  CHECK(!method.is_thunk);
  for (const char* mangled :
       {"_ZThn24_N6srsran14pdcp_entity_tx10handle_sduENS_11byte_bufferE",
        "_ZTv0_n24_N6srsran14pdcp_entity_tx10handle_sduENS_11byte_bufferE",
        "_ZTch0_h16_N6srsran14pdcp_entity_tx10handle_sduENS_11byte_bufferE"}) {
    CAPTURE(mangled);
    const FunctionName thunk = function_name(mangled);
    CHECK(thunk.is_thunk);
    CHECK(
        thunk.shown.ends_with("thunk to srsran::pdcp_entity_tx::handle_sdu(srsran::byte_buffer)"));
    for (const char* not_meant :
         {kSdu, "pdcp_entity_tx::handle_sdu", "handle_sdu", "*handle_sdu*", "*", "_ZN6srsran*",
          "srsran::pdcp_entity_tx::handle_sdu(srsran::byte_buffer)"})
      CHECK(fit(thunk, not_meant) == Fit::kNot);
    CHECK(fit(thunk, mangled) == Fit::kWhole);
    CHECK(fit(thunk, thunk.shown) == Fit::kWhole);
    CHECK(fit(thunk, "thunk to srsran::pdcp_entity_tx::handle_sdu") == Fit::kWhole);
    CHECK(fit(thunk, "thunk to pdcp_entity_tx::handle_sdu(byte_buffer)") == Fit::kEnding);
    CHECK(fit(thunk, "thunk to *::handle_?du") == Fit::kGlob);
    CHECK(fit(thunk, "_ZT*handle_sdu*") == Fit::kGlob);
    CHECK(fit(method, "thunk to pdcp_entity_tx::handle_sdu") == Fit::kNot);
    CHECK(fit(method, thunk.shown) == Fit::kNot);
  }
  const FunctionName virtual_thunk =
      function_name("_ZTv0_n24_N6srsran14pdcp_entity_tx10handle_sduENS_11byte_bufferE");
  CHECK(fit(virtual_thunk, "virtual thunk to pdcp_entity_tx::handle_sdu") == Fit::kEnding);
  CHECK(fit(virtual_thunk, "non-virtual thunk to pdcp_entity_tx::handle_sdu") == Fit::kNot);
}

TEST_CASE("parameters are written as people do") {
  CHECK(fit(function_name(kSdu), "pdcp_entity_tx::handle_sdu(byte_buffer)") == Fit::kEnding);
  CHECK(fit(function_name(kSdu), "pdcp_entity_tx::handle_sdu(int)") == Fit::kNot);
}

TEST_CASE("compilers' variants of a function are distinguished") {
  CHECK(function_name("f.lto_priv.0").clone == Clone::kNone);
  CHECK(fit(function_name("f.lto_priv.0"), "f") == Fit::kWhole);
  CHECK(function_name("f.constprop.0").clone == Clone::kChanged);
  CHECK(function_name("f.isra.0").clone == Clone::kChanged);
  CHECK(fit(function_name("f.isra.0"), "f") == Fit::kWhole);
  for (const char* piece : {"f.cold", "f.part.0", "f.constprop.0.cold"}) {
    CHECK(function_name(piece).clone == Clone::kPiece);
    CHECK(fit(function_name(piece), "*") == Fit::kNot);
    CHECK(fit(function_name(piece), "f") == Fit::kNot);
    CHECK(fit(function_name(piece), piece) == Fit::kWhole);
  }
}

}  // namespace
}  // namespace sojourn::coarse
