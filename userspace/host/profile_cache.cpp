#include "userspace/host/profile_cache.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/host/host_json.h"
#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/base/forked_child.h"
#include "userspace/host/survey.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::host {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 4 << 20;

int richness(const HostProfile& profile) {
  return profile.form == "full" ? 2 : profile.form == "quick" ? 1 : 0;
}

std::uint64_t now_s() {
  return static_cast<std::uint64_t>(std::time(nullptr));
}

// The profile without its explanations of methods, which readers of a trace do not need.
std::string trace_text(HostProfile profile) {
  for (Measurement& one : profile.measurements) {
    one.method.clear();
    one.basis.clear();
  }
  std::erase_if(profile.measurements, [](const Measurement& one) { return !one.is_measured(); });
  profile.curves.clear();
  profile.matrices.clear();
  return to_json(profile).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string own_boot_id() {
  return read_line_below("/proc/sys/kernel/random/boot_id");
}

}  // namespace

std::string cache_path() {
  if (geteuid() == 0) return "/run/sojourn/host.json";
  if (const char* run = std::getenv("XDG_RUNTIME_DIR"); run != nullptr && *run == '/')
    return std::string(run) + "/sojourn/host.json";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/sojourn/host.json";
  return {};
}

std::optional<HostProfile> read_cached(const std::string& path, const std::string& boot_id,
                                       std::uint64_t now_s) {
  if (path.empty()) return std::nullopt;
  const base::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status{};
  // Only a file that belongs to this user is used.
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != geteuid() || static_cast<std::size_t>(status.st_size) > kMostBytes)
    return std::nullopt;
  const auto text = tracee::read_whole(file, path);
  if (!text) return std::nullopt;
  auto profile = from_json(*text);
  if (!profile || profile->boot_id != boot_id || boot_id.empty()) return std::nullopt;
  const std::uint64_t age = now_s > profile->measured_at_s ? now_s - profile->measured_at_s : 0;
  const bool was_disturbed = richness(*profile) == 0 && !profile->warnings.empty();
  if (age > (was_disturbed ? kDisturbedSeconds : kFreshSeconds)) return std::nullopt;
  return std::move(*profile);
}

Result<void> write_cached(const std::string& path, const HostProfile& profile,
                          std::uint64_t now_s) {
  if (path.empty()) return fail("there is no home directory to keep it in");
  if (const auto kept = read_cached(path, profile.boot_id, now_s);
      kept && richness(*kept) > richness(profile))
    return {};
  std::error_code code;
  fs::create_directories(fs::path(path).parent_path(), code);
  if (code) return fail("create the directory of {}: {}", path, code.message());
  std::string unfinished = path + ".XXXXXX";
  const base::Fd file(mkostemp(unfinished.data(), O_CLOEXEC));
  if (!file) return fail_errno("create {}", unfinished);
  const std::string text = to_json_text(profile);
  const bool is_written =
      write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!is_written || rename(unfinished.c_str(), path.c_str()) != 0) {
    auto error = fail_errno("write {}", path);
    unlink(unfinished.c_str());
    return error;
  }
  return {};
}

std::string profile_for_trace(const std::string& tool) {
  const std::string path = cache_path();
  if (auto kept = read_cached(path, own_boot_id(), now_s())) return trace_text(std::move(*kept));
  // The measurements run in a child process, so that their CPU placement and open files do not
  // affect the capture.
  const auto text = base::text_from_child(
      [&] {
        SurveyOptions options;
        options.form = Form::kBrief;
        options.tool = tool;
        return to_json_text(survey(options, [](std::string_view) {}));
      },
      kMostBytes, {.processor_time = std::chrono::seconds(5), .blocked = std::chrono::seconds(5)});
  if (!text) return {};
  auto measured = from_json(*text);
  if (!measured) return {};
  // A failure to keep the profile is harmless: it is measured again next time.
  const auto kept = write_cached(path, *measured, now_s());
  static_cast<void>(kept);
  return trace_text(std::move(*measured));
}

}  // namespace sojourn::host
