// Adds up the causes of many late packets: a packet counts for the cause that took most of its
// time, and each cause has the time that it took of all packets. Memory grows with the number of
// different causes, at most kMaxCauses. One thread owns a CauseTotals.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/causes/context_name_table.h"
#include "analysis/causes/verdict.h"

namespace sojourn::causes {

// A cause by its names, so that threads of the same name count together.
struct Cause {
  CauseKind kind = CauseKind::kUnknown;
  std::uint16_t place = 0;
  std::string thread;  // the thread that worked or had to wait; empty for queues and slots
  std::string by;      // the thread that had the CPU or ended the wait
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
    std::uint64_t packets = 0;  // packets of which it was the main cause
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
  // The causes with most packets first, at most kMaxCauses.
  std::vector<Row> rows() const;

 private:
  std::map<Cause, Row> rows_;
  std::uint64_t packets_ = 0;
  std::uint64_t ns_ = 0;
};

}  // namespace sojourn::causes
