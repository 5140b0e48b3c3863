#include "userspace/cli/exports/http_client.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::cli {

namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::size_t kMaxHeadBytes = 64 << 10;
constexpr std::size_t kMaxBodyBytes = 4 << 20;

bool is_same_word(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

// The value of a header; empty where there is none.
std::string_view header(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find('\n'); at != std::string_view::npos; at = head.find('\n', at)) {
    ++at;
    const std::string_view line = head.substr(at, head.find('\n', at) - at);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && is_same_word(line.substr(0, colon), name))
      return trimmed(line.substr(colon + 1));
  }
  return {};
}

template <typename Number>
std::optional<Number> number_of(std::string_view digits, int base = 10) {
  Number number{};
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (code != std::errc() || end != digits.data() + digits.size() || digits.empty())
    return std::nullopt;
  return number;
}

// "HTTP/1.1 503 Service Unavailable"
Result<HttpAnswer> parse_head(std::string_view head) {
  const std::string_view line = trimmed(head.substr(0, head.find('\n')));
  const std::size_t space = line.find(' ');
  HttpAnswer answer;
  const int status =
      space == std::string_view::npos ? 0 : number_of<int>(line.substr(space + 1, 3)).value_or(0);
  if (!line.starts_with("HTTP/1.") || status < 100) return fail("the answer is not HTTP");
  answer.status = status;
  answer.reason = line.size() > space + 5 ? line.substr(space + 5) : "";
  answer.content_type = header(head, "content-type");
  answer.retry_after = header(head, "retry-after");
  return answer;
}

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};

}  // namespace

std::string HttpUrl::authority() const {
  return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string HttpUrl::text() const {
  return fmt::format("{}{}{}", kHttp, authority(), path);
}

bool is_web_address(std::string_view text) {
  return text.starts_with(kHttp) || text.starts_with("https://");
}

Result<HttpUrl> parse_http_url(std::string_view text) {
  const std::string_view whole = text;
  if (!text.starts_with(kHttp))
    return fail("\"{}\": only http:// is spoken: a collector on this machine can pass it on by TLS",
                whole);
  text.remove_prefix(kHttp.size());
  if (text.find_first_of(" \t\r\n#") != std::string_view::npos)
    return fail("\"{}\" is not an address such as http://127.0.0.1:4318", whole);
  HttpUrl url;
  const std::size_t slash = std::min(text.find('/'), text.size());
  url.path = text.substr(slash);
  std::string_view host = text.substr(0, slash);
  if (host.contains('@')) return fail("\"{}\": names and passwords are not sent", whole);
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const auto port = number_of<std::uint16_t>(host.substr(colon + 1));
    if (!port || *port == 0) return fail("\"{}\": its port is no number", whole);
    url.port = *port;
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  url.host = host;
  if (url.host.empty()) return fail("\"{}\" names no host", whole);
  return url;
}

Result<HttpAnswer> HttpClient::post(std::string_view content_type, std::string_view body) {
  until_ = Clock::now() + patience_;
  if (!is_idle_connection_open()) SJ_CHECK(connect());
  auto answer = exchange(content_type, body);
  if (!answer) connection_ = base::Fd();
  return answer;
}

// Servers close connections that were idle for a while.
bool HttpClient::is_idle_connection_open() const {
  if (!connection_ || !received_.empty()) return false;
  char byte = 0;
  return recv(connection_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

Result<void> HttpClient::connect() {
  received_.clear();
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int found =
      getaddrinfo(url_.host.c_str(), std::to_string(url_.port).c_str(), &wanted, &list);
  if (found != 0) return fail("find {}: {}", url_.host, gai_strerror(found));
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(list);
  Result<void> tried = fail("find {}: no address", url_.host);
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    connection_ = base::Fd(
        socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, one->ai_protocol));
    if (!connection_) {
      tried = fail_errno("make a socket for {}", url_.authority());
      continue;
    }
    int error = ::connect(connection_.get(), one->ai_addr, one->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      tried = wait_for(POLLOUT);
      socklen_t bytes = sizeof(error);
      error = 0;
      if (tried) getsockopt(connection_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    } else {
      tried = {};
    }
    if (tried && error == 0) return {};
    errno = error;
    if (error != 0) tried = fail_errno("connect to {}", url_.authority());
    connection_ = base::Fd();
  }
  return tried;
}

Result<HttpAnswer> HttpClient::exchange(std::string_view content_type, std::string_view body) {
  const std::string head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: sojourn\r\nContent-Type: {}\r\n"
      "Content-Length: {}\r\n\r\n",
      url_.path, url_.authority(), content_type, body.size());
  // A server that refuses a body may answer before it has read it.
  auto sent = send_all(head);
  if (sent) sent = send_all(body);
  for (;;) {
    auto text = take_head();
    if (!text) return std::unexpected(std::move(sent ? text.error() : sent.error()));
    SJ_TRY(answer, parse_head(*text));
    if (answer.status < 200) continue;  // the real one follows
    SJ_CHECK(take_body(answer, *text));
    if (!sent || is_same_word(header(*text, "connection"), "close") ||
        text->starts_with("HTTP/1.0"))
      connection_ = base::Fd();
    return std::move(answer);
  }
}

Result<void> HttpClient::wait_for(short events) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now());
  pollfd wanted{.fd = connection_.get(), .events = events, .revents = 0};
  const int ready = left.count() <= 0 ? 0 : poll(&wanted, 1, static_cast<int>(left.count()));
  if (ready < 0 && errno != EINTR) return fail_errno("wait for {}", url_.authority());
  if (ready == 0)
    return fail("{}: no answer within {} s", url_.authority(), patience_.count() / 1000);
  return {};
}

Result<void> HttpClient::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      SJ_CHECK(wait_for(POLLOUT));
      continue;
    }
    if (sent < 0) return fail_errno("send to {}", url_.authority());
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<bool> HttpClient::receive() {
  std::array<char, 16 << 10> piece{};
  for (;;) {
    const ssize_t got = recv(connection_.get(), piece.data(), piece.size(), 0);
    if (got < 0 && errno == EAGAIN) {
      SJ_CHECK(wait_for(POLLIN));
      continue;
    }
    if (got < 0) return fail_errno("read from {}", url_.authority());
    received_.append(piece.data(), static_cast<std::size_t>(got));
    return got != 0;
  }
}

// Up to the empty line, which is taken and not returned.
Result<std::string> HttpClient::take_head() {
  for (;;) {
    std::size_t end = received_.find("\r\n\r\n");
    std::size_t gap = 4;
    if (end == std::string::npos) {
      end = received_.find("\n\n");
      gap = 2;
    }
    if (end != std::string::npos) {
      std::string head = received_.substr(0, end);
      received_.erase(0, end + gap);
      return head;
    }
    if (received_.size() > kMaxHeadBytes) return fail("the answer is not HTTP");
    SJ_TRY(is_there, receive());
    if (!is_there)
      return fail("{}: the connection was closed {}", url_.authority(),
                  received_.empty() ? "without an answer" : "in the middle of the answer");
  }
}

Result<std::string> HttpClient::take_line() {
  std::size_t end = received_.find('\n');
  for (; end == std::string::npos; end = received_.find('\n')) {
    if (received_.size() > kMaxHeadBytes) return fail("the answer is not HTTP");
    SJ_TRY(is_there, receive());
    if (!is_there)
      return fail("{}: the connection was closed in the middle of the answer", url_.authority());
  }
  std::string line(trimmed(std::string_view(received_).substr(0, end)));
  received_.erase(0, end + 1);
  return line;
}

Result<void> HttpClient::take_bytes(std::size_t count, std::string& into) {
  if (count > kMaxBodyBytes || into.size() + count > kMaxBodyBytes)
    return fail("{}: the answer is longer than 4 MiB", url_.authority());
  while (received_.size() < count) {
    SJ_TRY(is_there, receive());
    if (!is_there)
      return fail("{}: the connection was closed in the middle of the answer", url_.authority());
  }
  into += received_.substr(0, count);
  received_.erase(0, count);
  return {};
}

Result<void> HttpClient::take_chunks(std::string& into) {
  for (;;) {
    SJ_TRY(line, take_line());
    const auto count =
        number_of<std::size_t>(trimmed(std::string_view(line).substr(0, line.find(';'))), 16);
    if (!count) return fail("the answer is not HTTP");
    if (*count == 0) break;
    SJ_CHECK(take_bytes(*count, into));
    SJ_CHECK(take_line());
  }
  for (;;) {
    SJ_TRY(trailer, take_line());
    if (trailer.empty()) return {};
  }
}

Result<void> HttpClient::take_body(HttpAnswer& answer, std::string_view head) {
  if (answer.status == 204 || answer.status == 304) return {};
  if (is_same_word(header(head, "transfer-encoding"), "chunked")) return take_chunks(answer.body);
  if (const std::string_view digits = header(head, "content-length"); !digits.empty()) {
    const auto count = number_of<std::size_t>(digits);
    if (!count) return fail("the answer is not HTTP");
    return take_bytes(*count, answer.body);
  }
  for (bool is_there = true; is_there && received_.size() <= kMaxBodyBytes;) {
    SJ_TRY(more, receive());
    is_there = more;
  }
  connection_ = base::Fd();
  return take_bytes(received_.size(), answer.body);
}

}  // namespace sojourn::cli
