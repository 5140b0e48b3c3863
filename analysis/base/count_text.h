// Numbers as people read them. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace sojourn {

// 3412806 as "3,412,806"
inline std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

// "1 point", "3,412 points"
inline std::string counted(std::uint64_t number, std::string_view thing) {
  const std::string_view ending = number == 1 ? "" : thing.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", grouped(number), thing, ending);
}

}  // namespace sojourn
