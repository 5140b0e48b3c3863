#include "userspace/http/client.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::http {

namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::size_t kMaxAnswerHeadBytes = 64 << 10;
constexpr std::size_t kMaxAnswerBytes = 4 << 20;

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

// Returns a header's value; empty if it is missing.
std::string_view header_of(std::string_view head, std::string_view name) {
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
std::optional<Number> parsed_number(std::string_view digits, int base = 10) {
  Number number{};
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (code != std::errc() || end != digits.data() + digits.size() || digits.empty())
    return std::nullopt;
  return number;
}

// "HTTP/1.1 503 Service Unavailable"
Result<Answer> parse_head(std::string_view head) {
  const std::string_view line = trimmed(head.substr(0, head.find('\n')));
  const std::size_t space = line.find(' ');
  Answer answer;
  const int status = space == std::string_view::npos
                         ? 0
                         : parsed_number<int>(line.substr(space + 1, 3)).value_or(0);
  if (!line.starts_with("HTTP/1.") || status < 100) return fail("the answer is not HTTP");
  answer.status = status;
  answer.reason = line.size() > space + 5 ? line.substr(space + 5) : "";
  answer.content_type = header_of(head, "content-type");
  answer.retry_after = header_of(head, "retry-after");
  return answer;
}

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};

}  // namespace

std::string Url::authority() const {
  return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string Url::text() const {
  return fmt::format("{}{}{}", kHttp, authority(), path);
}

bool is_web_address(std::string_view text) {
  return text.starts_with(kHttp) || text.starts_with("https://");
}

Result<Url> parse_url(std::string_view text) {
  const std::string_view whole = text;
  if (!text.starts_with(kHttp))
    return fail("\"{}\": only http:// is spoken: a collector on this machine can pass it on by TLS",
                whole);
  text.remove_prefix(kHttp.size());
  if (text.find_first_of(" \t\r\n#") != std::string_view::npos)
    return fail("\"{}\" is not an address such as http://127.0.0.1:4318", whole);
  Url url;
  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  url.path = text.substr(end);
  if (url.path.starts_with('?')) url.path.insert(0, 1, '/');
  std::string_view host = text.substr(0, end);
  if (host.contains('@')) return fail("\"{}\": names and passwords are not sent", whole);
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const auto port = parsed_number<std::uint16_t>(host.substr(colon + 1));
    if (!port || *port == 0) return fail("\"{}\": its port is no number of 1 to 65535", whole);
    url.port = *port;
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  url.host = host;
  if (url.host.empty()) return fail("\"{}\" names no host", whole);
  return url;
}

Result<Answer> Client::post(std::string_view content_type, std::string_view body) {
  until_ = Clock::now() + patience_;
  if (!is_idle_connection_open()) SJ_CHECK(connect());
  auto answer = exchange(content_type, body);
  if (!answer) connection_ = base::Fd();
  return answer;
}

// Servers close connections that were idle for a while.
bool Client::is_idle_connection_open() const {
  if (!connection_ || !received_.empty()) return false;
  char byte = 0;
  return recv(connection_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

Result<void> Client::find() {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int found =
      getaddrinfo(url_.host.c_str(), std::to_string(url_.port).c_str(), &wanted, &list);
  if (found != 0) return fail("find {}: {}", url_.host, gai_strerror(found));
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(list);
  addresses_.clear();
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    Address& address = addresses_.emplace_back(Address{.bytes = one->ai_addrlen});
    std::memcpy(&address.address, one->ai_addr, one->ai_addrlen);
  }
  return {};
}

Result<void> Client::connect() {
  received_.clear();
  if (addresses_.empty()) SJ_CHECK(find());
  Result<void> tried = fail("find {}: no address", url_.host);
  for (const Address& address : addresses_) {
    tried = connect_to(address);
    if (tried) break;
    connection_ = base::Fd();
  }
  return tried;
}

Result<void> Client::connect_to(const Address& address) {
  connection_ =
      base::Fd(socket(address.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!connection_) return fail_errno("make a socket for {}", url_.authority());
  const auto* const where = reinterpret_cast<const sockaddr*>(&address.address);
  int error = ::connect(connection_.get(), where, address.bytes) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    SJ_CHECK(wait_for(POLLOUT));
    socklen_t bytes = sizeof(error);
    error = 0;
    getsockopt(connection_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  }
  if (error == 0) return {};
  errno = error;
  return fail_errno("connect to {}", url_.authority());
}

Result<Answer> Client::exchange(std::string_view content_type, std::string_view body) {
  const std::string head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: sojourn\r\nContent-Type: {}\r\n"
      "Content-Length: {}\r\n{}\r\n",
      url_.path, url_.authority(), content_type, body.size(),
      authorization_.empty() ? "" : fmt::format("Authorization: {}\r\n", authorization_));
  // A server that refuses a body may answer before it has read it.
  auto sent = send_all(head);
  if (sent) sent = send_all(body);
  for (;;) {
    auto text = take_head();
    if (!text) return std::unexpected(std::move(sent ? text.error() : sent.error()));
    SJ_TRY(answer, parse_head(*text));
    if (answer.status < 200) continue;  // an interim answer; the final one follows
    SJ_CHECK(take_body(answer, *text));
    if (!sent || is_same_word(header_of(*text, "connection"), "close") ||
        text->starts_with("HTTP/1.0"))
      connection_ = base::Fd();
    return std::move(answer);
  }
}

Result<void> Client::wait_for(short events) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now());
  std::array<pollfd, 2> wanted = {{{.fd = connection_.get(), .events = events, .revents = 0},
                                   {.fd = stop_fd_, .events = POLLIN, .revents = 0}}};
  const int ready =
      left.count() <= 0 ? 0 : poll(wanted.data(), wanted.size(), static_cast<int>(left.count()));
  if (ready < 0 && errno != EINTR) return fail_errno("wait for {}", url_.authority());
  if (ready == 0)
    return fail("{}: no answer within {} s", url_.authority(), patience_.count() / 1000);
  if (ready > 0 && wanted[1].revents != 0)
    return fail("{}: no answer until the end", url_.authority());
  return {};
}

Result<void> Client::send_all(std::string_view bytes) {
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

Result<bool> Client::receive() {
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

// Takes the head with its empty line, and returns it without that line.
Result<std::string> Client::take_head() {
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
    if (received_.size() > kMaxAnswerHeadBytes) return fail("the answer is not HTTP");
    SJ_TRY(is_there, receive());
    if (!is_there)
      return fail("{}: the connection was closed {}", url_.authority(),
                  received_.empty() ? "without an answer" : "in the middle of the answer");
  }
}

Result<std::string> Client::take_line() {
  std::size_t end = received_.find('\n');
  for (; end == std::string::npos; end = received_.find('\n')) {
    if (received_.size() > kMaxAnswerHeadBytes) return fail("the answer is not HTTP");
    SJ_TRY(is_there, receive());
    if (!is_there)
      return fail("{}: the connection was closed in the middle of the answer", url_.authority());
  }
  std::string line(trimmed(std::string_view(received_).substr(0, end)));
  received_.erase(0, end + 1);
  return line;
}

Result<void> Client::take_bytes(std::size_t count, std::string& into) {
  if (count > kMaxAnswerBytes || into.size() + count > kMaxAnswerBytes)
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

Result<void> Client::take_chunks(std::string& into) {
  for (;;) {
    SJ_TRY(line, take_line());
    const auto count =
        parsed_number<std::size_t>(trimmed(std::string_view(line).substr(0, line.find(';'))), 16);
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

Result<void> Client::take_body(Answer& answer, std::string_view head) {
  if (answer.status == 204 || answer.status == 304) return {};
  if (is_same_word(header_of(head, "transfer-encoding"), "chunked"))
    return take_chunks(answer.body);
  if (const std::string_view digits = header_of(head, "content-length"); !digits.empty()) {
    const auto count = parsed_number<std::size_t>(digits);
    if (!count) return fail("the answer is not HTTP");
    return take_bytes(*count, answer.body);
  }
  for (bool is_there = true; is_there && received_.size() <= kMaxAnswerBytes;) {
    SJ_TRY(more, receive());
    is_there = more;
  }
  connection_ = base::Fd();
  return take_bytes(received_.size(), answer.body);
}

}  // namespace sojourn::http
