// A few packets, and the kernel context of the threads that handled them, written by hand.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "analysis/causes/explainer.h"
#include "tests/unit/context/trace.h"

namespace sojourn::causes::test {

using context::test::kDead;
using context::test::kFault;
using context::test::kIrq;
using context::test::kMigrate;
using context::test::kOpen;
using context::test::kPid;
using context::test::kSleeping;
using context::test::kSoftirq;
using context::test::kSyscall;
using context::test::kWanted;

// Threads of the target; 900 and up are others'.
constexpr std::uint32_t kFeeder = 101;
constexpr std::uint32_t kServer = 102;
constexpr std::uint32_t kOther = 103;

// One CPU for each of them.
constexpr std::uint32_t kServerCpu = 1;

enum : model::PointId {
  kIn = 8,   // D in--stage len:rnti:sn
  kOut,      // D stage--out len:rnti:sn
  kToLine,   // D in--line len:rnti:sn
  kGrant,    // D line--mac len:rnti:sn.slot
  kSent,     // D mac--out len:rnti:sn.slot
  kAntenna,  // U ant--phy len.round:rnti:harq.slot
  kDecoded,  // U phy--rlc len:rnti:harq.slot.rsn.so
  kWhole,    // U rlc--ip len:rnti:rsn
};

class Scene : public context::test::Trace {
 public:
  Scene();

  // Packet `sn` of a UE: the point's fields are filled in. Time goes on.
  void in(std::uint64_t ts_ns, std::uint64_t sn, std::uint64_t rnti = 1);
  void out(std::uint64_t ts_ns, std::uint64_t sn, std::uint64_t rnti = 1);
  void hit(std::uint64_t ts_ns, std::uint32_t tid, model::PointId point,
           std::initializer_list<std::uint64_t> values);

  // The server waits for work, and gets it from the feeder; it wants its CPU back, and gets it.
  void server_sleeps(std::uint64_t ts_ns);
  void server_is_woken(std::uint64_t ts_ns, std::uint32_t waker = kFeeder, std::uint64_t from = 0);
  void server_runs(std::uint64_t ts_ns, std::uint32_t instead_of = 0);

  // All complete packets explained, in their order.
  std::vector<Verdict> explain(Timeline::Limits limits = {});
  std::uint64_t forgotten = 0;

  journeys::Rules rules;
  journeys::Topology topology() const;
  ContextNameTable names() const { return ContextNameTable(context); }
};

// "queue 200 x2, work 100": the parts, longest first, with their counts.
std::string words(const Verdict& verdict);

}  // namespace sojourn::causes::test
