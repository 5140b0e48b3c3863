#include "userspace/cli/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace sojourn::cli {

namespace {

// Where the bytes go: a link stays a link. What is no regular file is not replaced by one.
Result<std::string> place_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return path;
    return fail_errno("open {}", path);
  }
  if (!S_ISREG(status.st_mode)) return fail("write {}: not a regular file", path);
  std::error_code error;
  const auto place = std::filesystem::canonical(path, error);
  if (error) return fail("open {}: {}", path, error.message());
  return place.string();
}

bool holds(const std::string& path, std::string_view content) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  const std::string present{std::istreambuf_iterator<char>(file), {}};
  return !file.bad() && present == content;
}

// A file of our own beside `path`, gone again unless it took its place.
class Replacement {
 public:
  explicit Replacement(const std::string& path) : path_(path), name_(path + ".XXXXXX") {}
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (fd_ >= 0) ::close(fd_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }

  Result<void> open() {
    fd_ = ::mkstemp(name_.data());
    if (fd_ >= 0) return {};
    name_.clear();
    return fail_errno("create a file beside {}", path_);
  }

  Result<void> write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(fd_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail_errno("write {}", name_);
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Result<void> take_place() {
    // mkstemp's file is for its owner alone.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(fd_, 0666 & ~mask) != 0) return fail_errno("change the mode of {}", name_);
    if (::close(std::exchange(fd_, -1)) != 0) return fail_errno("close {}", name_);
    if (std::rename(name_.c_str(), path_.c_str()) != 0)
      return fail_errno("rename {} to {}", name_, path_);
    name_.clear();
    return {};
  }

 private:
  const std::string& path_;
  std::string name_;
  int fd_ = -1;
};

}  // namespace

Result<void> replace_file(const std::string& path, std::string_view content) {
  SJ_TRY(place, place_of(path));
  if (holds(place, content)) return {};
  Replacement replacement(place);
  SJ_CHECK(replacement.open());
  SJ_CHECK(replacement.write(content));
  return replacement.take_place();
}

}  // namespace sojourn::cli
