#include "userspace/capture/helper/privileged_requests.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <sojourn/ring_abi.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/capture/bpf/calibrate.h"
#include "userspace/capture/bpf/probe_keeper.h"
#include "userspace/capture/perf/perf_open.h"
#include "userspace/capture/queues/socket_diag.h"
#include "userspace/capture/rings/mapped_arena.h"
#include "userspace/capture/rings/thread_position.h"
#include "userspace/tracee/file_bytes.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

using base::Answer;
using base::Fd;
using base::PrivilegedRequest;
using base::Unpacker;

std::unexpected<Error> refuse_request(std::string_view what) {
  errno = EPERM;
  return fail("not to be had from the process that keeps the rights: {}", what);
}

Result<Answer> hand_over(Fd fd, std::string_view what) {
  if (!fd) return fail_errno("open {}", what);
  Answer answer;
  answer.fds.push_back(std::move(fd));
  return answer;
}

bool is_below(std::string_view name, std::string_view directory) {
  return name.size() > directory.size() && name.starts_with(directory) &&
         name[directory.size()] == '/';
}

// Returns whether the file is an executable, a library or debug information. Core files are
// refused: they hold all of a process's memory.
bool is_program(const Fd& file) {
  std::array<std::byte, sizeof(Elf64_Ehdr)> bytes{};
  struct stat status{};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !tracee::read_fully(file.get(), 0, bytes))
    return false;
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type != ET_CORE;
}

Result<Answer> open_of_process(std::string_view name, const std::string& path, int flags) {
  constexpr std::array<std::string_view, 5> kTexts = {"maps", "stat", "status", "comm", "cmdline"};
  if (std::ranges::find(kTexts, name) != kTexts.end())
    return hand_over(Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
  if (name != "exe" && !is_below(name, "root") && !is_below(name, "map_files"))
    return refuse_request(path);
  // O_PATH identifies the file and gives no access to its contents.
  if ((flags & O_PATH) != 0) return hand_over(Fd(open(path.c_str(), O_PATH | O_CLOEXEC)), path);
  Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file && !is_program(file)) return refuse_request(path);
  return hand_over(std::move(file), path);
}

Result<Answer> open_file(HelperScope& scope, Unpacker& wanted) {
  const std::string path = wanted.take_text();
  const int flags = wanted.take<int>();
  const HelperScope::Limits& limits = scope.limits();
  if (limits.kernel_names && path == "/proc/kallsyms")
    return hand_over(Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
  const std::filesystem::path as_path(path);
  if (!limits.ring_directory.empty() && as_path.parent_path() == limits.ring_directory &&
      as_path.filename().string().starts_with(SJ_ARENA_NAME))
    return hand_over(Fd(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC)), path);
  SJ_TRY(place, scope.find(path));
  return open_of_process(place.name, path, flags);
}

Result<Answer> read_link(HelperScope& scope, Unpacker& wanted) {
  const std::string path = wanted.take_text();
  SJ_TRY(place, scope.find(path));
  if (place.name != "exe" && !is_below(place.name, "fd") && !is_below(place.name, "ns"))
    return refuse_request(path);
  SJ_TRY(leads_to, tracee::read_link(path));
  return Answer{.kind = 0, .bytes = base::Packer().put_text(leads_to).take(), .fds = {}};
}

Result<Answer> read_links(HelperScope& scope, Unpacker& wanted) {
  const std::string path = wanted.take_text();
  SJ_TRY(place, scope.find(path));
  if (place.name != "fd") return refuse_request(path);
  const std::vector<tracee::Link> links = tracee::read_links(path);
  base::Packer words;
  words.put(links.size());
  for (const tracee::Link& link : links) words.put_text(link.name).put_text(link.leads_to);
  return Answer{.kind = 0, .bytes = words.take(), .fds = {}};
}

Result<Answer> open_rings(HelperScope& scope, Unpacker& wanted) {
  const auto pid = wanted.take<pid_t>();
  const auto device = wanted.take<std::uint64_t>();
  const auto inode = wanted.take<std::uint64_t>();
  SJ_TRY(process, scope.find(pid));
  SJ_TRY(all, find_arenas(*process));
  for (const FoundArena& one : all)
    if (one.device == device && one.inode == inode)
      return hand_over(open_arena_file(*process, one), one.name);
  return refuse_request(fmt::format("a file that is not a ring of process {}", pid));
}

Result<Answer> read_page(HelperScope& scope, Unpacker& wanted) {
  const auto pid = wanted.take<pid_t>();
  const auto address = wanted.take<std::uintptr_t>();
  SJ_TRY(process, scope.find(pid));
  SJ_TRY(all, find_arenas(*process));
  const bool is_in_rings = std::ranges::any_of(all, [address](const FoundArena& one) {
    return one.address <= address && address < one.upper &&
           sizeof(sj_ring_private) <= one.upper - address;
  });
  if (!is_in_rings)
    return refuse_request(fmt::format("memory of process {} besides its rings", pid));
  sj_ring_private page{};
  const iovec here{.iov_base = &page, .iov_len = sizeof(page)};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in another process
  const iovec there{.iov_base = reinterpret_cast<void*>(address), .iov_len = sizeof(page)};
  if (process_vm_readv(pid, &here, 1, &there, 1, 0) != sizeof(page))
    return fail_errno("read the memory of process {}", pid);
  return Answer{.kind = 0, .bytes = base::Packer().put(page).take(), .fds = {}};
}

Result<Answer> read_instruction(HelperScope& scope, Unpacker& wanted) {
  const auto pid = wanted.take<pid_t>();
  const auto tid = wanted.take<pid_t>();
  SJ_CHECK(scope.find(pid));
  SJ_TRY(instruction, next_instruction(pid, tid));
  return Answer{.kind = 0, .bytes = base::Packer().put(instruction).take(), .fds = {}};
}

// Opens a perf event of a thread of the capture; thread 0: a trial on the privileged helper itself.
Result<Answer> open_event(HelperScope& scope, Unpacker& wanted) {
  const auto request = unpack_perf_request(wanted);
  const auto tid = wanted.take<pid_t>();
  const int cpu = wanted.take<int>();
  if (!wanted.is_sound()) return refuse_request("half a request");
  if (tid != 0) {
    const auto status = tracee::read_whole(fmt::format("/proc/{}/status", tid));
    if (!status) {
      errno = ESRCH;
      return fail("thread {} has ended", tid);
    }
    const auto group = tracee::parse_number(tracee::status_value(*status, "Tgid").value_or(""));
    SJ_CHECK(scope.find(static_cast<pid_t>(group.value_or(0))));
  }
  return hand_over(open_perf_event(request, tid, cpu), "a perf event");
}

Result<Answer> open_sockets(HelperScope& scope, Unpacker& wanted) {
  SJ_TRY(process, scope.find(wanted.take<pid_t>()));
  SJ_TRY(socket, SocketDiag::open_in_namespace_of(*process));
  return hand_over(std::move(socket), "sockets");
}

// Passes the connection to the process that holds the probes, which answers there.
Result<Answer> start_probes(HelperScope& scope, Unpacker& wanted, Fd& connection) {
  SJ_TRY(order, unpack_probe_order(wanted));
  SJ_CHECK(scope.find(order.pid));
  const pid_t child = fork();
  if (child < 0) return fail_errno("start the process that holds the probes");
  if (child == 0) hold_probes(std::move(connection), order);
  connection = Fd();
  return Answer{};
}

}  // namespace

Result<Answer> serve_request(HelperScope& scope, PrivilegedRequest request, Unpacker& wanted,
                             Fd& connection) {
  switch (request) {
    case PrivilegedRequest::kOpen:
      return open_file(scope, wanted);
    case PrivilegedRequest::kReadLink:
      return read_link(scope, wanted);
    case PrivilegedRequest::kReadLinks:
      return read_links(scope, wanted);
    case PrivilegedRequest::kOpenRings:
      return open_rings(scope, wanted);
    case PrivilegedRequest::kOwnerPage:
      return read_page(scope, wanted);
    case PrivilegedRequest::kInstruction:
      return read_instruction(scope, wanted);
    case PrivilegedRequest::kPerfEvent:
      return open_event(scope, wanted);
    case PrivilegedRequest::kSockets:
      return open_sockets(scope, wanted);
    case PrivilegedRequest::kCosts:
      return measure_for(wanted);
    case PrivilegedRequest::kProbes:
      return start_probes(scope, wanted, connection);
  }
  return refuse_request("an unknown request");
}

Result<base::PrivilegedHelper> start_privileged_helper(HelperScope::Limits limits,
                                                       const RightsNeeded& needed) {
  SJ_TRY(scope, HelperScope::take(std::move(limits)));
  // The fork copies the scope into the privileged helper with the rest of this process's memory.
  const auto shared = std::make_shared<HelperScope>(std::move(scope));
  return base::PrivilegedHelper::start(
      [&needed] { return keep_rights(needed); },
      [shared](PrivilegedRequest request, Unpacker& wanted, Fd& connection) {
        return serve_request(*shared, request, wanted, connection);
      });
}

}  // namespace sojourn::capture
