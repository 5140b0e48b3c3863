#include "analysis/profile/hot_functions.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

namespace sojourn::profile {

namespace {

// A stack with so few frames of the program's own code was cut: the unwinder did not find the rest.
constexpr std::size_t kShort = 2;

// Replaces characters that separate the parts of a folded line.
std::string folded_part(std::string text) {
  for (char& character : text)
    if (character == ';' || character == '\n' || character == '\r') character = ':';
  return text.empty() ? "?" : text;
}

}  // namespace

HotFunctions hot_functions(const SampledWork& work, const StackNames& names,
                           const LocationFilter& wanted) {
  HotFunctions hot;
  std::unordered_map<std::uint32_t, HotFunction> by_function;
  const auto entry = [&](std::uint32_t function) -> HotFunction& {
    HotFunction& found = by_function[function];
    found.function = function;
    return found;
  };
  for (const auto& [key, amount] : work.stacks()) {
    if (!wanted(key.at)) continue;
    hot.all.add(amount);
    const auto functions = names.functions_of(key.stack);
    if (functions.empty()) {
      entry(kNoFunction).self.add(amount);
      entry(kNoFunction).total.add(amount);
      continue;
    }
    hot.with_stack.add(amount);
    if (names.function(functions.back()).is_kernel) hot.in_kernel.add(amount);
    if (const std::size_t frames = names.user_frames(key.stack); frames > 0 && frames <= kShort)
      hot.short_ones.add(amount);
    entry(functions.back()).self.add(amount);
    // A recursive function counts once for each sample.
    for (const std::uint32_t function : std::set(functions.begin(), functions.end()))
      entry(function).total.add(amount);
  }
  for (const auto& [function, found] : by_function) hot.functions.push_back(found);
  std::ranges::sort(hot.functions, [](const HotFunction& a, const HotFunction& b) {
    return std::tuple(b.self.weight, b.total.weight, a.function) <
           std::tuple(a.self.weight, a.total.weight, b.function);
  });
  return hot;
}

std::string folded(const SampledWork& work, const StackNames& names, const LocationFilter& wanted,
                   const std::function<std::string(std::uint32_t tid)>& thread_name,
                   const std::function<std::string(std::uint16_t place)>& place_name) {
  std::map<std::string, std::uint64_t> lines;
  for (const auto& [key, amount] : work.stacks()) {
    if (!wanted(key.at)) continue;
    std::string line =
        folded_part(thread_name(key.at.tid)) + ';' + folded_part(place_name(key.at.place));
    for (const std::uint32_t index : names.functions_of(key.stack)) {
      const Function& function = names.function(index);
      line += ';' + folded_part(function.name) + (function.is_kernel ? "_[k]" : "");
    }
    lines[line] += amount.samples;
  }
  std::string text;
  for (const auto& [line, samples] : lines) text += fmt::format("{} {}\n", line, samples);
  return text;
}

}  // namespace sojourn::profile
