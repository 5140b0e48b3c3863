#include "userspace/host/scratch_file.h"

#include <algorithm>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::host {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostShare = 10;  // one part of this many of the free space

Result<base::Fd> open_nameless(const std::string& directory) {
  base::Fd fd(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  // On a file system without O_TMPFILE the file has a name for a moment.
  std::string path = directory + "/sojourn-host-XXXXXX";
  fd = base::Fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd) return fail_errno("create a file in {}", directory);
  unlink(path.c_str());
  return fd;
}

Result<void> fill(const base::Fd& fd, std::size_t bytes) {
  std::vector<std::uint64_t> block(std::size_t{1 << 20} / sizeof(std::uint64_t));
  std::uint64_t state = 0x2545f4914f6cdd1d;
  for (std::size_t done = 0; done < bytes;) {
    for (std::uint64_t& word : block) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      word = state;
    }
    const std::size_t wanted = std::min(bytes - done, block.size() * sizeof(std::uint64_t));
    const ssize_t wrote = pwrite(fd.get(), block.data(), wanted, static_cast<off_t>(done));
    if (wrote <= 0) return fail_errno("write a file of {} bytes", bytes);
    done += static_cast<std::size_t>(wrote);
  }
  if (fdatasync(fd.get()) != 0) return fail_errno("write a file of {} bytes to the disk", bytes);
  return {};
}

}  // namespace

Result<ScratchFile> ScratchFile::make(const std::string& directory, std::size_t bytes) {
  struct statvfs space{};
  if (statvfs(directory.c_str(), &space) != 0) return fail_errno("look at {}", directory);
  const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
  if (bytes > free / kMostShare)
    return fail("{} has {} MB free: a file of {} MB would take more than a tenth of it", directory,
                free / 1'000'000, bytes / 1'000'000);
  SJ_TRY(fd, open_nameless(directory));
  SJ_CHECK(fill(fd, bytes));
  return ScratchFile(std::move(fd), bytes);
}

Result<base::Fd> ScratchFile::open_direct() const {
  const std::string path = fmt::format("/proc/self/fd/{}", fd_.get());
  base::Fd fd(open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (!fd) return fail_errno("open a file past the cache");
  return fd;
}

double ScratchFile::drop_from_cache() const {
  fdatasync(fd_.get());
  posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
  return cached_share();
}

double ScratchFile::cached_share() const {
  void* const at = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd_.get(), 0);
  if (at == MAP_FAILED) return 1;
  std::vector<unsigned char> pages((bytes_ + kPage - 1) / kPage);
  double share = 1;
  if (mincore(at, bytes_, pages.data()) == 0) {
    const auto inside =
        std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; });
    share = static_cast<double>(inside) / static_cast<double>(pages.size());
  }
  munmap(at, bytes_);
  return share;
}

}  // namespace sojourn::host
