// The programs and libraries under test (subjects/), and a directory for copies of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "userspace/base/fd.h"

namespace subject {

// Where the build put a subject.
std::string path(const std::string& name);
bool exists(const std::string& name);

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// Runs until destroyed. Made once the program has said that it is ready.
class Running {
 public:
  explicit Running(std::vector<std::string> arguments);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  pid_t pid() const { return pid_; }
  void end();  // and waits for it

 private:
  sojourn::base::Fd input_;  // the program ends when it is closed
  pid_t pid_ = -1;
};

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& content);

}  // namespace subject
