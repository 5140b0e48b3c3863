#include "tests/basestation/check/child.h"

#include <utility>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::basestation {
namespace {

std::vector<std::string> station_with(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SJ_BASESTATION);
  return arguments;
}

}  // namespace

Child::Child(std::vector<std::string> arguments)
    : test::Child(station_with(std::move(arguments))) {}

Ended run_station(std::vector<std::string> arguments) {
  return Child(std::move(arguments)).wait();
}

truth::Truth run_for_truth(std::vector<std::string> arguments) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("truth");
  arguments.insert(arguments.end(), {"--truth", path});
  const Ended ended = run_station(std::move(arguments));
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  auto truth = truth::read_truth(path);
  if (!truth) FAIL(truth.error().text());
  REQUIRE_FALSE(truth->hits.empty());
  return std::move(*truth);
}

}  // namespace sojourn::basestation
