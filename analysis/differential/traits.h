// The traits of some packets (the slow ones) among the rest: values of attributes and pairs of
// them, by how many of the slow have them and how many times more likely it makes them slow. Plain
// data and functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sojourn::differential {

inline constexpr std::uint32_t kNoValue = UINT32_MAX;

// One attribute of all packets.
struct Attribute {
  std::string name;                 // "rnti"
  std::vector<std::string> values;  // "0x4601", ...
  // By value, the filter for packets that have it: "rnti == 0x4601". Empty if there is none.
  std::vector<std::string> conditions = {};
  std::vector<std::uint32_t> of;  // by packet: an index into the values, or kNoValue
};

// Packets are in the order of time.
struct PacketAttributes {
  std::vector<Attribute> attributes;
  std::vector<bool> is_slow;

  std::size_t packets() const { return is_slow.size(); }
};

struct Trait {
  std::vector<std::pair<std::string, std::string>> what = {};  // attribute and value, of one or two
  std::uint64_t packets = 0;                                   // packets that have the trait,
  std::uint64_t slow = 0;                                      // and are slow
  double support = 0;     // the share of the slow ones that have it
  double risk = 0;        // the share of those that have it that are slow
  double risk_ratio = 1;  // against those that do not have it; infinity: none of those is slow
  // The probability that chance alone gives such a striking trait anywhere in the table. Nothing if
  // the packets are too few blocks for that.
  std::optional<double> p = std::nullopt;
  std::string condition = {};  // the filter for packets that have it; empty: there is none
  std::size_t alike = 0;       // other traits of as many packets, as many of them slow
};

struct TraitOptions {
  double least_support = 0.1;
  std::size_t blocks = 0;  // of time, within which packets depend on each other; below 8: no p
  unsigned permutations = 199;
  std::uint64_t seed = 1;
  std::size_t most = 20;  // traits that are returned
};

// The most striking trait first. A pair is listed if it is clearly more striking than each of its
// two.
std::vector<Trait> distinguish(const PacketAttributes& table, const TraitOptions& options);

// "0", "1", "2..3", "4..7", ...
std::string power_of_two_label(std::uint64_t value);

}  // namespace sojourn::differential
