#include "userspace/redaction/name_redaction.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace sojourn::redaction {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex_letter(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The length of the run of characters for which `is` holds, from the beginning.
template <typename Is>
std::size_t run(std::string_view text, const Is& is) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is) - text.begin());
}

// An address without "0x", or part of a UUID.
bool is_bare_hex(std::string_view word) {
  constexpr std::size_t kLeast = 4;
  return word.size() >= kLeast && std::ranges::any_of(word, is_digit) &&
         std::ranges::any_of(word, is_hex_letter) &&
         std::ranges::all_of(word, [](char c) { return is_digit(c) || is_hex_letter(c); });
}

// Threads of the kernel, whose names are public; the part behind a '-' names a device or a task.
bool is_of_kernel(std::string_view name) {
  constexpr std::array<std::string_view, 13> kBeginnings = {
      "swapper/", "kworker/", "ksoftirqd/", "migration/", "rcu",    "irq/",        "kthreadd",
      "cpuhp/",   "ktimers/", "watchdog/",  "kcompactd",  "kswapd", "idle_inject/"};
  return std::ranges::any_of(kBeginnings,
                             [&](std::string_view one) { return name.starts_with(one); });
}

}  // namespace

NameRedaction::NameRedaction(ValueCipher& cipher, const model::Schema& schema,
                             std::set<std::uint64_t> pids)
    : cipher_(cipher), pids_(std::move(pids)) {
  for (const model::Point& point : schema.points) {
    places_.insert(point.src);
    places_.insert(point.dest);
  }
}

std::string NameRedaction::words(std::string_view name) {
  std::string result;
  while (!name.empty()) {
    const std::size_t word = run(name, [](char c) { return is_digit(c) || is_letter(c); });
    if (word == 0) {
      result += name.front();
      name.remove_prefix(1);
      continue;
    }
    std::string_view left = name.substr(0, word);
    name.remove_prefix(word);
    const bool is_hex = left.size() > 2 && left[0] == '0' && (left[1] == 'x' || left[1] == 'X');
    std::uint64_t number = 0;
    if (is_hex) {
      const auto read = std::from_chars(left.data() + 2, left.data() + left.size(), number, 16);
      const bool is_whole = read.ec == std::errc() && read.ptr == left.data() + left.size();
      result += is_whole ? fmt::format("0x{:x}", cipher_(number)) : cipher_.digest(left);
      continue;
    }
    if (is_bare_hex(left)) {
      result += cipher_.digest(left);
      continue;
    }
    while (!left.empty()) {
      const std::size_t letters = run(left, is_letter);
      result += left.substr(0, letters);
      left.remove_prefix(letters);
      const std::size_t digits = run(left, is_digit);
      if (digits == 0) continue;
      const auto read = std::from_chars(left.data(), left.data() + digits, number);
      result += read.ec == std::errc() ? std::to_string(cipher_(number))
                                       : cipher_.digest(left.substr(0, digits));
      left.remove_prefix(digits);
    }
  }
  return result;
}

std::string NameRedaction::file(std::string_view path) const {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return std::string(path);
  return fmt::format("/{}/{}", cipher_.digest(path.substr(0, slash)), path.substr(slash + 1));
}

std::string NameRedaction::queue(std::string_view name) {
  if (places_.contains(name)) return std::string(name);
  for (std::size_t end = name.rfind(' '); end != std::string_view::npos && end > 0;
       end = name.rfind(' ', end - 1))
    if (places_.contains(name.substr(0, end)))
      return std::string(name.substr(0, end)) + words(name.substr(end));
  return words(name);
}

std::string NameRedaction::thread(const model::ContextName& about) {
  if (about.pid == 0 || pids_.contains(about.pid)) return words(about.name);
  if (is_of_kernel(about.name)) return about.name.substr(0, about.name.find('-'));
  return "other " + cipher_.digest(about.name);
}

std::string NameRedaction::context_name(const model::ContextName& about) {
  const std::string& name = about.name;
  switch (about.kind) {
    case model::NameKind::kThread:
      return thread(about);
    case model::NameKind::kIrq:  // a network card's name, for example
      return fmt::format("irq {}", about.id);
    case model::NameKind::kSoftirq:
    case model::NameKind::kSyscall:
      return name;
    case model::NameKind::kSocket:
    case model::NameKind::kDescriptor:
      break;
  }
  if (name.starts_with("anon_inode:")) return name;
  // "udp 127.0.0.1:2152", "socket:[1234]", a path
  const std::size_t kind = run(name, is_letter);
  const bool is_named = kind > 0 && kind < name.size() && (name[kind] == ' ' || name[kind] == ':');
  return fmt::format("{} {}", is_named ? name.substr(0, kind) : "file", cipher_.digest(name));
}

}  // namespace sojourn::redaction
