// The options of the base station under test: plain values, filled by main, checked there, and read
// by every stage. They do not change once the threads run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/basestation/faults.h"

namespace sojourn::basestation {

inline constexpr std::uint32_t kMinPacketBytes = 24;  // room for the packet's id and its time
inline constexpr std::uint32_t kMaxPacketBytes = 8000;
inline constexpr std::uint16_t kFirstRnti = 0x4601;
inline constexpr std::uint8_t kHarqProcesses = 16;
inline constexpr std::uint8_t kHarqRounds = 4;

// Sizes of user packets: uniform between two bounds, or the mix of small, middle and large ones
// that a mobile network sees.
struct PacketSize {
  bool mix = true;
  std::uint32_t min = 64;
  std::uint32_t max = 64;

  double mean() const;
  std::uint32_t largest() const;
};

struct Config {
  std::uint32_t ues = 20;
  std::uint32_t bearers = 2;
  std::uint32_t rate_dl = 12'000;  // packets a second
  std::uint32_t rate_ul = 8'000;
  PacketSize size;
  std::uint32_t burst = 1;
  std::uint32_t slot_us = 500;
  double air_loss = 0.02;
  std::uint64_t seed = 1;
  double duration_s = 0;  // 0: until a signal
  // The first part of the run. The latencies, rates and processor time of the summary leave it out.
  double warm_up_s = 0;
  unsigned pdcp_sn_bits = 18;
  std::optional<int> ready_fd;
  std::string truth_path;
  Faults faults;

  std::uint32_t bearer_count() const { return ues * bearers; }
  std::uint32_t bearer_index(std::uint16_t rnti, std::uint8_t drb) const {
    return static_cast<std::uint32_t>(rnti - kFirstRnti) * bearers + drb - 1U;
  }
  std::uint16_t rnti_of(std::uint32_t bearer) const {
    return static_cast<std::uint16_t>(kFirstRnti + bearer / bearers);
  }
  std::uint8_t drb_of(std::uint32_t bearer) const {
    return static_cast<std::uint8_t>(bearer % bearers + 1);
  }

  std::uint64_t slot_ns() const { return slot_us * 1000ULL; }
  // The headers of SDAP (the QoS flow) and PDCP (the sequence number): the bytes of a packet in RLC
  // besides the user's.
  std::uint8_t pdu_header_bytes() const {
    constexpr std::uint8_t kSdapBytes = 1;
    return static_cast<std::uint8_t>(kSdapBytes + (pdcp_sn_bits == 12 ? 2 : 3));
  }
  // A slot serves a part of the UEs, so that packets queue up and share transport blocks.
  std::uint32_t ues_per_slot() const { return std::min(ues, std::max(4U, ues / 6)); }
};

// Odd bearers are unacknowledged, even ones acknowledged.
constexpr bool is_am(std::uint8_t drb) {
  return drb % 2 == 0;
}

}  // namespace sojourn::basestation
