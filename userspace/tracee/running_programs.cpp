#include "userspace/tracee/running_programs.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/forked_child.h"
#include "userspace/tracee/mapped_files.h"
#include "userspace/tracee/maps.h"
#include "userspace/tracee/point_count.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

constexpr std::size_t kMaxComm = 15;

// The child's messages: a program, or at the end the counts. Written and read whole.
struct Told {
  bool is_end;
  bool is_closed;
  bool has_more_points;
  pid_t pid;
  std::size_t points;
  std::size_t looked_at;
  std::size_t closed;
  std::array<char, 256> name;
  std::array<char, 256> library;
};
static_assert(sizeof(Told) < 4096, "more than PIPE_BUF would be written in pieces");

void put(std::string_view text, std::array<char, 256>& into) {
  text.copy(into.data(), into.size() - 1);
}

Result<std::vector<pid_t>> processes_of(const std::string& proc) {
  std::vector<pid_t> pids;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(proc, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const auto pid = parse_number(entry->path().filename().native());
    if (pid && *pid <= INT32_MAX) pids.push_back(static_cast<pid_t>(*pid));
  }
  if (failed) return fail("read {}: {}", proc, failed.message());
  std::ranges::sort(pids);
  return pids;
}

// "/usr/bin/gnb (deleted)" is the name of a program that was replaced while it runs.
std::string_view file_name(std::string_view path) {
  constexpr std::string_view kDeletedSuffix = " (deleted)";
  if (path.ends_with(kDeletedSuffix)) path.remove_suffix(kDeletedSuffix.size());
  return path.substr(path.rfind('/') + 1);
}

template <typename T>
bool is_refused(const Result<T>& result) {
  return !result && result.error().kind() == ErrorKind::kNotPermitted;
}

class Look {
 public:
  Look(const std::string& proc, const std::vector<std::string>& names)
      : proc_(proc), names_(names) {}

  // Nothing if the process is not wanted, is a kernel thread, or has ended.
  std::optional<RunningProgram> at(pid_t pid) {
    const std::string directory = fmt::format("{}/{}", proc_, pid);
    const auto text = read_whole(directory + "/stat");
    const auto stat = text ? parse_stat(*text) : std::unexpected(text.error());
    if (!stat || stat->is_kernel_thread() || stat->has_exited()) return std::nullopt;
    ++looked_at;
    RunningProgram program{.pid = pid};
    const auto exe = read_link(directory + "/exe");
    program.is_closed = is_refused(exe);
    const std::size_t comm = text->find('(') + 1;
    program.name = exe ? std::string(file_name(*exe)) : text->substr(comm, text->rfind(')') - comm);
    if (program.is_closed || !count_points_of(directory, program)) {
      program.is_closed = true;
      ++closed;
    }
    const bool is_named = std::ranges::any_of(
        names_, [&](const std::string& name) { return may_be_named(program, name); });
    if (program.points == 0 && !is_named) return std::nullopt;
    return program;
  }

  std::size_t looked_at = 0;
  std::size_t closed = 0;

 private:
  using Identity = std::pair<std::uint64_t, std::uint64_t>;

  // False: this user may not read its mappings.
  bool count_points_of(const std::string& directory, RunningProgram& program) {
    const auto text = read_whole(directory + "/maps");
    if (!text) return !is_refused(text);
    const auto mappings = parse_maps(*text);
    if (!mappings) return true;
    std::set<Identity> seen;
    bool has_own = false;  // in its executable
    for (const Mapping& mapping : *mappings) {
      const Identity identity{mapping.device, mapping.inode};
      if (!mapping.executable || mapping.inode == 0 || !seen.insert(identity).second) continue;
      const PointCount count = count_of(directory, mapping, identity);
      program.has_more_points = program.has_more_points || count.is_lower_bound;
      if (count.points == 0) continue;
      program.points += count.points;
      const std::string_view file = file_name(mapping.name);
      if (file == program.name)
        has_own = true;
      else if (program.library.empty())
        program.library = file;
    }
    if (has_own) program.library.clear();
    return true;
  }

  // Each file is read once, through the first process that has it mapped.
  PointCount count_of(const std::string& directory, const Mapping& mapping, Identity identity) {
    if (const auto known = counts_.find(identity); known != counts_.end()) return known->second;
    const auto file = locate(directory, mapping);
    const auto count = file ? count_points(file->path) : std::unexpected(file.error());
    if (!count) return {};
    counts_.emplace(identity, *count);
    return *count;
  }

  const std::string& proc_;
  const std::vector<std::string>& names_;
  std::map<Identity, PointCount> counts_;
};

bool tell(int fd, const Told& told) {
  return write(fd, &told, sizeof told) == static_cast<ssize_t>(sizeof told);
}

// Looks at all processes, in the child.
void look_at_all(const std::string& proc, const std::vector<pid_t>& pids,
                 const std::vector<std::string>& names, int fd) {
  Look look(proc, names);
  for (const pid_t pid : pids) {
    const auto program = look.at(pid);
    if (!program) continue;
    Told told{};
    told.pid = pid;
    told.is_closed = program->is_closed;
    told.points = program->points;
    told.has_more_points = program->has_more_points;
    put(program->name, told.name);
    put(program->library, told.library);
    if (!tell(fd, told)) return;
  }
  Told told{};
  told.is_end = true;
  told.looked_at = look.looked_at;
  told.closed = look.closed;
  tell(fd, told);
}

// Returns whether the child would run if other threads let it.
bool is_runnable(pid_t child) {
  const auto text = read_whole("/proc/" + std::to_string(child) + "/stat");
  if (!text) return false;
  const auto stat = parse_stat(*text);
  return stat && stat->state == 'R';
}

// Waits for a message of the child. Time in which it only waits for a CPU counts, but more of it is
// allowed: real-time threads may keep all CPUs for seconds.
bool wait_for_message(int fd, pid_t child, std::chrono::milliseconds timeout,
                      std::chrono::steady_clock::time_point& end) {
  constexpr int kMaxExtensions = 15;
  for (int extensions = 0; extensions <= kMaxExtensions; ++extensions) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = poll(&waited, 1, static_cast<int>(std::max(left.count(), std::int64_t{0})));
    if (ready > 0) return true;
    if (ready == 0 && !is_runnable(child)) return false;
    end = std::chrono::steady_clock::now() + timeout;
  }
  return false;
}

// Reads the child's messages until its end, or until the time is up.
void listen(int fd, pid_t child, std::chrono::milliseconds timeout,
            std::chrono::steady_clock::time_point end, RunningPrograms& programs) {
  programs.is_in_time = false;
  Told told{};
  while (wait_for_message(fd, child, timeout, end) &&
         base::read_answer(fd, &told, sizeof told, timeout)) {
    if (told.is_end) {
      programs.is_in_time = true;
      programs.looked_at = told.looked_at;
      programs.closed = told.closed;
      return;
    }
    programs.found.push_back({.pid = told.pid,
                              .name = told.name.data(),
                              .is_closed = told.is_closed,
                              .points = told.points,
                              .has_more_points = told.has_more_points,
                              .library = told.library.data()});
  }
}

}  // namespace

Result<RunningPrograms> find_running_programs(const std::string& proc,
                                              const std::vector<std::string>& names,
                                              std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  SJ_TRY(pids, processes_of(proc));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno("make a pipe");
  const base::Fd reading(ends[0]);
  base::Fd writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) return fail_errno("fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      look_at_all(proc, pids, names, writing.get());
    } catch (...) {
      _exit(1);  // without an end message the parent takes it for a timeout
    }
    _exit(0);
  }
  writing = base::Fd();
  RunningPrograms programs;
  listen(reading.get(), child, timeout, end, programs);
  // A child that hangs in the kernel may not end now: it is not waited for, and init reaps it.
  kill(child, SIGKILL);
  waitpid(child, nullptr, programs.is_in_time ? 0 : WNOHANG);
  // Each namespace has a process 1.
  programs.hides_others = !std::ranges::binary_search(pids, 1);
  return programs;
}

bool may_be_named(const RunningProgram& program, std::string_view name) {
  if (program.is_closed && program.name.size() == kMaxComm) return name.starts_with(program.name);
  return program.name == name;
}

}  // namespace sojourn::tracee
