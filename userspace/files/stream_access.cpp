#include "userspace/files/stream_access.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"

namespace sojourn::files {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<std::string> checked(std::string token, std::string_view from) {
  const bool is_text =
      std::ranges::all_of(token, [](char letter) { return letter > ' ' && letter < 0x7f; });
  if (!is_text || token.size() < kMinTokenBytes || token.size() > kMaxTokenBytes)
    return fail(
        "{}: a token is one line of {} to {} letters and digits: `openssl rand -hex 16` "
        "makes one",
        from, kMinTokenBytes, kMaxTokenBytes);
  return token;
}

}  // namespace

Result<std::string> read_token(const std::string& path) {
  const base::Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno("open {}", path);
  struct stat status{};
  if (fstat(fd.get(), &status) != 0) return fail_errno("open {}", path);
  if ((status.st_mode & (S_IROTH | S_IWOTH)) != 0)
    return fail("{}: all users can read or write this token: chmod 600 {}", path, path);
  std::array<char, kMaxTokenBytes + 2> bytes{};
  const ssize_t got = read(fd.get(), bytes.data(), bytes.size());
  if (got < 0) return fail_errno("read {}", path);
  std::string_view line(bytes.data(), static_cast<std::size_t>(got));
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return checked(std::string(line), path);
}

Result<std::string> token_of_environment() {
  if (const std::string path = variable("SOJOURN_TOKEN_FILE"); !path.empty())
    return read_token(path);
  std::string token = variable("SOJOURN_TOKEN");
  if (token.empty())
    return fail("tls:// wants a token: set SOJOURN_TOKEN_FILE to a file with it, or SOJOURN_TOKEN");
  return checked(std::move(token), "SOJOURN_TOKEN");
}

Result<StreamAccess> access_of_environment() {
  SJ_TRY(token, token_of_environment());
  return StreamAccess{.token = std::move(token), .authorities = variable("SOJOURN_TLS_CA")};
}

}  // namespace sojourn::files
