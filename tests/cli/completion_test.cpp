// The completions of `sojourn completion`, taken from the shells themselves.
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

// Returns bash's completions of the last word.
std::string bash_offers(const std::string& words) {
  const test::Ended ended =
      test::run({"bash", "-c",
                 "source <('" SJ_SOJOURN "' completion) && COMP_WORDS=(" + words +
                     ") && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _sojourn && "
                     "echo \"${COMPREPLY[*]}\""});
  CHECK(ended.err.empty());
  return ended.out;
}

TEST_CASE("bash completes commands, options, their words, process ids and files") {
  CHECK(bash_offers("sojourn rep") == "report\n");
  CHECK(bash_offers("sojourn record --eng") == "--engine\n");
  CHECK(bash_offers("sojourn record --engine ''") == "auto bpf ring\n");
  CHECK(bash_offers("sojourn report run.sjt --by p") == "path point\n");
  CHECK(bash_offers("sojourn export run.sjt --to jso") == "jsonl\n");
  CHECK(bash_offers("sojourn export run.sjt --what h") == "hops\n");
  CHECK(bash_offers("sojourn ctl -p " + std::to_string(getpid())) ==
        std::to_string(getpid()) + "\n");
  CHECK(bash_offers("sojourn ctl en") == "enable\n");
  CHECK(bash_offers("sojourn completion z") == "zsh\n");
  const test::TemporaryDirectory directory;
  test::write_contents(directory.path("run.sjt"), "");
  CHECK(bash_offers("sojourn report " + directory.path("ru")) == directory.path("run.sjt") + "\n");
  CHECK(bash_offers("sojourn weather --x") == "\n");
}

// Returns fish's completions of the line: words, each with its description.
std::string fish_offers(const std::string& line) {
  const test::Ended ended =
      test::run({"fish", "--no-config", "-c",
                 "'" SJ_SOJOURN "' completion fish | source; complete -C '" + line + "'"});
  CHECK(ended.err.empty());
  return ended.out;
}

TEST_CASE("fish completes commands, options, their words, process ids and files") {
  CHECK(fish_offers("sojourn rep") ==
        "report\tLatencies, and where packets spend their time, hop by hop\n");
  CHECK(fish_offers("sojourn record --eng") == "--engine\tHow events leave the target\n");
  CHECK(fish_offers("sojourn record --engine ") ==
        "auto\tHow events leave the target\nbpf\tHow events leave the target\n"
        "ring\tHow events leave the target\n");
  CHECK(fish_offers("sojourn report run.sjt --by pa").starts_with("path\t"));
  CHECK(fish_offers("sojourn ctl en") == "enable\n");
  CHECK(fish_offers("sojourn completion z") == "zsh\n");
  CHECK(("\n" + fish_offers("sojourn ctl -p ")).contains("\n" + std::to_string(getpid()) + "\t"));
  CHECK(fish_offers("sojourn package").empty());
  const test::TemporaryDirectory directory;
  test::write_contents(directory.path("run.sjt"), "");
  CHECK(fish_offers("sojourn report " + directory.path("ru")) == directory.path("run.sjt") + "\n");
  CHECK(fish_offers("sojourn record --for " + directory.path("ru")).empty());
}

// Returns the line that zsh makes of a typed one with a tab at its end.
std::string zsh_completes(const std::string& typed) {
  const test::TemporaryDirectory directory;
  const test::Ended ended = test::run(
      {"zsh", "-f", "-c",
       "zmodload zsh/zpty; export HOME='" + directory.path() +
           "' TERM=dumb\n"
           "zpty shell zsh -f -i\n"
           "zpty -w shell 'unsetopt zle_bracketed_paste prompt_cr; PS1= PS2=; bindkey -e'\n"
           "zpty -w shell 'autoload -Uz compinit && compinit -u -D'\n"
           "zpty -w shell 'source <(\"" SJ_SOJOURN "\" completion zsh)'\n"
           "zpty -w shell 'sojourn() { print -r -- \"<$*>\" }'\n"
           "zpty -w shell 'print ready-$((40 + 2))'\n"
           "zpty -r shell said '*ready-42*'\n"
           "zpty -n -w shell $'" +
           typed +
           "\\t\\n'\n"
           "zpty -r shell said '*<*>*'\n"
           "print -r -- \"$said\"\n"
           "zpty -d shell"});
  const auto begin = ended.out.rfind('<');
  const auto end = ended.out.rfind('>');
  CAPTURE(ended.out, ended.err);
  REQUIRE(begin < end);
  return ended.out.substr(begin + 1, end - begin - 1);
}

TEST_CASE("zsh completes commands, options, their words, process ids and files") {
  CHECK(zsh_completes("sojourn rep") == "report");
  CHECK(zsh_completes("sojourn record --eng") == "record --engine");
  CHECK(zsh_completes("sojourn record --engine a") == "record --engine auto");
  CHECK(zsh_completes("sojourn ctl en") == "ctl enable");
  CHECK(zsh_completes("sojourn completion z") == "completion zsh");
  const test::TemporaryDirectory directory;
  test::write_contents(directory.path("run.sjt"), "");
  CHECK(zsh_completes("sojourn report " + directory.path("ru")) ==
        "report " + directory.path("run.sjt"));
  // A second word would be one too many.
  CHECK(zsh_completes("sojourn report run.sjt " + directory.path("ru")) ==
        "report run.sjt " + directory.path("ru"));
}

TEST_CASE("no shell completes what help does not list") {
  for (const std::string shell : {"bash", "zsh", "fish"})
    CHECK_FALSE(output_of({"completion", shell}).contains("package-files"));
}

TEST_CASE("completion for an unknown shell is refused") {
  const test::Ended ended = sojourn({"completion", "csh"});
  CHECK(ended.exit_code == 2);
  CHECK(ended.err == "sojourn: shell: \"csh\" is not one of bash, zsh, fish\n");
}

}  // namespace
}  // namespace sojourn::cli_tests
