#include "userspace/files/text_file.h"

#include <cstddef>

#include "userspace/files/file_stream.h"

namespace sojourn::files {

namespace {

constexpr std::size_t kMaxBytes = 1 << 20;

}  // namespace

Result<std::string> read_text(const std::string& path, std::string_view what) {
  SJ_TRY(file, open_stream(path));
  std::string text(kMaxBytes + 1, '\0');
  text.resize(file->read(text));
  if (!file->failure().empty()) return fail("read {}: {}", path, file->failure());
  if (text.size() > kMaxBytes) return fail("{}: larger than 1 MiB, which no {}", path, what);
  return text;
}

}  // namespace sojourn::files
