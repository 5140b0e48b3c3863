// The demands of the fuzzers on the code under test. A demand that is not met ends the process, and
// the fuzzer reports the input.
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

// A demand that any input may fail, except inputs of the corpus whose names begin with `sound-`:
// these are run once with SJ_FUZZ_SOUND set. A corpus that is refused everywhere would make the
// fuzzer useless.
inline bool understood(bool truth) {
  static const bool all_sound = std::getenv("SJ_FUZZ_SOUND") != nullptr;
  require(truth || !all_sound, "a sound input is understood");
  return truth;
}

}  // namespace sojourn::fuzz
