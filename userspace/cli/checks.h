// What the words of an option may be. A check says what is wrong in words that follow the option's
// name; what the words stand for is in the help as the option's type. CLI11's own checks name C++
// types and the largest double there is.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sojourn::cli {

using Check = std::function<std::string(const std::string&)>;

// Digits only, so that no sign is lost on the way into an unsigned number.
Check whole_number(std::uint64_t least,
                   std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

// Finite, and above `least`, or just that where it is allowed.
Check number_above(double least, double most = std::numeric_limits<double>::infinity());
Check number_between(double least, double most);

std::string check_process_id(const std::string& text);

// "10s", "500ms": a unit is wanted.
std::string check_duration(const std::string& text);

// "4096", "64K"; of a ring a power of two of whole pages.
std::string check_bytes(const std::string& text);
std::string check_ring_bytes(const std::string& text);

// One of these words and no other.
void choose_from(CLI::Option& option, std::vector<std::string> words);

// The same, each standing for a value.
template <typename Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& into,
                        std::vector<std::pair<std::string, Value>> choices,
                        const std::string& help) {
  std::vector<std::string> words;
  std::string standing;
  for (const auto& [word, value] : choices) {
    words.push_back(word);
    if (value == into) standing = word;
  }
  auto* option = app.add_option_function<std::string>(
      name,
      [&into, choices = std::move(choices)](const std::string& given) {
        for (const auto& [word, value] : choices)
          if (word == given) into = value;
      },
      help);
  choose_from(*option, std::move(words));
  return option->default_str(standing);
}

}  // namespace sojourn::cli
