#include "userspace/host/bpf_clock.h"

#include <array>
#include <cstdint>
#include <vector>

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"

namespace sojourn::host {

namespace {

constexpr std::size_t kCalls = 64;
constexpr std::uint32_t kRuns = 2000;

int bpf(int command, bpf_attr& attr) {
  return static_cast<int>(syscall(SYS_bpf, command, &attr, sizeof(attr)));
}

bpf_insn instruction(int code, int target, int value) {
  bpf_insn one{};
  one.code = static_cast<__u8>(code);
  one.dst_reg = static_cast<__u8>(target & 0xf);
  one.imm = value;
  return one;
}

// Loads a program that calls the clock `calls` times, and returns 0.
Result<base::Fd> load(std::size_t calls) {
  std::vector<bpf_insn> program(calls, instruction(BPF_JMP | BPF_CALL, 0, BPF_FUNC_ktime_get_ns));
  program.push_back(instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0));
  program.push_back(instruction(BPF_JMP | BPF_EXIT, 0, 0));
  bpf_attr attr{};
  attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
  attr.insns = reinterpret_cast<std::uint64_t>(program.data());
  attr.insn_cnt = static_cast<std::uint32_t>(program.size());
  attr.license = reinterpret_cast<std::uint64_t>("GPL");
  base::Fd fd(bpf(BPF_PROG_LOAD, attr));
  if (!fd) return fail_errno("load a BPF program");
  return fd;
}

// The kernel's own mean time of one run.
Result<double> run_ns(const base::Fd& program) {
  std::array<char, 64> packet{};
  bpf_attr attr{};
  attr.test.prog_fd = static_cast<std::uint32_t>(program.get());
  attr.test.repeat = kRuns;
  attr.test.data_in = reinterpret_cast<std::uint64_t>(packet.data());
  attr.test.data_size_in = packet.size();
  if (bpf(BPF_PROG_TEST_RUN, attr) != 0) return fail_errno("run a BPF program");
  return static_cast<double>(attr.test.duration);
}

}  // namespace

Result<double> bpf_clock_ns() {
  SJ_TRY(empty, load(0));
  SJ_TRY(calling, load(kCalls));
  SJ_TRY(without, run_ns(empty));
  SJ_TRY(with, run_ns(calling));
  return (with - without) / kCalls;
}

}  // namespace sojourn::host
