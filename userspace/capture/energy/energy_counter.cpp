#include "userspace/capture/energy/energy_counter.h"

#include <array>
#include <cerrno>
#include <cmath>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

std::unexpected<Error> fail_reading(const char* what) {
  return fail("{}: {}", what, std::generic_category().message(errno));
}

// A removed file may still be readable, but its value is stale.
bool is_removed(const base::Fd& file) {
  struct stat about{};
  return fstat(file.get(), &about) != 0 || about.st_nlink == 0;
}

}  // namespace

Result<EnergyCounter> EnergyCounter::open(const PowercapZone& zone) {
  base::Fd file(::open(zone.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    const bool is_refused = errno == EACCES || errno == EPERM;
    return fail("may not be read: {}{}", std::generic_category().message(errno),
                is_refused ? ": root may" : "");
  }
  EnergyCounter counter(std::move(file), 0);
  if (auto first = counter.read(); !first) return std::unexpected(std::move(first).error());
  return counter;
}

// The event counts on its CPU, whichever process runs there.
Result<EnergyCounter> EnergyCounter::open(const PowerEvent& event) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  base::Fd file(static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, -1, event.cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!file) {
    const bool is_refused = errno == EACCES || errno == EPERM;
    return fail("may not be counted: {}{}", std::generic_category().message(errno),
                is_refused ? ": root may, and CAP_PERFMON" : "");
  }
  return EnergyCounter(std::move(file), event.unit_uj);
}

Result<std::uint64_t> EnergyCounter::read() const {
  if (unit_uj_ != 0) {
    std::uint64_t count = 0;
    if (::read(file_.get(), &count, sizeof(count)) != sizeof(count))
      return fail_reading("cannot be read");
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * unit_uj_));
  }
  std::array<char, 32> text{};
  const ssize_t bytes = pread(file_.get(), text.data(), text.size(), 0);
  if (bytes < 0 && errno != ENODEV && errno != ENOENT) return fail_reading("cannot be read");
  if (bytes < 0 || is_removed(file_)) return fail("vanished");
  std::string_view digits(text.data(), static_cast<std::size_t>(bytes));
  if (digits.ends_with('\n')) digits.remove_suffix(1);
  const auto value = tracee::parse_number(digits);
  if (!value) return fail("cannot be read: '{}' is no number", tracee::printable(digits));
  return *value;
}

}  // namespace sojourn::capture
