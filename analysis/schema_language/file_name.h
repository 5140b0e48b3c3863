// The last part of a path.
#pragma once

#include <string_view>

namespace sojourn::schema_language {

inline std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace sojourn::schema_language
