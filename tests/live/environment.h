// A variable of the environment, for children that are started while this exists.
#pragma once

#include <cstdlib>

namespace sojourn::live {

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

}  // namespace sojourn::live
