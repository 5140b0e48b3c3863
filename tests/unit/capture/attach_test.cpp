// The choice of the mechanism from a kernel's answers.
#include "userspace/capture/bpf/attach.h"

#include <cerrno>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

// A kernel that refuses links with these errors.
Mechanism chosen_where(int any_process, int negative_pid) {
  return best_mechanism([=](pid_t pid) { return pid < 0 ? negative_pid : any_process; });
}

TEST_CASE("a kernel without uprobe_multi links gets perf uprobes") {
  CHECK(chosen_where(EINVAL, EINVAL) == Mechanism::kPerfUprobes);
}

TEST_CASE("a kernel whose uprobe_multi links filter by thread gets perf uprobes") {
  CHECK(chosen_where(EBADF, EBADF) == Mechanism::kPerfUprobes);
}

TEST_CASE("a kernel whose uprobe_multi links filter by process gets one") {
  CHECK(chosen_where(EBADF, EINVAL) == Mechanism::kUprobeMulti);
}

TEST_CASE("a kernel that refuses to say anything gets perf uprobes") {
  CHECK(chosen_where(EPERM, EPERM) == Mechanism::kPerfUprobes);
}

}  // namespace
}  // namespace sojourn::capture
