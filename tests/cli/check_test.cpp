// The verdict of `sojourn check` on whole, cut and damaged files.
#include <regex>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

std::string without_sizes(const std::string& text) {
  const std::regex size("^[0-9.]+ [kMG]B|[0-9.]+ bytes an event");
  return std::regex_replace(text, size, "SIZE");
}

TEST_CASE("a whole trace is reported as whole") {
  const Traces traces;
  compare("radio.check.txt", without_sizes(output_of({"check", traces.path("radio")})));
}

TEST_CASE("losses that the ledger knows of are accounted for") {
  const Traces traces;
  compare("lossy.check.txt", without_sizes(output_of({"check", traces.path("lossy")})));
  auto checked = nlohmann::json::parse(output_of({"check", traces.path("lossy"), "--json"}));
  CHECK(checked["bytes"].get<std::uint64_t>() == test::contents(traces.path("lossy")).size());
  CHECK(checked["bytes_per_event"] > 0);
  checked.erase("bytes");
  checked.erase("bytes_per_event");
  compare("lossy.check.json", checked.dump(2) + "\n");
}

TEST_CASE("a damaged block fails the check, which reports where it is") {
  const Traces traces;
  std::string bytes = test::contents(traces.path("radio"));
  bytes[bytes.size() / 2] ^= 0x40;
  const std::string damaged = traces.directory().path("damaged.sjt");
  test::write_contents(damaged, bytes);

  const test::Ended ended = sojourn({"check", damaged});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("damaged in 1 place, "));
  CHECK(ended.out.contains("damage   "));
  const auto checked = nlohmann::json::parse(sojourn({"check", damaged, "--json"}).out);
  CHECK(checked["whole"] == false);
  CHECK(checked["damage"].size() == 1);
}

TEST_CASE("an unfinished file beside a trace, or instead of it, is described with what to do") {
  const Traces traces;
  const std::string name = traces.directory().path("run.sjt");
  const std::string partial = name + ".partial";
  require_error(sojourn({"check", name}), "run.sjt: No such file or directory");
  test::write_contents(partial, test::contents(traces.path("radio")));
  const std::string left = partial + " is what a killed capture left, and every command reads it; ";
  for (const char* const command : {"check", "report"})
    require_error(sojourn({command, name}), "run.sjt: No such file or directory; " + left + "mv " +
                                                partial + " " + name + " gives it its name");
  const test::Ended itself = sojourn({"check", partial});
  CHECK(itself.exit_code == 0);
  CHECK(itself.err == left + "mv " + partial + " " + name + " gives it its name\n");

  test::write_contents(name, test::contents(partial));
  const test::Ended beside = sojourn({"check", name});
  CHECK(beside.exit_code == 0);
  CHECK(beside.err == left + "the next capture of that name puts it aside\n");

  const int held = open(partial.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(held >= 0);
  REQUIRE(flock(held, LOCK_EX | LOCK_NB) == 0);
  CHECK(sojourn({"check", name}).err ==
        partial + " is still being written, and becomes " + name + " when its capture ends\n");
  close(held);
}

TEST_CASE("a trace without its index is whole, and the missing index is reported") {
  const Traces traces;
  std::string bytes = test::contents(traces.path("radio"));
  const std::uint64_t trailer_bytes = 16;
  std::uint64_t index_offset = 0;
  bytes.copy(reinterpret_cast<char*>(&index_offset), sizeof(index_offset),
             bytes.size() - trailer_bytes);
  bytes.resize(index_offset);
  const std::string cut = traces.directory().path("cut.sjt");
  test::write_contents(cut, bytes);
  const auto checked = nlohmann::json::parse(output_of({"check", cut, "--json"}));
  CHECK(checked["whole"] == true);
  CHECK(checked["index"] == false);
}

}  // namespace
}  // namespace sojourn::cli_tests
