// Posts bodies to one web server by plain HTTP/1.1, over one connection as long as that lives. It
// knows neither TLS nor redirections. One thread owns an HttpClient.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::cli {

struct HttpUrl {
  std::string host;  // a name or an address, without the brackets of IPv6
  std::uint16_t port = 80;
  std::string path;  // "/v1/traces"; empty: none was given

  std::string authority() const;  // "127.0.0.1:4318", "[::1]:80"
  std::string text() const;
};

bool is_web_address(std::string_view text);  // http:// or https://
// An error where it is no address that can be posted to.
Result<HttpUrl> parse_http_url(std::string_view text);

struct HttpAnswer {
  int status = 0;
  std::string reason;  // "Service Unavailable", as the server says
  std::string content_type;
  std::string retry_after;
  std::string body;
};

class HttpClient {
 public:
  HttpClient(HttpUrl url, std::chrono::milliseconds patience)
      : url_(std::move(url)), patience_(patience) {}

  // Sends a request and waits for the whole answer, for as long as the patience lasts. An error:
  // there was no connection, or no answer, or it was none of HTTP.
  Result<HttpAnswer> post(std::string_view content_type, std::string_view body);
  const HttpUrl& url() const { return url_; }

 private:
  using Clock = std::chrono::steady_clock;

  Result<void> connect();
  Result<HttpAnswer> exchange(std::string_view content_type, std::string_view body);
  Result<void> send_all(std::string_view bytes);
  Result<bool> receive();  // false: the server has closed the connection
  Result<std::string> take_head();
  Result<std::string> take_line();
  Result<void> take_body(HttpAnswer& answer, std::string_view head);
  Result<void> take_bytes(std::size_t count, std::string& into);
  Result<void> take_chunks(std::string& into);
  Result<void> wait_for(short events);
  bool is_idle_connection_open() const;

  HttpUrl url_;
  std::chrono::milliseconds patience_;
  Clock::time_point until_;
  base::Fd connection_;
  std::string received_;  // and not taken yet
};

}  // namespace sojourn::cli
