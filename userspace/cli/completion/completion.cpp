// `sojourn completion`: prints the script by which a shell completes commands, options and their
// words, made from the same declarations as the help.
#include <memory>
#include <string>

#include <fmt/format.h>

#include "userspace/cli/command.h"
#include "userspace/cli/completion/scripts.h"

namespace sojourn::cli {

Action define_completion(Arguments& arguments) {
  auto script = std::make_shared<std::string (*)(const DeclaredProgram&)>(bash_completion);
  add_choice(arguments, "shell", *script,
             {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}},
             "For which shell");
  arguments.footer(
      "For this shell, and for all shells of this machine:\n"
      "  source <(sojourn completion)\n"
      "  sojourn completion > /etc/bash_completion.d/sojourn\n"
      "  source <(sojourn completion zsh)\n"
      "  sojourn completion zsh > /usr/local/share/zsh/site-functions/_sojourn\n"
      "  sojourn completion fish | source\n"
      "  sojourn completion fish > ~/.config/fish/completions/sojourn.fish\n"
      "Debian packages and `cmake --install` bring all three.");
  return [arguments, script]() -> Result<void> {
    fmt::print("{}", (*script)(declared_program(arguments.app())));
    return {};
  };
}

}  // namespace sojourn::cli
