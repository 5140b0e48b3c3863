// The manual pages that are installed beside the program.
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

// The commands that help lists.
std::vector<std::string> commands() {
  std::istringstream lines(output_of({"--help"}));
  std::vector<std::string> names;
  bool is_listed = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Subcommands:")
      is_listed = true;
    else if (!line.starts_with("  "))
      is_listed = false;
    else if (is_listed && line[2] != ' ')
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

struct Manual {
  test::TemporaryDirectory directory;
  Manual() { CHECK(output_of({"package-files", directory.path()}).empty()); }
  std::string path(const std::string& page) const { return directory.path("man1/" + page + ".1"); }
  // The page as a reader sees it, in one long line without bold letters.
  std::string text(const std::string& page) const {
    const test::Ended ended =
        test::run({"sh", "-c",
                   "groff -ww -mandoc -K utf8 -T utf8 -P -cbou -rLL=10000n '" + path(page) + "'"});
    CAPTURE(page);
    CHECK(ended.err.empty());
    CHECK(ended.exit_code == 0);
    return ended.out;
  }
};

TEST_CASE("there is a manual page for every command, and one that names them all") {
  const Manual manual;
  std::set<std::string> wanted = {"sojourn.1"};
  for (const std::string& command : commands()) wanted.insert("sojourn-" + command + ".1");
  CHECK(wanted.size() >= 17);
  std::set<std::string> written;
  for (const auto& file : std::filesystem::directory_iterator(manual.directory.path("man1")))
    written.insert(file.path().filename().string());
  CHECK(written == wanted);
  const std::string overview = manual.text("sojourn");
  for (const std::string& command : commands())
    CHECK(overview.contains("sojourn-" + command + "(1)"));
}

TEST_CASE("manual pages have no fault that groff or man would warn of") {
  const Manual manual;
  for (const auto& file : std::filesystem::directory_iterator(manual.directory.path("man1"))) {
    CAPTURE(file.path());
    CHECK_FALSE(manual.text(file.path().stem().string()).empty());
    const test::Ended shown =
        test::run({"sh", "-c",
                   "LC_ALL=C.UTF-8 MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z '" +
                       file.path().string() + "' >/dev/null"});
    CHECK(shown.err.empty());
    CHECK(shown.exit_code == 0);
  }
}

// Words with one blank between them.
std::string flat(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST_CASE("a manual page says all that help says, and commands can be copied from it") {
  const Manual manual;
  for (const std::string& command : commands()) {
    const std::string page = flat(manual.text("sojourn-" + command));
    std::istringstream help(output_of({command, "--help"}));
    CAPTURE(command, page);
    for (std::string line; std::getline(help, line);) {
      // Options, and examples as they stand.
      if (!line.starts_with("  -") && !line.starts_with("  sojourn ")) continue;
      const auto gap = line.find("  ", 2);
      const std::string words = flat(line.substr(0, gap));
      CAPTURE(words);
      CHECK(page.contains(words));
    }
  }
  CHECK(
      manual.text("sojourn-ctl").contains("sojourn ctl -p $(pidof nr-softmodem) disable 'phy.*'"));
  CHECK(manual.text("sojourn-export").contains("[OPTIONS] trace"));
}

TEST_CASE("manual pages do not differ from one run to the next") {
  const Manual one;
  const Manual other;
  for (const auto& file : std::filesystem::directory_iterator(one.directory.path("man1"))) {
    const std::string name = file.path().stem().string();
    CHECK(test::contents(one.path(name)) == test::contents(other.path(name)));
  }
}

}  // namespace
}  // namespace sojourn::cli_tests
