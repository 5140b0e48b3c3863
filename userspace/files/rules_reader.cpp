#include "userspace/files/rules_reader.h"

#include <cstddef>

#include "analysis/journeys/rule_file.h"
#include "userspace/files/file_stream.h"

namespace sojourn::files {

namespace {

constexpr std::size_t kMaxBytes = 1 << 20;

}  // namespace

Result<journeys::Rules> read_rules(const std::string& path) {
  SJ_TRY(file, open_stream(path));
  std::string text(kMaxBytes + 1, '\0');
  text.resize(file->read(text));
  if (!file->failure().empty()) return fail("read {}: {}", path, file->failure());
  if (text.size() > kMaxBytes) return fail("{}: larger than 1 MiB, which no rules are", path);
  return journeys::parse_rules(text, path);
}

}  // namespace sojourn::files
