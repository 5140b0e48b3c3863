// A script as it was read: its text, and the name that errors call it by.
#pragma once

#include <string>

namespace sojourn::scripts {

struct ScriptSource {
  std::string name;
  std::string text;
};

}  // namespace sojourn::scripts
