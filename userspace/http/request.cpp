#include "userspace/http/request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace sojourn::http {

namespace {

constexpr std::string_view kEnd = "\r\n\r\n";

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](char one, char other) {
    const auto lower = [](char letter) {
      return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    };
    return lower(one) == lower(other);
  });
}

std::string_view trimmed_value(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// Cuts the next line off.
std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find("\r\n"), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 2, text.size()));
  return line;
}

std::string_view take_word(std::string_view& line) {
  const auto end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A header that occurs twice could be read in two ways, so it is refused.
bool take_header(std::string_view name, std::string_view value, Request& request,
                 std::string& length) {
  const std::array<std::pair<std::string_view, std::string*>, 6> known = {{
      {"host", &request.host},
      {"origin", &request.origin},
      {"accept", &request.accept},
      {"cookie", &request.cookie},
      {"range", &request.range},
      {"content-length", &length},
  }};
  if (equals_ignoring_case(name, "transfer-encoding")) return false;
  for (const auto& [word, into] : known) {
    if (!equals_ignoring_case(name, word)) continue;
    if (!into->empty()) return false;
    *into = value;
  }
  return true;
}

// A request without its body.
bool read_head(std::string_view rest, Request& request, std::string& length) {
  std::string_view line = take_line(rest);
  request.method = take_word(line);
  const std::string_view target = take_word(line);
  const auto question = std::min(target.find('?'), target.size());
  request.path = target.substr(0, question);
  request.query = target.substr(std::min(question + 1, target.size()));
  if (request.method.empty() || !target.starts_with('/') || !line.starts_with("HTTP/1."))
    return false;
  while (!rest.empty()) {
    const std::string_view header = take_line(rest);
    const auto colon = header.find(':');
    if (colon == std::string_view::npos ||
        !take_header(header.substr(0, colon), trimmed_value(header.substr(colon + 1)), request,
                     length))
      return false;
  }
  return true;
}

}  // namespace

std::optional<Request> parse_request(std::string_view bytes, bool& is_wrong) {
  const auto end = bytes.find(kEnd);
  is_wrong = end == std::string_view::npos ? bytes.size() > kMaxHeadBytes : end > kMaxHeadBytes;
  if (is_wrong || end == std::string_view::npos) return std::nullopt;
  Request request;
  std::string length;
  const std::string_view body = bytes.substr(end + kEnd.size());
  std::uint64_t wanted = 0;
  is_wrong = !read_head(bytes.substr(0, end), request, length);
  if (!is_wrong && !length.empty()) {
    const auto told = number_of(length);
    is_wrong = !told || *told > kMaxBodyBytes;
    wanted = told.value_or(0);
  }
  if (is_wrong || body.size() < wanted) return std::nullopt;
  request.body = body.substr(0, static_cast<std::size_t>(wanted));
  return request;
}

bool is_own_host(std::string_view host) {
  if (host.starts_with('['))
    return host == "[::1]" || (host.starts_with("[::1]:") && number_of(host.substr(6)));
  const std::string_view name = host.substr(0, host.rfind(':'));
  if (equals_ignoring_case(name, "localhost")) return true;
  // 127.0.0.0/8 in digits only: a name such as 127.evil.example is foreign.
  return name.starts_with("127.") && std::ranges::all_of(name, [](char letter) {
           return letter == '.' || (letter >= '0' && letter <= '9');
         });
}

std::optional<std::string_view> value_of(std::string_view list, std::string_view name,
                                         char between) {
  while (!list.empty()) {
    const auto end = std::min(list.find(between), list.size());
    const std::string_view one = trimmed_value(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (one.starts_with(name) && one.substr(name.size()).starts_with('='))
      return one.substr(name.size() + 1);
  }
  return std::nullopt;
}

Ranged parse_range(std::string_view header, std::uint64_t size, ByteRange& into) {
  into = {.offset = 0, .bytes = size};
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return Ranged::kWhole;
  header.remove_prefix(kUnit.size());
  const auto dash = header.find('-');
  if (dash == std::string_view::npos || header.contains(',')) return Ranged::kWhole;
  const auto first = number_of(header.substr(0, dash));
  const auto last = number_of(header.substr(dash + 1));
  if (!first) {
    // The last bytes.
    if (!last || dash != 0) return Ranged::kWhole;
    if (*last == 0 || size == 0) return Ranged::kNone;
    into.bytes = std::min(*last, size);
    into.offset = size - into.bytes;
    return Ranged::kPart;
  }
  if ((!last && dash + 1 != header.size()) || (last && *last < *first)) return Ranged::kWhole;
  if (*first >= size) return Ranged::kNone;
  into.offset = *first;
  into.bytes = std::min(last.value_or(size - 1), size - 1) - *first + 1;
  return Ranged::kPart;
}

}  // namespace sojourn::http
