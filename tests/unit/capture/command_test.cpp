// Commands that are prepared and never run.
#include "userspace/capture/command.h"

#include <fstream>

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>

#include "tests/support/child.h"

namespace sojourn::capture {
namespace {

void write_script(const std::string& path, const std::string& text) {
  std::ofstream(path) << "#!/bin/sh\n" << text;
  REQUIRE(chmod(path.c_str(), 0700) == 0);
}

TEST_CASE("a program's own loader is asked for its libraries, and the program does not run") {
  // The loader that the subject names; a real one would run the program if asked otherwise.
  write_script(SJ_LOADER, "[ \"$1\" = --list ] && echo \"\tlibone.so => /opt/one.so (0x1)\n\t$2\"");
  const auto command = Command::prepare({SJ_OTHER_LOADER, "argument"});
  REQUIRE(command.has_value());
  CHECK(command->files() ==
        std::vector<std::string>{SJ_OTHER_LOADER, "/opt/one.so", SJ_OTHER_LOADER});
}

TEST_CASE("a script is refused, and it is said what to start instead") {
  const test::TemporaryDirectory directory;
  const std::string script = directory.path("start.sh");
  write_script(script, "exit 0\n");
  const auto command = Command::prepare({script});
  REQUIRE_FALSE(command.has_value());
  CHECK(command.error().text().starts_with("run " + script + ": a script"));
  CHECK(command.error().text().contains("interpreter"));
  CHECK(command.error().text().contains("-p PID"));
}

TEST_CASE("a program that is in no folder of PATH is named") {
  const auto command = Command::prepare({"no-such-program-anywhere"});
  REQUIRE_FALSE(command.has_value());
  CHECK(command.error().text() == "run no-such-program-anywhere: not found in PATH");
}

}  // namespace
}  // namespace sojourn::capture
