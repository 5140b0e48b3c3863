#include "userspace/host/cpu_frequency.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/host/machine_reader.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::host {

namespace {

constexpr const char* kLeast = "/scaling_min_freq";
constexpr const char* kMost = "/scaling_max_freq";

Result<std::uint64_t> read_khz(const std::string& path) {
  SJ_TRY(text, tracee::read_whole(path));
  while (text.ends_with('\n')) text.pop_back();
  const auto khz = tracee::parse_number(text);
  if (!khz || *khz == 0) return fail("{}: '{}' is no frequency", path, tracee::printable(text));
  return *khz;
}

Result<void> write_khz(const std::string& path, std::uint64_t khz) {
  const base::Fd file(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!file) return fail_errno("open {} for writing", path);
  const std::string text = std::to_string(khz) + "\n";
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail_errno("write {} to {}", khz, path);
  return {};
}

// In the order in which the least is never above the most.
Result<void> set_limits(const std::string& folder, std::uint64_t least_khz,
                        std::uint64_t most_khz) {
  SJ_TRY(most_now, read_khz(folder + kMost));
  if (least_khz <= most_now) {
    SJ_CHECK(write_khz(folder + kLeast, least_khz));
    return write_khz(folder + kMost, most_khz);
  }
  SJ_CHECK(write_khz(folder + kMost, most_khz));
  return write_khz(folder + kLeast, least_khz);
}

Result<void> check_writable(const FrequencyLimits& policy) {
  for (const char* const file : {kLeast, kMost})
    if (faccessat(AT_FDCWD, (policy.folder + file).c_str(), W_OK, AT_EACCESS) != 0)
      return fail_errno("write {}{}", policy.folder, file);
  return {};
}

// The keeper's main function. It reports the settings that it could not restore on stderr.
[[noreturn]] void live_as_keeper(int until_closed, const std::vector<FrequencyLimits>& before) {
  setsid();  // an interrupt from the terminal is not for it
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_IGN);
  char byte = 0;
  while (read(until_closed, &byte, 1) < 0 && errno == EINTR) {
  }
  int code = 0;
  for (const FrequencyLimits& policy : before)
    if (const auto set = set_limits(policy.folder, policy.least_khz, policy.most_khz); !set) {
      std::fprintf(stderr, "the frequency was not set back to %llu ... %llu kHz: %s\n",
                   static_cast<unsigned long long>(policy.least_khz),
                   static_cast<unsigned long long>(policy.most_khz), set.error().text().c_str());
      code = 1;
    }
  _exit(code);
}

}  // namespace

Result<std::vector<FrequencyLimits>> read_frequency_limits(const std::string& sys) {
  const std::string folder = sys + "/devices/system/cpu/cpufreq";
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed))
    if (at->path().filename().string().starts_with("policy")) names.push_back(at->path().string());
  if (names.empty())
    return fail("{} has no policies: this machine does not let its frequency be set", folder);
  std::ranges::sort(names);
  std::vector<FrequencyLimits> all;
  for (const std::string& name : names) {
    FrequencyLimits& one = all.emplace_back(FrequencyLimits{.folder = name});
    for (const auto& [file, into] :
         {std::pair(kLeast, &one.least_khz), std::pair(kMost, &one.most_khz),
          std::pair("/cpuinfo_min_freq", &one.slowest_khz),
          std::pair("/cpuinfo_max_freq", &one.fastest_khz)}) {
      SJ_TRY(khz, read_khz(name + file));
      *into = khz;
    }
  }
  return all;
}

Result<FrequencySetting> FrequencySetting::begin(const std::string& sys) {
  SJ_TRY(before, read_frequency_limits(sys));
  for (const FrequencyLimits& policy : before) SJ_CHECK(check_writable(policy));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno("make a pipe");
  const base::Fd reading(ends[0]);
  base::Fd writing(ends[1]);
  const pid_t keeper = fork();
  if (keeper < 0) return fail_errno("start the keeper of the frequency");
  if (keeper == 0) {
    writing = base::Fd();
    live_as_keeper(reading.get(), before);
  }
  return FrequencySetting(std::move(before), std::move(writing), keeper);
}

FrequencySetting::FrequencySetting(FrequencySetting&& other) noexcept
    : before_(std::move(other.before_)),
      keeper_waits_(std::move(other.keeper_waits_)),
      keeper_(std::exchange(other.keeper_, 0)) {}

FrequencySetting::~FrequencySetting() {
  (void)restore();  // the keeper has reported errors
}

std::uint64_t FrequencySetting::slowest_khz() const {
  return std::ranges::max(before_, {}, &FrequencyLimits::slowest_khz).slowest_khz;
}

std::uint64_t FrequencySetting::fastest_khz() const {
  return std::ranges::min(before_, {}, &FrequencyLimits::fastest_khz).fastest_khz;
}

Result<void> FrequencySetting::set(std::uint64_t khz) {
  for (const FrequencyLimits& policy : before_) {
    SJ_CHECK(set_limits(policy.folder, khz, khz));
    SJ_TRY(least, read_khz(policy.folder + kLeast));
    SJ_TRY(most, read_khz(policy.folder + kMost));
    if (least != khz || most != khz)
      return fail("{}: {} kHz were asked for, and the kernel made {} ... {} of it", policy.folder,
                  khz, least, most);
  }
  return {};
}

Result<void> FrequencySetting::restore() {
  const pid_t keeper = std::exchange(keeper_, 0);
  if (keeper == 0) return {};
  keeper_waits_ = base::Fd();
  int status = 0;
  while (waitpid(keeper, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail("the frequency was not set back");
  return {};
}

}  // namespace sojourn::host
