#include "userspace/tracee/procfs.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/privileged_helper.h"

namespace sojourn::tracee {

namespace {

constexpr std::size_t kMaxFileBytes = 64U << 20U;  // maps of 65,530 mappings are 7 MB

// The privileged helper, if the error is one of missing rights; null: there is no helper, or
// another error.
const base::PrivilegedHelper* helper_for(int code) {
  return code == EACCES || code == EPERM ? base::PrivilegedHelper::of_this_process() : nullptr;
}

}  // namespace

base::Fd open_path(const std::string& path, int flags) {
  base::Fd file(open(path.c_str(), flags | O_CLOEXEC));
  return file || helper_for(errno) == nullptr ? std::move(file) : open_by_helper(path, flags);
}

base::Fd open_by_helper(const std::string& path, int flags) {
  const auto* const helper = base::PrivilegedHelper::of_this_process();
  if (helper == nullptr) return {};
  base::Packer wanted;
  wanted.put_text(path).put(flags);
  auto answer = helper->ask(base::PrivilegedRequest::kOpen, std::move(wanted));
  if (!answer || answer->fds.size() != 1) return {};
  return std::move(answer->fds.front());
}

Result<std::string> read_whole(const std::string& path) {
  const base::Fd file = open_path(path, O_RDONLY);
  if (!file) return fail_errno("open {}", path);
  return read_whole(file, path);
}

Result<std::string> read_whole(const base::Fd& file, const std::string& path) {
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
  if (bytes >= 0) return std::string(target.data(), static_cast<std::size_t>(bytes));
  if (const auto* const helper = helper_for(errno)) {
    base::Packer wanted;
    wanted.put_text(path);
    auto answer = helper->ask(base::PrivilegedRequest::kReadLink, std::move(wanted));
    if (answer) return base::Unpacker(answer->bytes).take_text();
  }
  return fail_errno("readlink {}", path);
}

std::vector<Link> read_links(const std::string& directory) {
  std::vector<Link> links;
  const base::PrivilegedHelper* helper = nullptr;
  std::error_code failed;
  // The directory of a process of the same user opens without rights, but its links are refused.
  for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
    std::error_code gone;
    const auto leads_to = std::filesystem::read_symlink(entry.path(), gone);
    if (!gone) links.push_back({entry.path().filename().string(), leads_to.string()});
    helper = helper_for(gone.value());
    if (helper != nullptr) break;
  }
  if (failed) helper = helper_for(failed.value());
  if (helper == nullptr) return links;
  links.clear();
  base::Packer wanted;
  wanted.put_text(directory);
  auto answer = helper->ask(base::PrivilegedRequest::kReadLinks, std::move(wanted));
  if (!answer) return links;
  base::Unpacker words(answer->bytes);
  for (std::size_t left = words.take_count(2 * sizeof(std::size_t)); left > 0; --left) {
    std::string name = words.take_text();
    links.push_back({std::move(name), words.take_text()});
  }
  return links;
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

}  // namespace sojourn::tracee
