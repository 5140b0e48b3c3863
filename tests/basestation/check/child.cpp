#include "tests/basestation/check/child.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sojourn::basestation {
namespace {

constexpr int kReadyFd = 3;

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "sj-basestation-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), name);
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Child::Child(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SJ_BASESTATION);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, directory_.path("out").c_str(), kFlags,
                                   0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, directory_.path("err").c_str(), kFlags,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, ready[1], kReadyFd);
  const int error = posix_spawn(&pid_, SJ_BASESTATION, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ready[1]);
  ready_ = ready[0];
  if (error != 0) {
    close(ready_);
    throw std::system_error(error, std::generic_category(), SJ_BASESTATION);
  }
}

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(ready_);
}

std::string Child::wait_for_ready_line() const {
  std::string line;
  for (char c = 0; c != '\n' && read(ready_, &c, 1) == 1;) line += c;
  return line;
}

void Child::signal(int number) const {
  kill(pid_, number);
}

Ended Child::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .out = contents(directory_.path("out")),
          .err = contents(directory_.path("err"))};
}

Ended run_station(std::vector<std::string> arguments) {
  return Child(std::move(arguments)).wait();
}

truth::Truth run_for_truth(std::vector<std::string> arguments) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("truth");
  arguments.insert(arguments.end(), {"--truth", path});
  const Ended ended = run_station(std::move(arguments));
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  auto truth = truth::read_truth(path);
  if (!truth) FAIL(truth.error().text());
  REQUIRE_FALSE(truth->hits.empty());
  return std::move(*truth);
}

}  // namespace sojourn::basestation
