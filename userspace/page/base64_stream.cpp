#include "userspace/page/base64_stream.h"

#include <cstddef>

namespace sojourn::page {

namespace {

constexpr std::size_t kPieceBytes = 48 * 1024;

void append_base64(std::span<const std::uint8_t> bytes, std::string& text) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t left = bytes.size() - at;
    const std::uint32_t three = static_cast<std::uint32_t>(bytes[at]) << 16 |
                                (left > 1 ? static_cast<std::uint32_t>(bytes[at + 1]) << 8 : 0) |
                                (left > 2 ? static_cast<std::uint32_t>(bytes[at + 2]) : 0);
    text += kLetters[three >> 18];
    text += kLetters[three >> 12 & 63];
    text += left > 1 ? kLetters[three >> 6 & 63] : '=';
    text += left > 2 ? kLetters[three & 63] : '=';
  }
}

}  // namespace

Result<void> Base64Stream::put(std::span<const std::uint8_t> bytes) {
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  if (waiting_.size() < kPieceBytes) return {};
  // Only the end of the text may have padding.
  return flush(waiting_.size() - waiting_.size() % 3);
}

Result<void> Base64Stream::finish() {
  return flush(waiting_.size());
}

Result<void> Base64Stream::flush(std::size_t bytes) {
  text_.clear();
  append_base64(std::span(waiting_).first(bytes), text_);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(bytes));
  return write_(text_);
}

}  // namespace sojourn::page
