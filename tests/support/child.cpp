#include "tests/support/child.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sojourn::test {

namespace {

constexpr int kReadyFd = 3;

}  // namespace

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_contents(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "sojourn-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), name);
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Child::Child(std::vector<std::string> argv) {
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);

  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, directory_.path("out").c_str(), kFlags,
                                   0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, directory_.path("err").c_str(), kFlags,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, ready[1], kReadyFd);
  const int error =
      posix_spawnp(&pid_, pointers.front(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ready[1]);
  ready_ = ready[0];
  if (error != 0) {
    close(ready_);
    throw std::system_error(error, std::generic_category(), argv.front());
  }
}

Child::~Child() {
  if (!exit_code_) {
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

bool Child::wait_for_output(const std::string& text, const std::string& after) {
  const auto has_said = [&](const std::string& file) {
    const std::string said = contents(directory_.path(file));
    const std::size_t from = said.find(after);
    return from != std::string::npos && said.find(text, from + after.size()) != std::string::npos;
  };
  for (int tries = 0; tries < 6000; ++tries) {
    const bool running_before = running();
    if (has_said("out") || has_said("err")) return true;
    if (!running_before) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string Child::output() const {
  return contents(directory_.path("out"));
}

bool Child::reap(int options) {
  int status = 0;
  if (!exit_code_ && waitpid(pid_, &status, options) == pid_)
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return exit_code_.has_value();
}

bool Child::running() {
  return !reap(WNOHANG);
}

void Child::signal(int number) const {
  kill(pid_, number);
}

Ended Child::wait() {
  reap(0);
  return {.exit_code = exit_code_.value_or(-1),
          .out = contents(directory_.path("out")),
          .err = contents(directory_.path("err"))};
}

Ended run(std::vector<std::string> argv) {
  return Child(std::move(argv)).wait();
}

}  // namespace sojourn::test
