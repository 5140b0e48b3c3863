#include "userspace/tracee/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/mapped_files.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

constexpr std::string_view kDeleted = " (deleted)";

Error no_such_process(pid_t pid) {
  return Error(fmt::format("no process {}: find the right one with 'pgrep -a NAME'", pid));
}

// Why pidfd_open failed, as far as /proc shows it.
Error cannot_pin(pid_t pid, int code) {
  const auto status = read_whole(fmt::format("/proc/{}/status", pid));
  if (!status) return no_such_process(pid);
  const auto group = parse_number(status_value(*status, "Tgid").value_or(""));
  if (group && *group != static_cast<std::uint64_t>(pid))
    return Error(fmt::format("{} is a thread of process {}: give that one's id, -p {}", pid, *group,
                             *group));
  return Error(fmt::format("pidfd_open {}: {}", pid, std::generic_category().message(code)));
}

}  // namespace

std::string Process::proc(std::string_view name) const {
  return fmt::format("/proc/{}/{}", pid_, name);
}

std::string Process::title() const {
  return fmt::format("{} ({})", pid_, printable(comm_));
}

bool Process::alive() const {
  pollfd exited{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  return poll(&exited, 1, 0) == 0;
}

bool Process::stopped() const {
  const auto text = read_whole(proc("stat"));
  if (!text) return false;
  const auto stat = parse_stat(*text);
  return stat && stat->is_stopped() && alive();
}

Error Process::no_rights() const {
  // A container's root may lack the capability, and every user's processes may be closed to others.
  return Error(fmt::format(
      "no rights to look into process {}: {}", title(),
      geteuid() == 0
          ? "this root lacks CAP_SYS_PTRACE (run outside of the container, or add it), or "
            "the process is protected from it"
          : "run as root, or give this program CAP_SYS_PTRACE"));
}

Error Process::explain(Error error) const {
  // An exiting process loses its files, and with them /proc/PID/root, shortly before its pidfd is
  // readable.
  constexpr int kTimeoutMs = 100;
  pollfd exited{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  if (poll(&exited, 1, kTimeoutMs) != 0)
    return Error(fmt::format("process {} has exited", title()));
  return error;
}

Result<Process> Process::open(pid_t pid) {
  if (pid <= 0) return fail("{} is no process id", pid);
  Process process;
  process.pid_ = pid;
  process.pidfd_ = base::Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process.pidfd_) return std::unexpected(cannot_pin(pid, errno));

  const auto status = read_whole(process.proc("status"));
  if (!status && process.alive())
    return fail("process {} is hidden from this user (/proc is mounted with hidepid): run as root",
                pid);
  if (!status) return std::unexpected(no_such_process(pid));
  SJ_CHECK(process.read_identity(*status));
  return process;
}

Result<void> Process::read_identity(const std::string& status) {
  comm_ = status_value(status, "Name").value_or("");
  const auto stat_text = read_whole(proc("stat"));
  if (!stat_text) return std::unexpected(no_such_process(pid_));
  const auto stat = parse_stat(*stat_text);
  if (!stat) return std::unexpected(Error(stat.error()).within(proc("stat")));
  if (stat->is_kernel_thread())
    return fail("{} is a kernel thread: it has no program with points in it", title());
  if (stat->has_exited())
    return fail("process {} has exited, and only waits for its parent to notice", title());

  start_time_ns_ = stat->start_time_ns;
  namespace_pid_ = pid_;
  const auto ids = split(status_value(status, "NSpid").value_or(""), '\t');
  if (!ids.empty()) {
    if (const auto inner = parse_number(ids.back())) namespace_pid_ = static_cast<pid_t>(*inner);
  }

  auto exe = read_link(proc("exe"));
  if (!exe) {
    if (!alive()) return fail("process {} has exited", title());
    if (exe.error().kind() == ErrorKind::kNotPermitted) return std::unexpected(no_rights());
    return std::unexpected(std::move(exe).error());
  }
  exe_ = std::move(*exe);
  if (exe_.ends_with(kDeleted) && !open_path(proc("root" + exe_), O_PATH))
    exe_.resize(exe_.size() - kDeleted.size());

  // Read after the executable, because an exec meanwhile changes them in this order.
  if (auto comm = read_whole(proc("comm"))) {
    comm_ = std::move(*comm);
    if (comm_.ends_with('\n')) comm_.pop_back();
  }

  // Its arguments end with NUL each; a process may overwrite them with anything.
  if (const auto cmdline = read_whole(proc("cmdline"))) {
    for (const std::string_view argument : split(*cmdline, '\0')) cmdline_.emplace_back(argument);
  }
  return {};
}

Result<std::uint64_t> Process::cpu_time_ns() const {
  auto text = read_whole(proc("stat"));
  if (!text) return std::unexpected(explain(std::move(text).error()));
  SJ_TRY(stat, parse_stat(*text));
  return stat.cpu_time_ns;
}

Result<model::Target> Process::describe() const {
  model::Target target{
      .pid = pid_, .name = comm_, .exe = exe_, .cmdline = cmdline_, .build_id = {}};
  // An executable that is not ELF, or not whole, has no build id, which is no error.
  if (auto file = ElfFile::open(proc("exe"), exe_)) target.build_id = file->build_id();
  return target;
}

}  // namespace sojourn::tracee
