#include "tests/support/served.h"

#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "userspace/files/stream_address.h"

namespace sojourn::test {

namespace {

constexpr int kWaitMs = 60'000;

std::vector<std::string> command_of(const std::string& program, std::vector<std::string> arguments,
                                    std::vector<std::string> before) {
  before.push_back(program);
  before.emplace_back("serve");
  before.insert(before.end(), arguments.begin(), arguments.end());
  return before;
}

}  // namespace

int HttpAnswer::status() const {
  return head.starts_with("HTTP/1.1 ") ? std::stoi(head.substr(9, 3)) : 0;
}

HttpPeer::HttpPeer(std::uint16_t port) {
  auto fd = files::connect_to({.host = "127.0.0.1", .port = port, .path = {}});
  if (!fd) throw std::runtime_error(fd.error().text());
  fd_ = std::move(*fd);
}

bool HttpPeer::send(const std::string& bytes) const {
  for (std::size_t sent = 0; sent < bytes.size();) {
    pollfd ready{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, kWaitMs) != 1) return false;
    const ssize_t some = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (some <= 0) return false;
    sent += static_cast<std::size_t>(some);
  }
  return true;
}

bool HttpPeer::read_some() {
  pollfd ready{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, kWaitMs) != 1) return false;
  std::array<char, 65'536> piece{};
  const ssize_t got = recv(fd_.get(), piece.data(), piece.size(), 0);
  if (got <= 0) return false;
  heard_.append(piece.data(), static_cast<std::size_t>(got));
  return true;
}

bool HttpPeer::hears(const std::string& text) {
  for (;;) {
    const std::size_t at = heard_.find(text, seen_);
    if (at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    if (!read_some()) return false;
  }
}

HttpAnswer HttpPeer::answer() {
  while (read_some()) continue;
  const std::size_t end = heard_.find("\r\n\r\n");
  if (end == std::string::npos) return {.head = heard_, .body = {}};
  return {.head = heard_.substr(0, end + 2), .body = heard_.substr(end + 4)};
}

Served::Served(const std::string& program, std::vector<std::string> arguments,
               std::vector<std::string> before)
    : child_(command_of(program, std::move(arguments), std::move(before))) {
  if (!child_.wait_for_output("serves until it is interrupted"))
    throw std::runtime_error("serve: " + child_.wait().err);
  const std::string said = child_.output();
  link_ = said.substr(0, said.find('\n'));
  const std::string begin = "http://127.0.0.1:";
  const std::size_t token = link_.find("/?token=");
  if (!link_.starts_with(begin) || token == std::string::npos)
    throw std::runtime_error("serve printed no link: " + said);
  port_ = static_cast<std::uint16_t>(std::stoi(link_.substr(begin.size())));
  token_ = link_.substr(token + 8);
}

HttpAnswer Served::ask(const std::string& line, const std::string& headers,
                       const std::string& body) const {
  HttpPeer peer(port_);
  const std::string length =
      body.empty() ? std::string() : fmt::format("Content-Length: {}\r\n", body.size());
  peer.send(line + " HTTP/1.1\r\n" + headers + length + "\r\n" + body);
  return peer.answer();
}

std::string Served::own_headers() const {
  return fmt::format("Host: 127.0.0.1:{}\r\nCookie: other=1; {}\r\n", port_, cookie_);
}

HttpAnswer Served::come_in() {
  HttpAnswer answer = ask("GET /?token=" + token_, fmt::format("Host: 127.0.0.1:{}\r\n", port_));
  constexpr std::string_view kSet = "\r\nSet-Cookie: ";
  const std::size_t at = answer.head.find(kSet);
  if (at != std::string::npos) {
    const std::size_t begin = at + kSet.size();
    cookie_ = answer.head.substr(begin, answer.head.find(';', begin) - begin);
  }
  return answer;
}

HttpAnswer Served::get(const std::string& path, const std::string& more) const {
  return ask("GET " + path, own_headers() + more);
}

HttpAnswer Served::post(const std::string& path, const std::string& body) const {
  return ask("POST " + path, own_headers() + fmt::format("Origin: http://127.0.0.1:{}\r\n", port_),
             body);
}

nlohmann::json Served::control(const std::string& action, const std::string& points) const {
  const nlohmann::json asked = {{"action", action}, {"points", points}};
  return nlohmann::json::parse(post("/control/0", asked.dump()).body, nullptr, false);
}

nlohmann::json Served::state() const {
  return nlohmann::json::parse(get("/state").body, nullptr, false);
}

std::unique_ptr<HttpPeer> Served::listen(int trace) const {
  auto peer = std::make_unique<HttpPeer>(port_);
  peer->send(fmt::format("GET /live/{} HTTP/1.1\r\n{}\r\n", trace, own_headers()));
  return peer;
}

nlohmann::json newest_figures(const std::string& heard) {
  constexpr std::string_view kBegin = "event: figures\ndata: ";
  for (std::size_t at = heard.rfind(kBegin); at != std::string::npos;
       at = at == 0 ? std::string::npos : heard.rfind(kBegin, at - 1)) {
    const std::size_t begin = at + kBegin.size();
    const std::size_t end = heard.find('\n', begin);
    if (end != std::string::npos)
      return nlohmann::json::parse(heard.substr(begin, end - begin), nullptr, false);
  }
  return nullptr;
}

}  // namespace sojourn::test
