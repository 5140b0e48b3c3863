// Gives one file to the page ui.perfetto.dev, which fetches it from 127.0.0.1:9001, the only
// address of this machine that the page may ask. Other pages, other names of this machine, other
// paths and other programs that do not know the path are refused. It ends once the file was given
// whole. One thread owns a PerfettoServer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::cli {

class PerfettoServer {
 public:
  static constexpr std::uint16_t kPort = 9001;

  // It listens when this returns. `name`: the name of the file in the page.
  static Result<PerfettoServer> start(std::string_view name);

  // The URL for a browser: the page, with the address of the file.
  std::string url() const;
  // Serves until the file was given once. An error: the time is over before.
  Result<void> serve_once(base::Fd file, std::chrono::nanoseconds patience);

 private:
  using Clock = std::chrono::steady_clock;

  // A connection: its request, then the answer, then the file if it was requested.
  struct Visitor {
    base::Fd fd;
    Clock::time_point until;
    std::string request;
    std::string response;
    std::uint64_t sent = 0;  // of the file
    bool gets_file = false;
    bool is_done = false;

    bool is_answered() const { return !response.empty() || gets_file; }
  };

  PerfettoServer(base::Fd listener, std::string path)
      : listener_(std::move(listener)), path_(std::move(path)) {}

  Result<void> turn();
  void accept_all();
  void receive(Visitor& visitor);
  void send_more(Visitor& visitor);
  bool send_response(Visitor& visitor);
  bool is_being_fetched() const;
  std::string answer_to(std::string_view head, bool& gives_file) const;

  base::Fd listener_;
  std::string path_;  // "/TOKEN/run.pftrace"
  base::Fd file_;
  std::uint64_t size_ = 0;
  std::list<Visitor> visitors_;
  bool was_given_ = false;
};

}  // namespace sojourn::cli
