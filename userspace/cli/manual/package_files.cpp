// `sojourn package-files`, a command that help does not list: the build runs it to make the files
// that are installed beside the program from its declarations.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "userspace/cli/command.h"
#include "userspace/cli/completion/scripts.h"
#include "userspace/cli/declared.h"
#include "userspace/cli/manual/man_page.h"
#include "userspace/cli/output_file.h"

namespace sojourn::cli {
namespace {

Result<void> write_file(const std::filesystem::path& path, const std::string& content) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) return fail("create {}: {}", path.parent_path().string(), error.message());
  return replace_file(path.string(), content);
}

Result<void> write_all(const DeclaredProgram& program, const std::filesystem::path& directory) {
  const std::filesystem::path manual = directory / "man1";
  SJ_CHECK(write_file(manual / (program.itself.name + ".1"), program_page(program)));
  for (const DeclaredCommand& command : program.commands)
    SJ_CHECK(
        write_file(manual / (page_name(program, command) + ".1"), command_page(program, command)));
  SJ_CHECK(write_file(directory / "bash" / "sojourn", bash_completion(program)));
  SJ_CHECK(write_file(directory / "zsh" / "_sojourn", zsh_completion(program)));
  return write_file(directory / "fish" / "sojourn.fish", fish_completion(program));
}

}  // namespace

Action define_package_files(Arguments& arguments) {
  auto directory = std::make_shared<std::string>();
  arguments.add_option("directory", *directory, "Where man1, bash, zsh and fish are written")
      .required();
  return
      [arguments, directory] { return write_all(declared_program(arguments.app()), *directory); };
}

}  // namespace sojourn::cli
