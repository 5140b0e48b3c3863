// A context of one process, written down by hand.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::context::test {

constexpr std::int32_t kPid = 100;  // its threads are 101, 102, ...; others' begin at 900
constexpr std::uint64_t kOpen = 1000;
constexpr std::uint64_t kClose = 2000;
constexpr std::uint64_t kWanted = 0;
constexpr std::uint64_t kSleeping = 1;
constexpr std::uint64_t kDead = 0x80;

struct Trace {
  model::Schema schema;
  model::Context context;
  model::Capture capture;
  std::vector<model::Stream> streams;  // stream n is CPU n
  model::EventBatch events;

  Trace();
  void is_thread(std::uint32_t tid, const char* state);
  void on_switch(std::uint64_t ts_ns, std::uint32_t cpu, std::uint32_t prev, std::uint64_t state,
                 std::uint32_t next);
  void wakeup(std::uint64_t ts_ns, std::uint32_t tid, std::uint32_t waker, std::uint64_t from = 0,
              std::uint64_t cpu = 0);
  // A system call that returned, on CPU 0.
  void call(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint32_t tid, std::uint64_t number,
            std::int64_t result, std::uint64_t arg0 = 0, std::uint64_t op = 0);
  void add(std::uint64_t ts_ns, std::uint32_t cpu, std::uint32_t tid, model::PointId point,
           std::vector<std::uint64_t> values);
};

enum : model::PointId { kSwitch = 1, kWakeup, kMigrate, kIrq, kSoftirq, kSyscall, kFault };

}  // namespace sojourn::context::test
