#include "analysis/model/context_info.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sojourn::model {

namespace {

constexpr std::array<std::string_view, 6> kWords = {"thread",  "irq",    "softirq",
                                                    "syscall", "socket", "descriptor"};

}  // namespace

std::string_view name(NameKind kind) {
  return kWords[static_cast<std::size_t>(kind)];
}

std::optional<NameKind> name_kind_from(std::string_view name) {
  const auto found = std::ranges::find(kWords, name);
  if (found == kWords.end()) return std::nullopt;
  return static_cast<NameKind>(found - kWords.begin());
}

}  // namespace sojourn::model
