// Runs a program on file systems that have no files without names: sj-without-tmpfile CMD ARGS...
// The kernel refuses it O_TMPFILE, as such file systems do.
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <seccomp.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr ||
      seccomp_rule_add(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(openat), 1,
                       SCMP_A2(SCMP_CMP_MASKED_EQ, O_TMPFILE, O_TMPFILE)) != 0 ||
      seccomp_load(filter) != 0) {
    std::perror("refuse O_TMPFILE");
    return 1;
  }
  execv(argv[1], argv + 1);
  std::perror(argv[1]);
  return 1;
}
