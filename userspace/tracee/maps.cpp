#include "userspace/tracee/maps.h"

#include <algorithm>
#include <array>
#include <optional>

#include <sys/sysmacros.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

// Takes the text before the first `separator` off the line.
std::optional<std::string_view> take(std::string_view& line, char separator) {
  const std::size_t end = line.find(separator);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end + 1);
  return word;
}

std::optional<std::uint64_t> take_number(std::string_view& line, char separator, int base) {
  const auto word = take(line, separator);
  return word ? parse_number(*word, base) : std::nullopt;
}

bool valid_permissions(std::string_view text) {
  return text.size() == 4 && (text[0] == 'r' || text[0] == '-') &&
         (text[1] == 'w' || text[1] == '-') && (text[2] == 'x' || text[2] == '-') &&
         (text[3] == 'p' || text[3] == 's');
}

// "55d0-55d1 r-xp 00001000 fe:01 1234     /usr/bin/name"
std::optional<Mapping> parse_line(std::string_view line) {
  const auto start = take_number(line, '-', 16);
  const auto end = take_number(line, ' ', 16);
  const auto permissions = take(line, ' ');
  const auto offset = take_number(line, ' ', 16);
  const auto major = take_number(line, ':', 16);
  const auto minor = take_number(line, ' ', 16);
  const std::size_t inode_end = std::min(line.find(' '), line.size());
  const auto inode = parse_number(line.substr(0, inode_end));
  if (!start || !end || *end <= *start || !permissions || !valid_permissions(*permissions) ||
      !offset || !major || *major > UINT32_MAX || !minor || *minor > UINT32_MAX || !inode)
    return std::nullopt;
  const std::size_t name = std::min(line.find_first_not_of(' ', inode_end), line.size());
  return Mapping{.start = *start,
                 .end = *end,
                 .offset = *offset,
                 .device = makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor)),
                 .inode = *inode,
                 .readable = (*permissions)[0] == 'r',
                 .writable = (*permissions)[1] == 'w',
                 .executable = (*permissions)[2] == 'x',
                 .name = std::string(line.substr(name))};
}

std::string unescape_newlines(std::string_view name) {
  constexpr std::string_view kEscape = "\\012";
  std::string text;
  while (true) {
    const std::size_t at = name.find(kEscape);
    text += name.substr(0, at);
    if (at == std::string_view::npos) return text;
    text += '\n';
    name.remove_prefix(at + kEscape.size());
  }
}

}  // namespace

Result<std::vector<Mapping>> parse_maps(std::string_view text) {
  std::vector<Mapping> mappings;
  for (const std::string_view line : split(text, '\n')) {
    auto mapping = parse_line(line);
    if (!mapping) return fail("line {} is no mapping: '{}'", mappings.size() + 1, printable(line));
    mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

std::vector<std::string> possible_names(std::string_view name) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::vector<std::string> names;
  const auto add = [&](std::string candidate) {
    if (std::ranges::find(names, candidate) == names.end()) names.push_back(std::move(candidate));
  };
  add(std::string(name));
  add(unescape_newlines(name));
  if (name.ends_with(kDeleted)) {
    const std::string_view bare = name.substr(0, name.size() - kDeleted.size());
    add(std::string(bare));
    add(unescape_newlines(bare));
  }
  return names;
}

}  // namespace sojourn::tracee
