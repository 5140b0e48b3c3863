#include "userspace/capture/metrics/http_request.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace sojourn::capture {

namespace {

constexpr std::string_view kEnd = "\r\n\r\n";
constexpr std::size_t kMaxHead = 16 << 10;

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

}  // namespace

std::optional<HttpRequest> parse_http_request(std::string_view bytes, bool& is_wrong) {
  const auto end = bytes.find(kEnd);
  is_wrong = end == std::string_view::npos ? bytes.size() > kMaxHead : end > kMaxHead;
  if (is_wrong || end == std::string_view::npos) return std::nullopt;
  std::string_view rest = bytes.substr(0, end);
  std::string_view line = take_line(rest);
  HttpRequest request;
  request.method = take_word(line);
  const std::string_view path = take_word(line);
  request.path = path.substr(0, path.find('?'));
  is_wrong = request.method.empty() || !path.starts_with('/') || !line.starts_with("HTTP/1.");
  while (!rest.empty() && !is_wrong) {
    const std::string_view header = take_line(rest);
    const auto colon = header.find(':');
    is_wrong = colon == std::string_view::npos;
    if (is_wrong) break;
    const std::string_view value = trimmed_value(header.substr(colon + 1));
    if (equals_ignoring_case(header.substr(0, colon), "host")) request.host = value;
    if (equals_ignoring_case(header.substr(0, colon), "accept")) request.accept = value;
  }
  if (is_wrong) return std::nullopt;
  return request;
}

bool is_own_host(std::string_view host) {
  if (host.starts_with('[')) return host.starts_with("[::1]");
  const std::string_view name = host.substr(0, host.rfind(':'));
  if (equals_ignoring_case(name, "localhost")) return true;
  // 127.0.0.0/8 in digits: a name such as 127.evil.example is none of ours.
  return name.starts_with("127.") && std::ranges::all_of(name, [](char letter) {
           return letter == '.' || (letter >= '0' && letter <= '9');
         });
}

std::string http_response(std::string_view status, std::string_view content_type,
                          std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n{}",
      status, content_type, body.size(), body);
}

}  // namespace sojourn::capture
