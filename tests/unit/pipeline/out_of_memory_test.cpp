// Memory that runs out in one of a rebuild's threads. The linker redirects this program's calls of
// operator new to this file (CMakeLists.txt), where a test can make them fail: sanitizers keep
// their own.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "analysis/pipeline/rebuild.h"
#include "analysis/report/summary.h"
#include "tests/support/child.h"
#include "tests/unit/pipeline/radio_trace.h"
#include "userspace/base/thread_executor.h"
#include "userspace/files/trace_file.h"

namespace {

// The reader's thread allocates before all others, because they work on its batches.
enum class Who : std::uint8_t { kNobody, kReader, kWorkers };

std::atomic<Who> who_fails = Who::kNobody;
std::atomic<std::int64_t> times_left = 0;
std::atomic<bool> reader_is_known = false;
thread_local bool is_caller = false;
thread_local Who who_this_is = Who::kNobody;

bool fails() {
  if (who_fails == Who::kNobody || is_caller) return false;
  if (who_this_is == Who::kNobody)
    who_this_is = reader_is_known.exchange(true) ? Who::kWorkers : Who::kReader;
  return who_this_is == who_fails && times_left-- <= 0;
}

// While this object exists, allocations of the chosen threads fail after `times` of them. The
// caller's never fail.
class LittleMemory {
 public:
  LittleMemory(Who who, std::int64_t times) {
    is_caller = true;
    reader_is_known = false;
    times_left = times;
    who_fails = who;
  }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;
  ~LittleMemory() {
    who_fails = Who::kNobody;
    is_caller = false;
  }
};

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the names that the linker gives.
extern "C" {
void* __real__Znwm(std::size_t bytes);
void* __wrap__Znwm(std::size_t bytes);
}

void* __wrap__Znwm(std::size_t bytes) {
  if (fails()) throw std::bad_alloc();
  return __real__Znwm(bytes);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace sojourn::pipeline {
namespace {

// Memory runs out at once, or while the other threads work. An exception reaches the caller only if
// no thread waits any more.
template <typename Rebuild>
void require_end(Who who, Rebuild rebuild) {
  for (const std::int64_t times : {0, 2, 20}) {
    CAPTURE(times);
    const LittleMemory little(who, times);
    CHECK_THROWS_AS(rebuild(), std::bad_alloc);
  }
}

TEST_CASE("if memory runs out in any thread all of them end, and the caller gets the error") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path, 30'000);
  auto input = *TraceInput::create(*files::open_trace(path), {});
  report::Summary summary(input.topology(), input.reader().capture().open_ns);
  base::ThreadExecutor threads;
  require_end(Who::kReader, [&] { return rebuild_here(threads, input, summary, {}).has_value(); });
  const auto whole = [&] { return rebuild(threads, input, {}, summary, {}).has_value(); };
  require_end(Who::kReader, whole);
  require_end(Who::kWorkers, whole);
  for (const unsigned processors : {1, 8}) {
    CAPTURE(processors);
    const auto parts = parts_for(kWorthSharing, processors);
    const auto apart = [&] {
      return rebuild_divided(threads, input, parts, summary, {}).has_value();
    };
    require_end(Who::kReader, apart);
    require_end(Who::kWorkers, apart);
  }
}

}  // namespace
}  // namespace sojourn::pipeline
