// The causes of many late packets, added up: a packet counts for the cause that took most of its
// time, and each cause has all the time that it took. Memory grows with the number of different
// causes, of which there are at most kMaxCauses. One thread owns a CauseTotals.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/causes/context_name_table.h"
#include "analysis/causes/verdict.h"

namespace sojourn::causes {

// A cause by its names, so that threads of one name are one.
struct Cause {
  CauseKind kind = CauseKind::kUnknown;
  std::uint16_t place = 0;
  std::string thread;  // that did it, or was kept from it; of a queue and a slot none
  std::string by;      // who had the CPU, who ended the wait
  std::string in;      // the system call, the interrupt
  std::int32_t cpu = -1;
  std::int64_t round = -1;  // kRetransmission
  auto operator<=>(const Cause&) const = default;
};

Cause cause_of(const LatencyPart& part, const ContextNameTable& names);

class CauseTotals {
 public:
  struct Row {
    Cause cause;
    std::uint64_t packets = 0;  // that it was the main cause of
    std::uint64_t ns = 0;       // of all late packets
    std::uint64_t counted = 0;  // the sum of LatencyPart::count of the packets above
    double mean_count() const {
      return packets == 0 ? 0 : static_cast<double>(counted) / static_cast<double>(packets);
    }
  };
  static constexpr std::size_t kMaxCauses = 100'000;

  void add(const Verdict& verdict, const ContextNameTable& names);

  std::uint64_t packets() const { return packets_; }
  std::uint64_t ns() const { return ns_; }
  // The most packets first; what is beyond kMaxCauses is in none.
  std::vector<Row> rows() const;

 private:
  std::map<Cause, Row> rows_;
  std::uint64_t packets_ = 0;
  std::uint64_t ns_ = 0;
};

}  // namespace sojourn::causes
