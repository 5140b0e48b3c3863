#include "analysis/latseq/line_reader.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include "analysis/latseq/line.h"

namespace sojourn::latseq {

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
static_assert(kBufferBytes > 2 * kMaxLineBytes);

// What has no line end within this is no text, and may have no end either.
constexpr std::uint64_t kEndless = std::uint64_t{256} << 20;

}  // namespace

void LineReader::Close::operator()(gzFile_s* file) const {
  gzclose(file);
}

Result<LineReader> LineReader::open(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return fail_errno("open {}", path);
  if (S_ISDIR(status.st_mode)) return fail("open {}: is a directory", path);
  // What is not compressed is read as it is.
  gzFile_s* file = gzopen(path.c_str(), "rbe");
  if (file == nullptr) return fail_errno("open {}", path);
  return LineReader(file, S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0);
}

LineReader::LineReader(gzFile_s* file, std::uint64_t size_bytes)
    : file_(file), size_bytes_(size_bytes), buffer_(kBufferBytes) {
  gzbuffer(file, 256 * 1024);
}

std::uint64_t LineReader::done_bytes() const {
  const auto offset = gzoffset(file_.get());
  return offset < 0 ? 0 : static_cast<std::uint64_t>(offset);
}

// More text behind what is there; false: there is none.
bool LineReader::fill() {
  if (at_end_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const int got =
      gzread(file_.get(), buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
  if (got > 0) {
    end_ += static_cast<std::size_t>(got);
    return true;
  }
  at_end_ = true;
  int code = Z_OK;
  const char* words = gzerror(file_.get(), &code);
  // A compressed file that is cut ends without an error of read().
  if (code == Z_ERRNO)
    failure_ = std::generic_category().message(errno);
  else if (code != Z_OK)
    failure_ = code == Z_BUF_ERROR ? "compressed data is cut" : words;
  return false;
}

bool LineReader::next(TextLine& line) {
  line = {};
  std::size_t searched = 0;     // of what is there, without a line end
  std::uint64_t passed_by = 0;  // of the line, before that
  while (true) {
    const char* const from = buffer_.data() + begin_;
    const void* found = nullptr;
    if (end_ - begin_ > searched)
      found = std::memchr(from + searched, '\n', end_ - begin_ - searched);
    if (found != nullptr) {
      const auto size = static_cast<std::size_t>(static_cast<const char*>(found) - from);
      line.too_long |= size > kMaxLineBytes;
      if (!line.too_long) line.text = {from, size};
      begin_ += size + 1;
      return true;
    }
    searched = end_ - begin_;
    if (searched > kMaxLineBytes) {
      line.too_long = true;
      begin_ = end_;
      passed_by += std::exchange(searched, 0);
      if (passed_by > kEndless) {
        failure_ = fmt::format("no line end within {} MiB", kEndless >> 20);
        at_end_ = true;
        return false;
      }
    }
    if (fill()) continue;
    if (searched == 0 && !line.too_long) return false;
    line.has_end = false;
    line.text = {buffer_.data() + begin_, searched};
    begin_ = end_;
    return true;
  }
}

}  // namespace sojourn::latseq
