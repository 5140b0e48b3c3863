#include "userspace/capture/rights/rights.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::capture {

namespace {

struct FreeCapabilities {
  void operator()(cap_t capabilities) const { cap_free(capabilities); }
};
using Capabilities = std::unique_ptr<std::remove_pointer_t<cap_t>, FreeCapabilities>;

std::optional<unsigned> number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  unsigned number = 0;
  const auto [rest, code] = std::from_chars(digits.begin(), digits.end(), number);
  if (code != std::errc() || rest != digits.end() || number == 0) return std::nullopt;
  return number;
}

std::vector<gid_t> own_groups() {
  const int count = getgroups(0, nullptr);
  std::vector<gid_t> groups(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (getgroups(static_cast<int>(groups.size()), groups.data()) < 0) groups.clear();
  return groups;
}

std::vector<gid_t> groups_of(uid_t uid, gid_t gid) {
  passwd entry{};
  passwd* user = nullptr;
  std::array<char, 16384> names{};
  if (getpwuid_r(uid, &entry, names.data(), names.size(), &user) != 0 || user == nullptr)
    return {gid};
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (getgrouplist(user->pw_name, gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
    if (getgrouplist(user->pw_name, gid, groups.data(), &count) < 0) return {gid};
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

// Uses system calls directly, which change one thread: the C library's functions change all
// threads.
void set_file_ids(const FileOwner& owner) {
  syscall(SYS_setgroups, owner.groups.size(), owner.groups.data());
  setfsgid(owner.gid);
  setfsuid(owner.uid);
}

// Keeps only wanted rights, in the permitted and in the effective set.
Result<void> keep_only(const std::vector<cap_value_t>& wanted) {
  const Capabilities now(cap_get_proc());
  const Capabilities kept(cap_init());
  if (!now || !kept) return fail_errno("read one's own capabilities");
  for (const cap_value_t capability : wanted) {
    for (const cap_flag_t flag : {CAP_PERMITTED, CAP_EFFECTIVE}) {
      cap_flag_value_t has = CAP_CLEAR;
      // This kernel may not know the capability.
      if (cap_get_flag(now.get(), capability, flag, &has) != 0 || has == CAP_CLEAR) continue;
      if (cap_set_flag(kept.get(), flag, 1, &capability, CAP_SET) != 0)
        return fail_errno("choose capabilities");
    }
  }
  if (cap_set_proc(kept.get()) != 0) return fail_errno("give up capabilities");
  return {};
}

}  // namespace

FileOwner FileOwner::self() {
  return {.uid = geteuid(), .gid = getegid(), .groups = own_groups()};
}

bool FileOwner::is_self() const {
  return uid == geteuid();
}

FileOwner FileOwner::of(const std::string& path) {
  const auto uid = number_of("SUDO_UID");
  const auto gid = number_of("SUDO_GID");
  if (geteuid() != 0 || !uid || !gid) return self();
  FileOwner invoker{.uid = *uid, .gid = *gid, .groups = groups_of(*uid, *gid)};
  const std::string directory = std::filesystem::path(path).parent_path().string();
  {
    const WriteAs as(invoker);
    if (faccessat(AT_FDCWD, directory.empty() ? "." : directory.c_str(), W_OK | X_OK, AT_EACCESS) ==
        0)
      return invoker;
  }
  FileOwner owner = self();
  owner.refused_invoker = uid;
  return owner;
}

WriteAs::WriteAs(const FileOwner& owner) : is_other_(!owner.is_self()) {
  if (!is_other_) return;
  before_ = FileOwner::self();
  set_file_ids(owner);
}

WriteAs::~WriteAs() {
  if (is_other_) set_file_ids(before_);
}

Result<void> become_writer(const FileOwner& owner) {
  if (owner.is_self()) {
    // Root keeps the capabilities by which it writes anywhere.
    return keep_only(owner.uid == 0 ? std::vector<cap_value_t>{CAP_DAC_OVERRIDE, CAP_FOWNER}
                                    : std::vector<cap_value_t>());
  }
  if (syscall(SYS_setgroups, owner.groups.size(), owner.groups.data()) != 0 ||
      syscall(SYS_setresgid, owner.gid, owner.gid, owner.gid) != 0 ||
      syscall(SYS_setresuid, owner.uid, owner.uid, owner.uid) != 0)
    return fail_errno("become user {}, who asked for the trace", owner.uid);
  return keep_only({});
}

Result<void> give_up_rights() {
  return keep_only({});
}

bool has_rights() {
  const Capabilities now(cap_get_proc());
  const Capabilities none(cap_init());
  return now && none && cap_compare(now.get(), none.get()) != 0;
}

Result<void> keep_rights(const RightsNeeded& needed) {
  std::vector<cap_value_t> wanted = {
      CAP_BPF,
      CAP_PERFMON,             // programs, probes, perf events and their rings
      CAP_IPC_LOCK,            // rings longer than a user may lock
      CAP_SYS_PTRACE,          // the mappings of processes
      CAP_CHECKPOINT_RESTORE,  // their mapped files that have no name any more
      CAP_DAC_OVERRIDE,
      CAP_DAC_READ_SEARCH,
      CAP_FOWNER};
  if (needed.perf_uprobes || needed.other_networks) wanted.push_back(CAP_SYS_ADMIN);
  if (needed.kernel_names) wanted.push_back(CAP_SYSLOG);
  if (needed.real_time) wanted.push_back(CAP_SYS_NICE);
  if (needed.to_become_writer) wanted.insert(wanted.end(), {CAP_SETUID, CAP_SETGID});
  return keep_only(wanted);
}

}  // namespace sojourn::capture
