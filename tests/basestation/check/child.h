// Runs sj-basestation for the tests: its arguments, its output, its truth file in a directory that
// goes away with the object. A child that still runs is killed with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tests/basestation/truth.h"

namespace sojourn::basestation {

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

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
  explicit Child(std::vector<std::string> arguments);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  // What it wrote to descriptor 3, up to the first newline.
  std::string wait_for_ready_line() const;
  void signal(int number) const;
  Ended wait();

 private:
  TemporaryDirectory directory_;
  pid_t pid_ = -1;
  int ready_ = -1;
};

Ended run_station(std::vector<std::string> arguments);

// Runs it with --truth and these arguments, requires a clean end, and reads the truth.
truth::Truth run_for_truth(std::vector<std::string> arguments);

}  // namespace sojourn::basestation
