// The offered traffic of one direction: an endless sequence of packets with their times, sizes and
// bearers. It depends on the configuration and the seed only, never on how the run goes.
#pragma once

#include <cstdint>
#include <random>

#include "tests/basestation/config.h"
#include "tests/basestation/packet.h"

namespace sojourn::basestation {

class Arrivals {
 public:
  // Due times count from `start_ns`. Rate 0: the next packet never comes.
  Arrivals(const Config& config, Direction direction, std::uint64_t start_ns);

  std::uint64_t due_ns() const { return due_ns_; }
  // The packet that is due, with its id, bearer and size; moves on to the next.
  Packet take();

 private:
  void start_burst();
  std::uint32_t size();

  const Config& config_;
  const double burst_rate_;
  std::mt19937_64 random_;
  PacketId next_id_;
  double burst_at_ns_ = 0;  // since the start
  std::uint64_t start_ns_;
  std::uint64_t due_ns_ = 0;
  std::uint32_t bearer_ = 0;
  std::uint32_t left_in_burst_ = 0;
};

}  // namespace sojourn::basestation
