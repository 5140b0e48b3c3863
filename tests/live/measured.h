// A base station that is recorded, with its metrics at a port, and plain HTTP requests to servers
// on this machine.
#pragma once

#include <cstdint>
#include <string>

#include "tests/live/programs.h"
#include "tests/support/child.h"

namespace sojourn::live {

// A port that was free a moment ago.
std::uint16_t free_port();

// Returns everything that was received until the connection ended.
std::string ask(std::uint16_t port, const std::string& request);
std::string get(std::uint16_t port, const std::string& path, const std::string& more = "");
std::string body_of(const std::string& answer);
// A word as a part of a query.
std::string escaped(const std::string& words);

struct Measured {
  explicit Measured(const std::string& options = "");
  void wait_for_packets() const;

  std::uint16_t port = free_port();
  test::TemporaryDirectory directory;
  Station station;
  test::Child capture;
};

}  // namespace sojourn::live
