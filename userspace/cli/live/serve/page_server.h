// The answers of `sojourn serve`: the page, the traces' bytes, their figures as events, and
// requests to captures. Only a browser that came by the printed link gets anything: the link has a
// token, which is a cookie from then on. The Host and Origin headers must be this machine's, so
// that no page of another site gets there. One thread owns a PageServer.
//
//   GET  /?token=T       the page, and the cookie
//   GET  /               the page
//   GET  /state          {"readonly", "traces": [{"name", "size", "growing", "capture", "pid"}]}
//   GET  /trace/N        the whole blocks of a trace; also ranges of bytes
//   GET  /live/N         text/event-stream: "figures", at most twice a second, and "alive"
//   POST /control/N      {"action", "points"}: {"answer"} or {"error"}
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/cli/live/serve/served_trace.h"
#include "userspace/http/server.h"
#include "userspace/page/page_file.h"

namespace sojourn::cli {

struct PageServerOptions {
  std::size_t clients = 64;
  bool is_readonly = false;
};

class PageServer {
 public:
  // `link` becomes the part of the printed link behind the address: "/?token=...".
  static Result<std::unique_ptr<PageServer>> create(
      base::Fd listener, std::vector<std::unique_ptr<ServedTrace>> traces,
      const PageServerOptions& options, std::string& link);

  // Serves until a signal comes that is readable on the descriptor. Fails if no trace has anything
  // to show.
  Result<void> run(int signals);

 private:
  using Clock = std::chrono::steady_clock;
  struct Shown {
    std::unique_ptr<ServedTrace> trace;
    bool is_stale = false;      // the figures that were sent last
    Clock::time_point sent{};   // figures
    Clock::time_point heard{};  // anything
  };

  PageServer(base::Fd listener, std::vector<std::unique_ptr<ServedTrace>> traces,
             page::ServedPage page, const PageServerOptions& options, std::string token,
             std::string cookie);

  http::Response answer(const http::Request& request);
  http::Response answer_stranger(const http::Request& request);
  http::Response answer_known(const http::Request& request);
  http::Response page(bool is_new);
  std::string state() const;
  http::Response bytes(const ServedTrace& trace, const http::Request& request) const;
  http::Response events(std::size_t number);
  http::Response control(const ServedTrace& trace, const http::Request& request) const;
  // Returns the trace behind a prefix such as "/trace/", or null.
  Shown* shown_behind(std::string_view path, std::string_view prefix, std::size_t& number);
  Result<void> tell_problem(const ServedTrace& ended) const;
  void send_events();

  std::vector<Shown> shown_;
  page::ServedPage page_;
  bool is_readonly_;
  std::string token_;
  std::string cookie_;  // its name
  http::Server server_;
};

}  // namespace sojourn::cli
