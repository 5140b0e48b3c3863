#include "analysis/imports/line_reader.h"

#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace sojourn::imports {

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
static_assert(kBufferBytes > 2 * kMaxLineBytes);

// A file without a line end within this many bytes is no text, and may be endless.
constexpr std::uint64_t kEndless = std::uint64_t{256} << 20;

}  // namespace

LineReader::LineReader(ByteStream& stream) : stream_(stream), buffer_(kBufferBytes) {}

// Reads more text behind the text that is there. False: there is no more.
bool LineReader::fill() {
  if (at_end_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const auto got = stream_.read(std::span(buffer_).subspan(end_));
  if (got > 0) {
    end_ += got;
    return true;
  }
  at_end_ = true;
  failure_ = stream_.failure();
  return false;
}

bool LineReader::next(TextLine& line) {
  line = {};
  std::size_t searched = 0;     // of the buffer, without a line end
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

}  // namespace sojourn::imports
