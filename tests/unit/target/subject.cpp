#include "subject.h"

#include <array>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace subject {

std::string path(const std::string& name) {
  return std::string(SUBJECTS) + "/" + name;
}
bool exists(const std::string& name) {
  return std::filesystem::exists(path(name));
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = std::filesystem::temp_directory_path() / "sojourn-target-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Running::Running(std::vector<std::string> arguments) {
  std::array<int, 2> input;
  std::array<int, 2> output;
  if (pipe2(input.data(), O_CLOEXEC) != 0 || pipe2(output.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("pipe2");
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(input[0], 0);
    dup2(output[1], 1);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  input_ = sojourn::base::Fd(input[1]);
  const sojourn::base::Fd ready(output[0]);
  std::array<char, 6> said;
  if (read(ready.get(), said.data(), said.size()) != static_cast<ssize_t>(said.size()))
    throw std::runtime_error("subject did not start: " + arguments[0]);
}

Running::~Running() {
  end();
}

void Running::end() {
  if (pid_ < 0) return;
  input_ = sojourn::base::Fd();
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) throw std::runtime_error("read " + path);
  return content.str();
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  if (!file.flush()) throw std::runtime_error("write " + path);
}

}  // namespace subject
