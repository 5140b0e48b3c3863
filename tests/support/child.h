// Runs programs for the tests: their arguments, their output, and a temporary directory. A child
// that still runs is killed with its Child; no other process is ever killed.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace sojourn::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path() const { return path_.string(); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct Ended {
  int exit_code = -1;  // -1: by a signal
  std::string out;
  std::string err;
};

class Child {
 public:
  explicit Child(std::vector<std::string> argv);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  // Returns the text on its descriptor 3, up to the first newline.
  std::string wait_for_ready_line() const;
  // Waits until its output holds the text, behind the other one if there is one; false when it
  // ended or a minute passed without.
  bool wait_for_output(const std::string& text, const std::string& after = "");
  // Its standard output so far.
  std::string output() const;
  bool running();
  void signal(int number) const;
  Ended wait();

 private:
  bool reap(int options);

  TemporaryDirectory directory_;
  pid_t pid_ = -1;
  int ready_ = -1;
  std::optional<int> exit_code_;
};

// Runs a program to its end.
Ended run(std::vector<std::string> argv);

// Both throw if the file cannot be read or written.
std::string contents(const std::string& path);
void write_contents(const std::string& path, const std::string& text);

}  // namespace sojourn::test
