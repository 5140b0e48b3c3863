// Files that commands write: they are complete, or as they were, even if the command is killed.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

namespace fs = std::filesystem;

enum class FileSystem : std::uint8_t { kWithNameless, kWithout };

// A directory with an existing output, and a command that replaces it and waits, in the middle of
// writing, for data from a FIFO.
class Held {
 public:
  explicit Held(FileSystem file_system) : file_system_(file_system) {
    REQUIRE(mkfifo(fifo().c_str(), 0600) == 0);
    fs::create_directory(folder());
  }
  ~Held() {
    if (writer_ >= 0) close(writer_);
  }

  std::string fifo() const { return directory_.path("fifo"); }
  std::string folder() const { return directory_.path("folder"); }
  std::string output() const { return directory_.path("folder/out"); }

  // Returns when it has opened the FIFO.
  void start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SJ_SOJOURN);
    if (file_system_ == FileSystem::kWithout)
      arguments.insert(arguments.begin(), SJ_WITHOUT_TMPFILE);
    child_.emplace(std::move(arguments));
    writer_ = open(fifo().c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(writer_ >= 0);
  }
  void give(const std::string& text) const {
    REQUIRE(write(writer_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  test::Ended end_of_input() {
    close(std::exchange(writer_, -1));
    return child_->wait();
  }
  test::Ended kill(int signal) {
    child_->signal(signal);
    return child_->wait();
  }

  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder()))
      names.insert(entry.path().filename());
    return names;
  }

 private:
  test::TemporaryDirectory directory_;
  FileSystem file_system_;
  std::optional<test::Child> child_;
  int writer_ = -1;
};

std::vector<std::string> export_to(const Held& held, const Traces& traces) {
  return {"export",  traces.path("radio"), "--to", "latseq-csv",
          "--rules", held.fifo(),          "-o",   held.output()};
}

TEST_CASE("an export that is killed leaves nothing behind, and keeps an existing file") {
  const bool was_there = GENERATE(true, false);
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP, SIGKILL);
  CAPTURE(was_there, signal);
  const Traces traces;
  Held held(FileSystem::kWithNameless);
  if (was_there) test::write_contents(held.output(), "of yesterday\n");
  held.start(export_to(held, traces));
  const std::set<std::string> before =
      was_there ? std::set<std::string>{"out"} : std::set<std::string>{};
  CHECK(held.names() == before);
  CHECK(held.kill(signal).exit_code == -1);
  CHECK(held.names() == before);
  if (was_there) CHECK(test::contents(held.output()) == "of yesterday\n");
}

TEST_CASE("where files need names, signals that end an export remove its unfinished file") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP, SIGQUIT);
  CAPTURE(signal);
  const Traces traces;
  Held held(FileSystem::kWithout);
  test::write_contents(held.output(), "of yesterday\n");
  held.start(export_to(held, traces));
  CHECK(held.names().size() == 2);
  CHECK(held.kill(signal).exit_code == -1);  // by that signal, as without the file
  CHECK(held.names() == std::set<std::string>{"out"});
  CHECK(test::contents(held.output()) == "of yesterday\n");
}

TEST_CASE("an output has its name when it is complete, wherever it is written") {
  const auto file_system = GENERATE(FileSystem::kWithNameless, FileSystem::kWithout);
  const bool was_there = GENERATE(true, false);
  CAPTURE(file_system, was_there);
  const Traces traces;
  Held held(file_system);
  if (was_there) test::write_contents(held.output(), "of yesterday\n");
  held.start(export_to(held, traces));
  CHECK(fs::exists(held.output()) == was_there);
  const test::Ended ended = held.end_of_input();
  CHECK(ended.err.empty());
  CHECK(ended.exit_code == 0);
  CHECK(held.names() == std::set<std::string>{"out"});
  CHECK(test::contents(held.output()) ==
        output_of({"export", traces.path("radio"), "--to", "latseq-csv"}));
}

TEST_CASE("open leaves no directory behind where it fails, or a signal ends it") {
  const Traces traces;
  const test::TemporaryDirectory temporary;
  const auto open_with = [&](const std::string& script) {
    return std::vector<std::string>{"env",  "TMPDIR=" + temporary.path(), SJ_SOJOURN,
                                    "open", traces.path("radio"),         "--script",
                                    script};
  };
  const std::string broken = traces.directory().path("broken.lua");
  test::write_contents(broken, "filter(function(e) error('no') end)\n");
  CHECK(test::run(open_with(broken)).exit_code == 1);
  CHECK(fs::is_empty(temporary.path()));

  const std::string endless = traces.directory().path("endless.lua");
  test::write_contents(endless, "filter(function(e) while true do end end)\n");
  test::Child child(open_with(endless));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (fs::is_empty(temporary.path()) && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK_FALSE(fs::is_empty(temporary.path()));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the script takes two seconds
  child.signal(SIGTERM);
  CHECK(child.wait().exit_code == -1);
  CHECK(fs::is_empty(temporary.path()));
}

TEST_CASE("open says where the page is, and nothing of xdg-open's, if no browser was opened") {
  const Traces traces;
  const test::TemporaryDirectory directory;
  const std::string opener = directory.path("xdg-open");
  test::write_contents(opener, "#!/bin/sh\necho looked; echo for it >&2; exit 3\n");
  REQUIRE(chmod(opener.c_str(), 0700) == 0);
  fs::create_directory(directory.path("pages"));
  const test::Ended ended = test::run({"env", "TMPDIR=" + directory.path("pages"),
                                       "PATH=" + directory.path() + ":/usr/bin:/bin", SJ_SOJOURN,
                                       "open", traces.path("radio")});
  CHECK(ended.exit_code == 1);
  const std::string page = ended.out.substr(0, ended.out.find('\n'));
  CHECK(ended.out == page + "\n");
  CHECK(fs::file_size(page) > 100);
  CHECK(ended.err.starts_with("sojourn: no browser was opened (xdg-open): open " + page));
  CHECK_FALSE(ended.err.contains("for it"));
}

TEST_CASE("a reader of the old output reads it to its end") {
  const Traces traces;
  const std::string output = traces.directory().path("out.csv");
  test::write_contents(output, "of yesterday\n");
  const int fd = open(output.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  output_of({"export", traces.path("radio"), "--to", "latseq-csv", "-o", output});
  char text[32];
  CHECK(read(fd, text, sizeof(text)) == 13);
  close(fd);
  CHECK(fs::file_size(output) > 100);
}

mode_t mode_of(const std::string& path) {
  struct stat status{};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

TEST_CASE("a new output has the mode that the mask leaves, another's place keeps that one's") {
  const Traces traces;
  const std::string output = traces.directory().path("out.csv");
  const std::vector<std::string> command = {
      "export", traces.path("radio"), "--to", "latseq-csv", "-o", output};
  const mode_t mask = umask(027);
  output_of(command);
  umask(mask);
  CHECK(mode_of(output) == 0640);
  REQUIRE(chmod(output.c_str(), 0600) == 0);
  output_of(command);
  CHECK(mode_of(output) == 0600);
}

TEST_CASE("an output that is a link stays one") {
  const Traces traces;
  const std::string output = traces.directory().path("out.csv");
  const std::string link = traces.directory().path("link.csv");
  test::write_contents(output, "of yesterday\n");
  fs::create_symlink("out.csv", link);
  output_of({"export", traces.path("radio"), "--to", "latseq-csv", "-o", link});
  CHECK(fs::is_symlink(link));
  CHECK(fs::file_size(output) > 100);
}

TEST_CASE("an import that is killed leaves nothing behind, and keeps an existing file") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGKILL);
  CAPTURE(signal);
  Held held(FileSystem::kWithNameless);
  test::write_contents(held.output(), "of yesterday\n");
  held.start({"import", held.fifo(), "-o", held.output()});
  for (int line = 0; line < 1000; ++line)
    held.give("1600000000.000001 D ip.in--pdcp.in len100:rnti17:drb1\n");
  CHECK(held.names() == std::set<std::string>{"out"});
  CHECK(held.kill(signal).exit_code == -1);
  CHECK(held.names() == std::set<std::string>{"out"});
  CHECK(test::contents(held.output()) == "of yesterday\n");
}

TEST_CASE("an imported trace belongs to its owner alone, as a recorded one does") {
  const test::TemporaryDirectory directory;
  const std::string recording = directory.path("run.lseq");
  test::write_contents(recording, "1600000000.000001 D ip.in--pdcp.in len100:rnti17:drb1\n");
  CHECK(sojourn({"import", recording}).exit_code == 0);
  CHECK(mode_of(directory.path("run.sjt")) == 0600);
}

}  // namespace
}  // namespace sojourn::cli_tests
