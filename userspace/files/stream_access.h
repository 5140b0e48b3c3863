// What it takes to read a stream by TLS: a token, which the reader sends as its first line, and the
// authorities that are trusted. A token is never an argument, as everybody sees those: it stands in
// a file, or in the environment.
#pragma once

#include <string>

#include "analysis/base/result.h"

namespace sojourn::files {

struct StreamAccess {
  std::string token;
  std::string authorities;  // a PEM file; empty: the system's
};

// The first line of a file that not everybody may read.
Result<std::string> read_token(const std::string& path);

// SOJOURN_TOKEN_FILE, else SOJOURN_TOKEN. An error where there is neither.
Result<std::string> token_of_environment();

// That token, and SOJOURN_TLS_CA.
Result<StreamAccess> access_of_environment();

constexpr std::size_t kMinTokenBytes = 16;
constexpr std::size_t kMaxTokenBytes = 256;

}  // namespace sojourn::files
