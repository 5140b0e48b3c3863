// What fuzzers demand of the code under test. A demand that is not met ends the process, which the
// fuzzer reports with the input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace sojourn::fuzz {

inline void require(bool truth, std::string_view what) {
  if (truth) return;
  fmt::print(stderr, "not so: {}\n", what);
  std::abort();
}

// What any input may fail, but no input of the corpus that is called sound: these are run once with
// SJ_FUZZ_SOUND set. A corpus that is not understood any more would leave the fuzzer at the door.
inline bool understood(bool truth) {
  static const bool all_sound = std::getenv("SJ_FUZZ_SOUND") != nullptr;
  require(truth || !all_sound, "a sound input is understood");
  return truth;
}

}  // namespace sojourn::fuzz
