// The minimum for a test program. It also runs where no test framework does (arm64, emulated).
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: FAILED: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)

#define CHECK_EQUAL(left, right)                                                               \
  do {                                                                                         \
    const auto left_ = static_cast<long long>(left);                                           \
    const auto right_ = static_cast<long long>(right);                                         \
    if (left_ != right_) {                                                                     \
      std::fprintf(stderr, "%s:%d: FAILED: %s is %lld, not %lld\n", __FILE__, __LINE__, #left, \
                   left_, right_);                                                             \
      std::exit(1);                                                                            \
    }                                                                                          \
  } while (false)
