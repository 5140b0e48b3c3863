#include "userspace/cli/output_file.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::cli {

namespace {

// The path to write to, behind a symbolic link. Only a regular file may be replaced.
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

// The path by which a file without a name can be linked.
std::string link_of(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

constexpr std::size_t kBufferBytes = 64 * 1024;

}  // namespace

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      mode_(other.mode_),
      fd_(std::exchange(other.fd_, -1)),
      name_(std::move(other.name_)),
      buffer_(std::move(other.buffer_)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<OutputFile> OutputFile::create(const std::string& path, mode_t mode) {
  SJ_TRY(place, place_of(path));
  OutputFile file(place, mode);
  if (!file.open_nameless()) SJ_CHECK(file.open_named());
  return file;
}

// False if the file system has no files without names, or if they cannot be linked.
bool OutputFile::open_nameless() {
  const auto directory = std::filesystem::path(path_).parent_path();
  fd_ =
      ::open(directory.empty() ? "." : directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode_);
  if (fd_ < 0) return false;
  if (::access(link_of(fd_).c_str(), F_OK) == 0) return true;
  ::close(std::exchange(fd_, -1));
  return false;
}

Result<void> OutputFile::open_named() {
  SJ_TRY(name, UnfinishedName::beside(path_));
  fd_ = ::open(name.text().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_);
  if (fd_ < 0) {
    auto error = fail_errno("create a file beside {}", path_);
    std::move(name).forget();  // if a file of that name exists, it may be another process's
    return error;
  }
  name_.emplace(std::move(name));
  return {};
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
    if (written < 0) return fail_errno("write {}", path_);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
  return {};
}

// Gives the file the mode and owner of the one that it replaces, and syncs it, so that a crash of
// the machine leaves one of the two. False: no file is replaced.
Result<bool> OutputFile::resemble_replaced() const {
  struct stat replaced{};
  struct stat present{};
  if (::stat(path_.c_str(), &replaced) != 0)
    return errno == ENOENT ? Result<bool>(false) : fail_errno("write {}", path_);
  if (::fstat(fd_, &present) != 0) return fail_errno("write {}", path_);
  // Only root may change a file's owner. If the owner differs, group permissions are not copied.
  const bool is_same = present.st_uid == replaced.st_uid && present.st_gid == replaced.st_gid;
  const bool is_given_away = is_same || ::fchown(fd_, replaced.st_uid, replaced.st_gid) == 0;
  const mode_t kept = replaced.st_mode & (is_given_away ? 0777 : 0707);
  if (::fchmod(fd_, kept) != 0) return fail_errno("change the mode of {}", path_);
  if (::fsync(fd_) != 0) return fail_errno("write {}", path_);
  return true;
}

Result<void> OutputFile::finish() {
  SJ_CHECK(flush());
  SJ_TRY(replaces, resemble_replaced());
  if (name_) {
    if (std::rename(name_->text().c_str(), path_.c_str()) != 0)
      return fail_errno("rename {} to {}", name_->text(), path_);
    std::move(*name_).forget();
    name_.reset();
  } else if (replaces || ::linkat(AT_FDCWD, link_of(fd_).c_str(), AT_FDCWD, path_.c_str(),
                                  AT_SYMLINK_FOLLOW) != 0) {
    if (!replaces && errno != EEXIST) return fail_errno("create {}", path_);
    SJ_CHECK(link_over());
  }
  if (::close(std::exchange(fd_, -1)) != 0) return fail_errno("close {}", path_);
  return {};
}

// Linking cannot replace a file, so the file gets a temporary name, and is renamed.
Result<void> OutputFile::link_over() const {
  SJ_TRY(name, UnfinishedName::beside(path_));
  if (::linkat(AT_FDCWD, link_of(fd_).c_str(), AT_FDCWD, name.text().c_str(), AT_SYMLINK_FOLLOW) !=
      0) {
    auto error = fail_errno("create a file beside {}", path_);
    std::move(name).forget();
    return error;
  }
  if (std::rename(name.text().c_str(), path_.c_str()) != 0)
    return fail_errno("rename {} to {}", name.text(), path_);
  std::move(name).forget();
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
