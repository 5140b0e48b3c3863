// Texts that are compared with those in expected/; after a change that is meant: SJ_GOLDEN_UPDATE=1
// and the test, then read the difference.
#pragma once

#include <cstdlib>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/child.h"

namespace sojourn::doctor {

inline void compare(const std::string& name, const std::string& said) {
  const std::string path = std::string(SJ_HERE "/expected/") + name;
  if (std::getenv("SJ_GOLDEN_UPDATE") != nullptr) test::write_contents(path, said);
  CHECK(said == test::contents(path));
}

}  // namespace sojourn::doctor
