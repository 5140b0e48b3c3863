// Commands that are prepared and never run.
#include "userspace/capture/control/target_command.h"

#include <fstream>

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>

#include "tests/support/child.h"

namespace sojourn::capture {
namespace {

void write_executable(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  REQUIRE(chmod(path.c_str(), 0700) == 0);
}

void write_script(const std::string& path, const std::string& text) {
  write_executable(path, "#!/bin/sh\n" + text);
}

TEST_CASE("a program's own loader is asked for its libraries, and the program does not run") {
  // The loader that the subject names; a real one would run the program if asked otherwise.
  write_script(SJ_LOADER, "[ \"$1\" = --list ] && echo \"\tlibone.so => /opt/one.so (0x1)\n\t$2\"");
  const auto command = TargetCommand::prepare({SJ_OTHER_LOADER, "argument"});
  REQUIRE(command.has_value());
  CHECK(command->files() ==
        std::vector<std::string>{SJ_OTHER_LOADER, "/opt/one.so", SJ_OTHER_LOADER});
}

TEST_CASE("a script's files are those of its interpreter") {
  const test::TemporaryDirectory directory;
  const std::string script = directory.path("start.sh");
  write_script(script, "exit 0\n");
  const auto command = TargetCommand::prepare({script});
  REQUIRE(command.has_value());
  CHECK(command->is_script());
  REQUIRE_FALSE(command->files().empty());
  CHECK(command->files().front() == "/bin/sh");

  // An interpreter that is a script itself, named with spaces and an argument.
  const std::string outer = directory.path("outer");
  write_executable(outer, "#! \t" + script + " -x\nanything");
  const auto nested = TargetCommand::prepare({outer});
  REQUIRE(nested.has_value());
  CHECK(nested->is_script());
  CHECK(nested->files().front() == "/bin/sh");
}

TEST_CASE("a file that is neither a program nor a script is refused with the reason") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("start");
  const auto why_not = [&](const std::string& text) {
    write_executable(path, text);
    const auto command = TargetCommand::prepare({path});
    REQUIRE_FALSE(command.has_value());
    CHECK(command.error().text().starts_with("run " + path + ": "));
    return command.error().text();
  };
  CHECK(why_not("echo hello\n").contains("neither an ELF program nor a script"));
  CHECK(why_not("").contains("neither an ELF program nor a script"));
  CHECK(why_not("#!").contains("neither an ELF program nor a script"));
  CHECK(why_not("#!  \t\n").contains("neither an ELF program nor a script"));
  CHECK(why_not(std::string("#!\0/bin/sh\n", 12)).contains("neither an ELF program nor a script"));
  CHECK(why_not("#!/no/such/shell -e\n").contains("interpreter /no/such/shell: No such file"));
  CHECK(why_not("#!" + path + "\n").contains("and so on"));
  CHECK(why_not("#!/" + std::string(5000, 'x') + "\n").contains("its interpreter /xxx"));
}

TEST_CASE("a program that is in no folder of PATH is named") {
  const auto command = TargetCommand::prepare({"no-such-program-anywhere"});
  REQUIRE_FALSE(command.has_value());
  CHECK(command.error().text() == "run no-such-program-anywhere: not found in PATH");
}

}  // namespace
}  // namespace sojourn::capture
