// The programs and libraries under test (subjects/).
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "tests/support/child.h"

namespace subject {

using sojourn::test::TemporaryDirectory;

// The path of a subject in the build directory.
std::string path(const std::string& name);
bool exists(const std::string& name);

// Runs until destroyed. Made once the program has said that it is ready.
class Running {
 public:
  explicit Running(std::vector<std::string> arguments);

  pid_t pid() const { return child_.pid(); }
  void end();  // and waits for it

 private:
  sojourn::test::Child child_;
};

}  // namespace subject
