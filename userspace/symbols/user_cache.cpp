#include "userspace/symbols/user_cache.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/tracee/file_bytes.h"

namespace sojourn::symbols {

namespace {

constexpr std::string_view kMagic = "sojourn cache 1\n";
constexpr std::size_t kChecksumDigits = 16;
constexpr std::size_t kMaxCachedBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxCachedFiles = 64;
constexpr mode_t kOthers = 077;

// FNV-1a, against damage, not against malice.
std::uint64_t checksum(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return sum;
}

// Opens or makes a directory of this user, into which no other user can write.
base::Fd own_directory(int parent, const std::string& name, mode_t others) {
  base::Fd directory(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat about{};
  if (!directory || fstat(directory.get(), &about) != 0 || about.st_uid != geteuid() ||
      (about.st_mode & others) != 0)
    return {};
  return directory;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(fd, text.data(), text.size());
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

std::string home_cache() {
  const char* const named = std::getenv("XDG_CACHE_HOME");
  if (named != nullptr && *named == '/') return named;
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache" : std::string();
}

struct EndListing {
  void operator()(DIR* listing) const { closedir(listing); }
};

}  // namespace

std::optional<UserCache> UserCache::open(const std::string& room) {
  const std::string directory = home_cache();
  if (directory.empty()) return std::nullopt;
  return open_below(directory, room);
}

std::optional<UserCache> UserCache::open_below(const std::string& directory,
                                               const std::string& room) {
  mkdir(directory.c_str(), 0700);
  // Others may look into it, as ~/.cache often lets them.
  base::Fd at = own_directory(AT_FDCWD, directory, S_IWGRP | S_IWOTH);
  for (const std::string& name : {std::string("sojourn"), room}) {
    if (!at) return std::nullopt;
    mkdirat(at.get(), name.c_str(), 0700);
    at = own_directory(at.get(), name, kOthers);
  }
  if (!at) return std::nullopt;
  return UserCache(std::move(at));
}

std::optional<std::string> UserCache::load(const std::string& name) const {
  const base::Fd file(
      openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about{};
  if (!file || fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) ||
      about.st_uid != geteuid() || (about.st_mode & kOthers) != 0 || about.st_nlink != 1 ||
      about.st_size < 0 || static_cast<std::size_t>(about.st_size) > kMaxCachedBytes)
    return std::nullopt;
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  if (!tracee::read_fully(file.get(), 0, std::as_writable_bytes(std::span(text))))
    return std::nullopt;
  const std::size_t header = kMagic.size() + kChecksumDigits + 1;
  if (text.size() < header || !text.starts_with(kMagic)) return std::nullopt;
  const std::string_view body = std::string_view(text).substr(header);
  if (std::string_view(text).substr(kMagic.size(), kChecksumDigits + 1) !=
      fmt::format("{:016x}\n", checksum(body)))
    return std::nullopt;
  futimens(file.get(), nullptr);  // marks it as used now
  return std::string(body);
}

bool UserCache::store(const std::string& name, std::string_view text) const {
  if (text.size() > kMaxCachedBytes - kMagic.size() - kChecksumDigits - 1) return false;
  make_room();
  const std::string fresh = fmt::format(".{}.{}", name, getpid());
  unlinkat(directory_.get(), fresh.c_str(), 0);  // left by a process of this pid that was killed
  const base::Fd file(openat(directory_.get(), fresh.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return false;
  const bool is_whole = write_all(file.get(), kMagic) &&
                        write_all(file.get(), fmt::format("{:016x}\n", checksum(text))) &&
                        write_all(file.get(), text);
  if (is_whole && renameat(directory_.get(), fresh.c_str(), directory_.get(), name.c_str()) == 0)
    return true;
  unlinkat(directory_.get(), fresh.c_str(), 0);
  return false;
}

void UserCache::make_room() const {
  const int copy = openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  const std::unique_ptr<DIR, EndListing> listing(fdopendir(copy));
  if (listing == nullptr) {
    close(copy);
    return;
  }
  std::vector<std::pair<std::int64_t, std::string>> files;  // by the time of their last use
  while (const dirent* const one = readdir(listing.get())) {
    const std::string name = static_cast<const char*>(one->d_name);
    struct stat about{};
    if (name == "." || name == ".." ||
        fstatat(directory_.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    files.emplace_back(about.st_mtim.tv_sec, name);
  }
  if (files.size() < kMaxCachedFiles) return;
  std::ranges::sort(files);
  files.resize(files.size() - kMaxCachedFiles + 1);
  for (const auto& [when, name] : files) unlinkat(directory_.get(), name.c_str(), 0);
}

}  // namespace sojourn::symbols
