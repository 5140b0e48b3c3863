// `sojourn serve` as a child, and plain sockets that speak to it: a client that may say anything.
// Waiting ends after a minute.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/child.h"
#include "userspace/base/fd.h"

namespace sojourn::test {

struct HttpAnswer {
  std::string head;
  std::string body;

  int status() const;  // 0: there was no answer
};

class HttpPeer {
 public:
  explicit HttpPeer(std::uint16_t port);

  // False: it cannot be sent any more.
  bool send(const std::string& bytes) const;
  // Reads until the text has come, behind the place of the last call. Returns false if it did not
  // come.
  bool hears(const std::string& text);
  // Reads to the end.
  HttpAnswer answer();
  const std::string& heard() const { return heard_; }

 private:
  bool read_some();

  base::Fd fd_;
  std::string heard_;
  std::size_t seen_ = 0;
};

class Served {
 public:
  // `before`: what stands before the program's name, such as {"env", "TMPDIR=/x"}.
  Served(const std::string& program, std::vector<std::string> arguments,
         std::vector<std::string> before = {});

  Child& child() { return child_; }
  std::uint16_t port() const { return port_; }
  const std::string& link() const { return link_; }
  const std::string& token() const { return token_; }
  const std::string& cookie() const { return cookie_; }  // "name=value"; after come_in()

  // Opens the link, as a browser does.
  HttpAnswer come_in();

  // A request with these headers and no others; each ends with "\r\n".
  HttpAnswer ask(const std::string& line, const std::string& headers,
                 const std::string& body = "") const;
  // The requests that the page itself sends.
  HttpAnswer get(const std::string& path, const std::string& more = "") const;
  HttpAnswer post(const std::string& path, const std::string& body) const;
  // The answer to a request to the capture: {"answer"} or {"error"}.
  nlohmann::json control(const std::string& action, const std::string& points = "") const;
  nlohmann::json state() const;

  // Listens to the figures of a trace.
  std::unique_ptr<HttpPeer> listen(int trace = 0) const;
  std::string own_headers() const;  // Host and Cookie

 private:
  Child child_;
  std::string link_;
  std::uint16_t port_ = 0;
  std::string token_;
  std::string cookie_;
};

// The newest figures in a stream of events, or null.
nlohmann::json newest_figures(const std::string& heard);

}  // namespace sojourn::test
