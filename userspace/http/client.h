// Posts bodies to one web server by plain HTTP/1.1. It keeps one connection as long as the server
// does. It has neither TLS nor redirections, and looks its host up once. One thread owns a Client.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::http {

struct Url {
  std::string host;  // a name or an address, without the brackets of IPv6
  std::uint16_t port = 80;
  std::string path;  // "/v1/traces"; empty: none was given

  std::string authority() const;  // "127.0.0.1:4318", "[::1]:80"
  std::string text() const;
};

bool is_web_address(std::string_view text);  // http:// or https://
// Fails if it is not an address that a body can be posted to.
Result<Url> parse_url(std::string_view text);

struct Answer {
  int status = 0;
  std::string reason;  // "Service Unavailable", as the server says
  std::string content_type;
  std::string retry_after;
  std::string body;
};

class Client {
 public:
  Client(Url url, std::chrono::milliseconds patience) : url_(std::move(url)), patience_(patience) {}

  // Looks up the host's addresses, which may take seconds. Otherwise the first post() does so.
  Result<void> find();
  // Sets the Authorization header of all later requests.
  void authorize(std::string value) { authorization_ = std::move(value); }
  // Posts fail at once while this descriptor is readable. The caller owns it.
  void stop_by(int fd) { stop_fd_ = fd; }

  // Sends a request and waits for the whole answer, within the time limit. Fails if there was no
  // connection or no answer, or if the answer was not HTTP.
  Result<Answer> post(std::string_view content_type, std::string_view body);
  const Url& url() const { return url_; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Address {
    sockaddr_storage address{};
    socklen_t bytes = 0;
  };

  Result<void> connect();
  Result<void> connect_to(const Address& address);
  Result<Answer> exchange(std::string_view content_type, std::string_view body);
  Result<void> send_all(std::string_view bytes);
  Result<bool> receive();  // false: the server has closed the connection
  Result<std::string> take_head();
  Result<std::string> take_line();
  Result<void> take_body(Answer& answer, std::string_view head);
  Result<void> take_bytes(std::size_t count, std::string& into);
  Result<void> take_chunks(std::string& into);
  Result<void> wait_for(short events);
  bool is_idle_connection_open() const;

  Url url_;
  std::chrono::milliseconds patience_;
  std::string authorization_;
  int stop_fd_ = -1;
  std::vector<Address> addresses_;
  Clock::time_point until_;
  base::Fd connection_;
  std::string received_;  // bytes that were received and not taken yet
};

}  // namespace sojourn::http
