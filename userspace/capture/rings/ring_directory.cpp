#include "userspace/capture/rings/ring_directory.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sojourn/ring_abi.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::capture {

namespace {

constexpr std::string_view kPrefix = "sojourn-of-";

// A directory in memory, if there is one, to spare the disk.
std::string parent_directory() {
  constexpr const char* kMemory = "/dev/shm";
  return access(kMemory, W_OK | X_OK) == 0 ? kMemory : "/tmp";
}

// Removes the directory with its files. Sub-directories are not ours.
void remove_directory(const std::string& path) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored))
    unlink(entry.path().c_str());
  rmdir(path.c_str());
}

base::Fd lock_directory(const std::string& path) {
  base::Fd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory && flock(directory.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return directory;
}

// Removes directories that belong to us and that no process holds: anybody may have used such a
// name in a world-writable place.
void remove_abandoned(const std::string& parent) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    const std::string path = entry.path().string();
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const base::Fd directory = lock_directory(path);
    struct stat status{};
    if (directory && fstat(directory.get(), &status) == 0 && status.st_uid == geteuid() &&
        (status.st_mode & 0777) == 0700)
      remove_directory(path);
  }
}

// The pid in "sojourn-rings-4242-55d0c0de": 4242; -1: it is no such name.
pid_t owner_of(const std::string& file_name) {
  constexpr std::string_view kArena = SJ_ARENA_NAME "-";
  if (!file_name.starts_with(kArena)) return -1;
  return static_cast<pid_t>(std::strtol(file_name.c_str() + kArena.size(), nullptr, 10));
}

}  // namespace

Result<RingDirectory> RingDirectory::make() {
  const std::string parent = parent_directory();
  remove_abandoned(parent);
  std::string path = fmt::format("{}/{}{}-XXXXXX", parent, kPrefix, getpid());
  if (mkdtemp(path.data()) == nullptr) return fail_errno("make a directory in {}", parent);
  base::Fd lock = lock_directory(path);
  if (!lock) {
    auto error = fail_errno("lock {}", path);
    rmdir(path.c_str());
    return error;
  }
  return RingDirectory(std::move(path), std::move(lock));
}

RingDirectory::RingDirectory(RingDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

RingDirectory::~RingDirectory() {
  if (!path_.empty()) remove_directory(path_);
}

std::vector<ArenaFile> arena_files(const std::string& directory) {
  std::vector<ArenaFile> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    struct stat status{};
    const std::string path = entry.path().string();
    const pid_t owner = owner_of(entry.path().filename().string());
    if (owner > 0 && lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
      files.push_back({path, owner, status.st_dev, status.st_ino});
  }
  return files;
}

void remove_other_arenas(const std::string& directory, pid_t pid) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored))
    if (owner_of(entry.path().filename().string()) != pid) unlink(entry.path().c_str());
}

}  // namespace sojourn::capture
