// A capture of the subject with two points, for the tests of the flight recorder and of triggers,
// and checks of its files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/live/programs.h"

namespace sojourn::live {

// It is counting already.
struct Recorder {
  explicit Recorder(std::vector<std::string> options, const std::string& first_word = "attached");

  test::Ended ctl(const std::string& action);

  test::TemporaryDirectory directory;
  test::Child subject;
  std::optional<test::Child> capture;
};

// Checks that both points of the subject have every number between their first and their last.
void check_whole(const std::string& path);

std::vector<std::uint64_t> numbers(const std::string& path, const std::string& point);

}  // namespace sojourn::live
