#include "userspace/cli/exports/perfetto_server.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/files/stream_address.h"

namespace sojourn::cli {

namespace {

constexpr std::string_view kPage = "https://ui.perfetto.dev";
constexpr std::size_t kMaxVisitors = 16;
constexpr std::size_t kMaxHeadBytes = 16 << 10;
constexpr std::chrono::seconds kVisitPatience{10};   // for a request
constexpr std::chrono::seconds kFetchPatience{600};  // for the file
constexpr std::size_t kPieceBytes = 64 << 10;

// The characters of the name that need no escapes in an address.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name)
    plain += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.'
                 ? c
                 : '_';
  return plain;
}

// A secret part of the URL, so that only the page that was opened with it can fetch the file.
Result<std::string> token() {
  std::array<unsigned char, 16> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return fail_errno("get random bytes");
  std::string text;
  for (const unsigned char byte : random) text += fmt::format("{:02x}", byte);
  return text;
}

bool is_same_word_ignoring_case(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

// The value of a request's header, or an empty text.
std::string_view header_of(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;
       at = head.find("\r\n", at)) {
    at += 2;
    const std::string_view line = head.substr(at, head.find("\r\n", at) - at);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    if (!is_same_word_ignoring_case(line.substr(0, colon), name)) continue;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    while (value.ends_with(' ')) value.remove_suffix(1);
    return value;
  }
  return {};
}

bool is_own_authority(std::string_view host) {
  return host == fmt::format("127.0.0.1:{}", PerfettoServer::kPort) ||
         host == fmt::format("localhost:{}", PerfettoServer::kPort);
}

std::string response(std::string_view status, std::string_view headers, std::uint64_t length) {
  return fmt::format(
      "HTTP/1.1 {}\r\nAccess-Control-Allow-Origin: {}\r\nVary: Origin\r\nCache-Control: "
      "no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nConnection: close\r\n{}Content-Length: {}\r\n\r\n",
      status, kPage, headers, length);
}

std::string refusal(std::string_view status, std::string_view words) {
  return response(status, "Content-Type: text/plain\r\n", words.size()) + std::string(words);
}

}  // namespace

Result<PerfettoServer> PerfettoServer::start(std::string_view name) {
  SJ_TRY(secret, token());
  files::StreamAddress address{.host = "127.0.0.1", .port = kPort, .path = {}};
  auto listener = files::listen_at(address);
  if (!listener)
    return fail("{}. Another `sojourn export --open`, or `trace_processor --httpd`, may use it",
                listener.error().text());
  return PerfettoServer(std::move(*listener), fmt::format("/{}/{}", secret, plain_name(name)));
}

std::string PerfettoServer::url() const {
  return fmt::format("{}/#!/?url=http://127.0.0.1:{}{}", kPage, kPort, path_);
}

Result<void> PerfettoServer::serve_once(base::Fd file, std::chrono::nanoseconds patience) {
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return fail_errno("look at the exported file");
  size_ = static_cast<std::uint64_t>(status.st_size);
  file_ = std::move(file);
  const Clock::time_point until = Clock::now() + patience;
  while (!was_given_) {
    if (Clock::now() > until && !is_being_fetched())
      return fail("no browser fetched the trace within {:.3g} s",
                  std::chrono::duration<double>(patience).count());
    SJ_CHECK(turn());
  }
  return {};
}

Result<void> PerfettoServer::turn() {
  std::vector<pollfd> watched = {{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
  for (const Visitor& visitor : visitors_)
    watched.push_back({.fd = visitor.fd.get(),
                       .events = visitor.is_answered() ? short{POLLOUT} : short{POLLIN},
                       .revents = 0});
  constexpr int kTickMs = 200;
  if (poll(watched.data(), watched.size(), kTickMs) < 0 && errno != EINTR)
    return fail_errno("serve the trace");
  auto visitor = visitors_.begin();
  for (std::size_t at = 1; at < watched.size(); ++at, ++visitor) {
    if (watched[at].revents == 0) continue;
    if (!visitor->is_answered()) receive(*visitor);
    if (visitor->is_answered()) send_more(*visitor);
  }
  const auto now = Clock::now();
  visitors_.remove_if([now](const Visitor& one) { return one.is_done || now > one.until; });
  if (watched.front().revents != 0) accept_all();
  return {};
}

bool PerfettoServer::is_being_fetched() const {
  return std::ranges::any_of(visitors_, &Visitor::gets_file);
}

void PerfettoServer::accept_all() {
  for (;;) {
    base::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    if (visitors_.size() >= kMaxVisitors) continue;  // closed at once
    Visitor& visitor = visitors_.emplace_back();
    visitor.fd = std::move(fd);
    visitor.until = Clock::now() + kVisitPatience;
  }
}

void PerfettoServer::receive(Visitor& visitor) {
  std::array<char, 4096> piece{};
  const ssize_t got = recv(visitor.fd.get(), piece.data(), piece.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  visitor.is_done = got <= 0;
  if (visitor.is_done) return;
  visitor.request.append(piece.data(), static_cast<std::size_t>(got));
  const std::size_t end = visitor.request.find("\r\n\r\n");
  if (end != std::string::npos) {
    const std::string_view head = std::string_view(visitor.request).substr(0, end);
    bool gives_file = false;
    visitor.response = answer_to(head, gives_file);
    visitor.gets_file = gives_file;
    if (gives_file) visitor.until = Clock::now() + kFetchPatience;
  } else if (visitor.request.size() > kMaxHeadBytes) {
    visitor.response = refusal("431 Request Header Fields Too Large", "too long\n");
  }
}

// A page asks first whether it may reach this machine (OPTIONS), then for the file.
std::string PerfettoServer::answer_to(std::string_view head, bool& gives_file) const {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos || !line.substr(second + 1).starts_with("HTTP/1."))
    return refusal("400 Bad Request", "this is no request\n");
  const std::string_view method = line.substr(0, first);
  const std::string_view path = line.substr(first + 1, second - first - 1);
  if (!is_own_authority(header_of(head, "host")))
    return refusal("403 Forbidden", "the Host header must name 127.0.0.1:9001\n");
  const std::string_view origin = header_of(head, "origin");
  if (!origin.empty() && origin != kPage)
    return refusal("403 Forbidden", "only for https://ui.perfetto.dev\n");
  if (method != "GET" && method != "OPTIONS")
    return refusal("405 Method Not Allowed", "only GET\n");
  if (path != path_) return refusal("404 Not Found", "there is nothing of that name\n");
  if (method == "OPTIONS")
    return response("204 No Content",
                    "Access-Control-Allow-Methods: GET\r\n"
                    "Access-Control-Allow-Private-Network: true\r\n",
                    0);
  if (is_being_fetched()) return refusal("409 Conflict", "it is being fetched already\n");
  gives_file = true;
  return response("200 OK", "Content-Type: application/octet-stream\r\n", size_);
}

bool PerfettoServer::send_response(Visitor& visitor) {
  while (!visitor.response.empty()) {
    const ssize_t sent =
        send(visitor.fd.get(), visitor.response.data(), visitor.response.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (sent < 0) {
      visitor.is_done = true;
      return false;
    }
    visitor.response.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

// A fetch that is broken off was none: the next one gets the file.
void PerfettoServer::send_more(Visitor& visitor) {
  if (!send_response(visitor)) return;
  std::array<char, kPieceBytes> piece{};
  while (visitor.gets_file && visitor.sent < size_) {
    const ssize_t got =
        pread(file_.get(), piece.data(), piece.size(), static_cast<off_t>(visitor.sent));
    visitor.is_done = got <= 0;
    if (visitor.is_done) return;
    const ssize_t sent =
        send(visitor.fd.get(), piece.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    visitor.is_done = sent <= 0;
    if (visitor.is_done) return;
    visitor.sent += static_cast<std::uint64_t>(sent);
  }
  visitor.is_done = true;
  if (!visitor.gets_file) return;
  // The page may not have read everything yet, which closing would cut off.
  shutdown(visitor.fd.get(), SHUT_WR);
  was_given_ = true;
}

}  // namespace sojourn::cli
