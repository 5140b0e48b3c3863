#include "userspace/files/file_stream.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"

namespace sojourn::files {

namespace {

constexpr unsigned kGzipBuffer = 256 * 1024;

constexpr const char* kDash = "-";

// Facts about a file that need no reading.
struct About {
  std::uint64_t size_bytes = 0;
  std::optional<std::uint64_t> changed_ns;
};

// Standard input counts as a pipe also where it is a file, as it is read from where it stands.
Result<About> about(const std::string& path) {
  if (path == kDash) return About{};
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return fail_errno("open {}", path);
  if (S_ISDIR(status.st_mode)) return fail("open {}: is a directory", path);
  if (!S_ISREG(status.st_mode)) return About{};
  const auto changed_ns =
      std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return About{.size_bytes = static_cast<std::uint64_t>(status.st_size),
               .changed_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(changed_ns, 0))};
}

class FileStream : public imports::ByteStream {
 public:
  explicit FileStream(const About& about) : about_(about) {}

  const std::string& failure() const override { return failure_; }
  std::uint64_t size_bytes() const override { return about_.size_bytes; }
  std::optional<std::uint64_t> changed_ns() const override { return about_.changed_ns; }

 protected:
  std::string failure_;

 private:
  About about_;
};

class PlainStream : public FileStream {
 public:
  PlainStream(std::FILE* file, const About& about) : FileStream(about), file_(file) {}

  std::size_t read(std::span<char> into) override {
    const std::size_t got = std::fread(into.data(), 1, into.size(), file_.get());
    done_bytes_ += got;
    if (got < into.size() && std::ferror(file_.get()) != 0)
      failure_ = std::generic_category().message(errno);
    return got;
  }
  std::uint64_t done_bytes() const override { return done_bytes_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t done_bytes_ = 0;
};

class GzipStream : public FileStream {
 public:
  GzipStream(gzFile file, const About& about) : FileStream(about), file_(file) {
    gzbuffer(file, kGzipBuffer);
  }

  std::size_t read(std::span<char> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const auto rest = std::min<std::size_t>(into.size() - done, INT_MAX);
      const int got = gzread(file_.get(), into.data() + done, static_cast<unsigned>(rest));
      if (got <= 0) {
        find_failure();
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    return done;
  }
  std::uint64_t done_bytes() const override {
    const auto offset = gzoffset(file_.get());
    return offset < 0 ? 0 : static_cast<std::uint64_t>(offset);
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };

  void find_failure() {
    int code = Z_OK;
    const char* words = gzerror(file_.get(), &code);
    // For a compressed file that is cut, read() reports no error.
    if (code == Z_ERRNO)
      failure_ = std::generic_category().message(errno);
    else if (code != Z_OK)
      failure_ = code == Z_BUF_ERROR ? "compressed data is cut" : words;
  }

  std::unique_ptr<gzFile_s, Close> file_;
};

// A descriptor that can be closed by itself.
base::Fd standard_input() {
  return base::Fd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
}

std::FILE* open_plain(const std::string& path) {
  if (path != kDash) return std::fopen(path.c_str(), "rbe");
  base::Fd input = standard_input();
  std::FILE* const file = input ? fdopen(input.get(), "rb") : nullptr;
  if (file != nullptr) input.release();
  return file;
}

gzFile open_gzip(const std::string& path) {
  if (path != kDash) return gzopen(path.c_str(), "rbe");
  base::Fd input = standard_input();
  const gzFile file = input ? gzdopen(input.get(), "rb") : nullptr;
  if (file != nullptr) input.release();
  return file;
}

}  // namespace

Result<std::unique_ptr<imports::ByteStream>> open_stream(const std::string& path) {
  SJ_TRY(known, about(path));
  std::FILE* const file = open_plain(path);
  if (file == nullptr) return fail_errno("open {}", path);
  return std::make_unique<PlainStream>(file, known);
}

Result<std::unique_ptr<imports::ByteStream>> open_gzip_stream(const std::string& path) {
  SJ_TRY(known, about(path));
  const gzFile file = open_gzip(path);
  if (file == nullptr) return fail_errno("open {}", path);
  return std::make_unique<GzipStream>(file, known);
}

}  // namespace sojourn::files
