#include "userspace/page/page_file.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "userspace/page/page_parts.h"

namespace sojourn::page {

namespace {

constexpr std::size_t kPieceBytes = 48 * 1024;  // a multiple of 3: only the last piece is padded

// Appends base64 (RFC 4648).
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

Result<std::uint64_t> size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return fail("open {}: {}", path, error.message());
  return size;
}

// `names`: of one file or of two, whose sizes are added up.
Result<void> check_size(const std::string& names, std::size_t files, std::uint64_t bytes,
                        std::uint64_t most) {
  if (bytes <= most) return {};
  return fail(
      "{}: {} {} MB, and the page takes {} (--html-size). Make the page without a trace with "
      "`sojourn page`, and drop the {} onto it",
      names, files == 1 ? "has" : "have", (bytes + 999'999) / 1'000'000, most / 1'000'000,
      files == 1 ? "file" : "two files");
}

Result<void> check_sizes(std::span<const std::string> traces, std::uint64_t most) {
  std::uint64_t bytes = 0;
  std::string names;
  for (const std::string& path : traces) {
    SJ_TRY(size, size_of(path));
    bytes += size;
    names += (names.empty() ? "" : " and ") + path;
  }
  return check_size(names, traces.size(), bytes, most);
}

Result<void> write_trace(const std::string& path, std::uint64_t most, const Write& write) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail("open {}: it cannot be read", path);
  std::vector<std::uint8_t> piece(kPieceBytes);
  std::string text;
  std::uint64_t done = 0;
  while (file) {
    file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    const auto got = static_cast<std::size_t>(file.gcount());
    done += got;
    if (done > most) return fail("{}: grows while it is read", path);
    text.clear();
    append_base64(std::span(piece).first(got), text);
    SJ_CHECK(write(text));
  }
  if (file.bad()) return fail("read {}: it failed after {} bytes", path, done);
  return {};
}

// Writes bytes of any pieces as base64.
class Base64Stream {
 public:
  explicit Base64Stream(const Write& write) : write_(write) {}

  Result<void> put(std::span<const std::uint8_t> bytes) {
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
    if (waiting_.size() < kPieceBytes) return {};
    return flush(waiting_.size() - waiting_.size() % 3);
  }
  Result<void> finish() { return flush(waiting_.size()); }

 private:
  Result<void> flush(std::size_t bytes) {
    text_.clear();
    append_base64(std::span(waiting_).first(bytes), text_);
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(bytes));
    return write_(text_);
  }

  const Write& write_;
  std::vector<std::uint8_t> waiting_;
  std::string text_;
};

// Up to the name of the trace.
Result<PageParts> begin_page(const Write& write) {
  PageParts parts = page_parts();
  if (parts.head.empty())
    return fail("this sojourn was built without the report page (SOJOURN_PAGE=OFF)");
  SJ_CHECK(write(parts.head));
  return parts;
}

}  // namespace

std::string attribute_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      safe += "&amp;";
    else if (c == '"')
      safe += "&quot;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else
      safe += byte < 0x20 || byte > 0x7e ? '?' : c;
  }
  return safe;
}

Result<ServedPage> served_page() {
  const PageParts parts = page_parts();
  if (parts.head.empty())
    return fail("this sojourn was built without the report page (SOJOURN_PAGE=OFF)");
  constexpr std::string_view kNobody = "default-src 'none';";
  constexpr std::string_view kServerOnly = "default-src 'none'; connect-src 'self';";
  const std::size_t begin = parts.head.find(kNobody);
  const std::size_t end = parts.head.find('"', begin);
  if (begin == std::string_view::npos || end == std::string_view::npos)
    return fail("the report page in this sojourn has no policy");
  ServedPage page;
  page.policy = kServerOnly;
  page.policy += parts.head.substr(begin + kNobody.size(), end - begin - kNobody.size());
  page.html.reserve(parts.head.size() + parts.tail.size() + 64);
  page.html += parts.head.substr(0, begin);
  page.html += page.policy;
  page.html += parts.head.substr(end);
  page.html += "\" data-served=\"\">";
  page.html += parts.tail;
  return page;
}

Result<void> write_page(std::span<const std::string> traces, std::uint64_t most,
                        const Write& write) {
  SJ_CHECK(check_sizes(traces, most));
  SJ_TRY(parts, begin_page(write));
  if (traces.empty()) SJ_CHECK(write("\">"));
  for (const std::string& path : traces) {
    // The head ends, and the tail begins, within the element of one trace.
    if (&path != &traces.front())
      SJ_CHECK(
          write("</script>\n<script type=\"application/octet-stream\" id=\"against\" "
                "data-name=\""));
    const std::string name = std::filesystem::path(path).filename().string();
    SJ_CHECK(write(attribute_text(name) + "\">"));
    SJ_CHECK(write_trace(path, most, write));
  }
  return write(parts.tail);
}

Result<void> check_page_size(const std::string& name, std::uint64_t bytes, std::uint64_t most) {
  return check_size(name, 1, bytes, most);
}

Result<void> write_page_of(const std::string& name, const Make& make, std::uint64_t most,
                           const Write& write) {
  SJ_TRY(parts, begin_page(write));
  SJ_CHECK(write(attribute_text(name) + "\">"));
  Base64Stream stream(write);
  std::uint64_t done = 0;
  const auto made = make([&](std::span<const std::uint8_t> bytes) -> Result<void> {
    done += bytes.size();
    SJ_CHECK(check_size(name, 1, done, most));
    return stream.put(bytes);
  });
  if (!made) return made;
  SJ_CHECK(stream.finish());
  return write(parts.tail);
}

}  // namespace sojourn::page
