// The secrets for reading a stream by TLS: a token, which the reader sends as its first line, and
// the authorities that it trusts. A token is never an argument, because all users of a machine can
// see arguments: it is in a file, or in the environment.
#pragma once

#include <string>

#include "analysis/base/result.h"

namespace sojourn::files {

struct StreamAccess {
  std::string token;
  std::string authorities;  // a PEM file; empty: the system's
};

// Reads the first line of the file. Fails if all users may read the file.
Result<std::string> read_token(const std::string& path);

// Reads SOJOURN_TOKEN_FILE, else SOJOURN_TOKEN. Fails if neither is set.
Result<std::string> token_of_environment();

// Reads the token, and SOJOURN_TLS_CA.
Result<StreamAccess> access_of_environment();

constexpr std::size_t kMinTokenBytes = 16;
constexpr std::size_t kMaxTokenBytes = 256;

}  // namespace sojourn::files
