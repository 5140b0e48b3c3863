#include "userspace/page/page_file.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "userspace/files/file_source.h"
#include "userspace/files/nameless_file.h"
#include "userspace/files/trace_file.h"
#include "userspace/page/base64_stream.h"
#include "userspace/page/page_parts.h"
#include "userspace/page/summary_part.h"

namespace sojourn::page {

namespace {

constexpr std::size_t kReadBytes = 48 * 1024;

Result<std::uint64_t> size_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return fail("open {}: {}", path, error.message());
  return size;
}

Result<std::uint64_t> size_of(std::span<const std::string> traces) {
  std::uint64_t bytes = 0;
  for (const std::string& path : traces) {
    SJ_TRY(size, size_of(path));
    bytes += size;
  }
  return bytes;
}

Result<void> write_trace(const std::string& path, std::uint64_t most, const Write& write) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail("open {}: it cannot be read", path);
  std::vector<std::uint8_t> piece(kReadBytes);
  Base64Stream stream(write);
  std::uint64_t done = 0;
  while (file) {
    file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    const auto got = static_cast<std::size_t>(file.gcount());
    done += got;
    if (done > most) return fail("{}: grows while it is read", path);
    SJ_CHECK(stream.put(std::span(piece).first(got)));
  }
  if (file.bad()) return fail("read {}: it failed after {} bytes", path, done);
  return stream.finish();
}

// The file is removed with the source.
Result<std::unique_ptr<trace::ByteSource>> made_source(const std::string& name, const Make& make) {
  SJ_TRY(file, files::nameless_file());
  std::uint64_t size = 0;
  SJ_CHECK(make([&](std::span<const std::uint8_t> bytes) -> Result<void> {
    size += bytes.size();
    return files::append(file, bytes);
  }));
  return std::make_unique<files::FileSource>(name, std::move(file), size);
}

Result<void> write_source(trace::ByteSource& source, const Write& write) {
  std::vector<std::uint8_t> piece(kReadBytes);
  Base64Stream stream(write);
  for (std::uint64_t done = 0; done < source.size();) {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), source.size() - done));
    if (!source.read_at(done, std::span(piece).first(wanted)))
      return fail("read {}: it failed after {} bytes", source.name(), done);
    SJ_CHECK(stream.put(std::span(piece).first(wanted)));
    done += wanted;
  }
  return stream.finish();
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// Writes the page up to the trace's name.
Result<PageParts> begin_page(const Write& write) {
  const PageParts parts = page_parts();
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

Result<void> write_page(std::span<const std::string> traces, std::uint64_t most, const Write& write,
                        const SummaryProgress& progress) {
  SJ_TRY(bytes, size_of(traces));
  SJ_TRY(parts, begin_page(write));
  if (traces.empty()) SJ_CHECK(write("\">"));
  if (bytes > most) {
    std::vector<SummarySource> sources;
    for (const std::string& path : traces) {
      SJ_TRY(source, files::open_source(path));
      sources.push_back({.name = name_of(path), .is_kept = true, .bytes = std::move(source)});
    }
    SJ_CHECK(write_summary(std::move(sources), most, write, progress));
    return write(parts.tail);
  }
  for (const std::string& path : traces) {
    // The head ends, and the tail begins, within the element of one trace.
    if (&path != &traces.front()) SJ_CHECK(write(kSecondTrace));
    SJ_CHECK(write(attribute_text(name_of(path)) + "\">"));
    SJ_CHECK(write_trace(path, most, write));
  }
  return write(parts.tail);
}

Result<void> write_page_of(const std::string& name, const Make& make, std::uint64_t most,
                           const Write& write, const SummaryProgress& progress) {
  SJ_TRY(parts, begin_page(write));
  SJ_TRY(made, made_source(name, make));
  if (made->size() > most) {
    std::vector<SummarySource> sources;
    sources.push_back({.name = name, .is_kept = false, .bytes = std::move(made)});
    SJ_CHECK(write_summary(std::move(sources), most, write, progress));
    return write(parts.tail);
  }
  SJ_CHECK(write(attribute_text(name) + "\">"));
  SJ_CHECK(write_source(*made, write));
  return write(parts.tail);
}

}  // namespace sojourn::page
