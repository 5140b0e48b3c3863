// The contents of an xlap.yml: the files of X-Lap's tables, the stamps of each, and their kinds.
// Every name that it refers to exists. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"

namespace sojourn::xlap {

struct Stamp {
  std::string name;
  std::size_t source = 0;  // of Config::sources
  bool is_cycle = false;   // of the cycle counter; else of the clock
  std::size_t line = 0;    // of the xlap.yml
};

struct Duration {
  std::string name;
  std::size_t source = 0;
  std::size_t start = 0;  // of Config::stamps
  std::size_t stop = 0;
};

// A host, or a thread of one: a table whose stamps are of one clock and one cycle counter.
struct Source {
  std::string name;
  std::string file;  // in the directory of the xlap.yml
  // Indexes into Config::stamps of the stamps that read the clock and the cycle counter at one
  // instant. Usually it is one stamp.
  std::size_t cycle_reference = 0;
  std::size_t time_reference = 0;
  std::size_t line = 0;
};

struct Config {
  std::string path;
  std::vector<Source> sources;  // in the order in which packets pass them
  std::vector<Stamp> stamps;
  std::vector<Duration> durations;
  std::map<std::uint64_t, std::string> packet_types;  // by number; empty: all are taken
};

// Errors begin with the path and the line.
Result<Config> parse_config(std::string_view text, const std::string& path);

}  // namespace sojourn::xlap
