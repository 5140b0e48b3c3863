// Machine code as the tests write it: "48 89 f8 c3".
#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace sojourn::coarse {

inline std::vector<std::byte> code_of(const std::string& hexadecimal) {
  std::vector<std::byte> bytes;
  std::istringstream words(hexadecimal);
  for (std::string word; words >> word;)
    bytes.push_back(static_cast<std::byte>(std::stoi(word, nullptr, 16)));
  return bytes;
}

}  // namespace sojourn::coarse
