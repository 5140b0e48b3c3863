#include "userspace/cli/output_file.h"

#include <cerrno>
#include <cstddef>
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

constexpr std::size_t kBufferBytes = 64 * 1024;

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), name_(path_ + ".XXXXXX") {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      name_(std::exchange(other.name_, {})),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!name_.empty()) ::unlink(name_.c_str());
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  SJ_TRY(place, place_of(path));
  OutputFile file(place);
  file.fd_ = ::mkstemp(file.name_.data());
  if (file.fd_ >= 0) return file;
  file.name_.clear();
  return fail_errno("create a file beside {}", path);
}

Result<void> OutputFile::write(std::string_view content) {
  buffer_ += content;
  return buffer_.size() < kBufferBytes ? Result<void>() : flush();
}

Result<void> OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("write {}", name_);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
  return {};
}

Result<void> OutputFile::finish() {
  SJ_CHECK(flush());
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

Result<void> replace_file(const std::string& path, std::string_view content) {
  SJ_TRY(place, place_of(path));
  if (holds(place, content)) return {};
  SJ_TRY(file, OutputFile::create(path));
  SJ_CHECK(file.write(content));
  return file.finish();
}

}  // namespace sojourn::cli
