#include "userspace/scripts/sandbox.h"

#include <cstring>
#include <memory>

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/base/bounded_process.h"

namespace sojourn::scripts {

namespace {

// A sanitizer checks the stack when an error of Lua leaves functions, and keeps freed memory for a
// while.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
#else
constexpr bool kIsSanitized = false;
#endif

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

void limit_to_nothing(__rlimit_resource what) {
  const rlimit none{0, 0};
  setrlimit(what, &none);
}

// Closes all descriptors but one, also standard output and error.
void keep_only(int connection) {
  const auto own = static_cast<unsigned>(connection);
  if (own > 0) syscall(SYS_close_range, 0U, own - 1, 0U);
  syscall(SYS_close_range, own + 1, ~0U, 0U);
}

// Returns 0, or libseccomp's negative errno.
int add_rules(scmp_filter_ctx filter, int connection) {
  const auto own = static_cast<scmp_datum_t>(connection);
  int failed = 0;
  const auto note = [&failed](int code) { failed = failed != 0 ? failed : code; };
  const auto allow = [&](int number) { note(seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0)); };
  for (const int number : {SCMP_SYS(read), SCMP_SYS(write)})
    note(seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 1, SCMP_A0(SCMP_CMP_EQ, own, 0)));
  // Allows memory that belongs to no file and holds no code.
  note(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
                        SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                        SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS)));
  note(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                        SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)));
  for (const int number : {SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise)})
    allow(number);
  // Allows exit, the signal of its timer, and the clock from which a new interpreter takes its
  // seed.
  for (const int number :
       {SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall),
        SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(futex),
        SCMP_SYS(sched_yield), SCMP_SYS(getpid), SCMP_SYS(gettid)})
    allow(number);
  if constexpr (kIsSanitized) allow(SCMP_SYS(sigaltstack));
  return failed;
}

}  // namespace

Result<void> enter_sandbox(int connection, std::uint64_t max_bytes) {
  keep_only(connection);
  base::bound_this_process({.more_memory_bytes = kIsSanitized ? 4 * max_bytes : max_bytes,
                            .processor_time = std::nullopt});
  for (const auto what :
       {RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE})
    limit_to_nothing(what);
  const Filter filter(seccomp_init(SCMP_ACT_KILL_PROCESS), seccomp_release);
  if (!filter) return fail("no filter of system calls can be made");
  if (const int code = add_rules(filter.get(), connection); code != 0)
    return fail("make a filter of system calls: {}", std::strerror(-code));
  if (const int code = seccomp_load(filter.get()); code != 0)
    return fail("filter system calls: {}: without that no script is run", std::strerror(-code));
  return {};
}

}  // namespace sojourn::scripts
