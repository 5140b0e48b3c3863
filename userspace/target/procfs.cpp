#include "userspace/target/procfs.h"

#include <array>
#include <charconv>
#include <climits>

#include <fcntl.h>
#include <unistd.h>

#include "userspace/base/fd.h"

namespace sojourn::target {

namespace {
constexpr std::size_t kMaxFileBytes = 64U << 20U;  // maps of 65,530 mappings are 7 MB
}

Result<std::string> read_whole(const std::string& path) {
  const base::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail_errno("open {}", path);
  std::string text;
  std::array<char, 16384> chunk;
  while (true) {
    const ssize_t bytes = read(file.get(), chunk.data(), chunk.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return fail_errno("read {}", path);
    if (bytes == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(bytes));
    if (text.size() > kMaxFileBytes)
      return fail("read {}: longer than {} bytes", path, kMaxFileBytes);
  }
}

Result<std::string> read_link(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t bytes = readlink(path.c_str(), target.data(), target.size());
  if (bytes < 0) return fail_errno("readlink {}", path);
  return std::string(target.data(), static_cast<std::size_t>(bytes));
}

std::optional<std::string_view> status_value(std::string_view status, std::string_view key) {
  for (const std::string_view line : split(status, '\n')) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':') continue;
    const std::string_view value = line.substr(key.size() + 1);
    const std::size_t first = value.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view() : value.substr(first);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

Result<Stat> parse_stat(std::string_view text) {
  const std::size_t comm_end = text.rfind(')');
  if (comm_end == std::string_view::npos || comm_end + 2 >= text.size())
    return fail("no command name in '{}'", printable(text));
  const std::vector<std::string_view> fields = split(text.substr(comm_end + 2), ' ');
  // Numbered as proc(5) does; the first one after the name is number 3.
  const auto field = [&](std::size_t number) -> std::optional<std::uint64_t> {
    if (number - 3 >= fields.size()) return std::nullopt;
    return parse_number(fields[number - 3]);
  };
  const auto flags = field(9);
  const auto user = field(14);
  const auto system = field(15);
  const auto start = field(22);
  if (fields.empty() || fields[0].size() != 1 || !flags || !user || !system || !start)
    return fail("not the fields that proc(5) documents: '{}'", printable(text));
  const std::uint64_t tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  return Stat{.state = fields[0][0],
              .flags = *flags,
              .cpu_time_ns = (*user + *system) * tick_ns,
              .start_time_ns = *start * tick_ns};
}

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7f)
      safe += fmt::format("\\x{:02x}", byte);
    else
      safe += character;
  }
  return safe;
}

}  // namespace sojourn::target
