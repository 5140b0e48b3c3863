// A script's text, and its name in errors.
#pragma once

#include <string>

namespace sojourn::scripts {

struct ScriptSource {
  std::string name;
  std::string text;
};

}  // namespace sojourn::scripts
