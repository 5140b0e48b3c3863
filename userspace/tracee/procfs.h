// Reads /proc: files and links, whole files, and the few formats that several readers share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::tracee {

// Opens a file, as all functions below do: if this process lacks the rights, it asks its privileged
// helper (base/privileged_helper.h). With O_CLOEXEC. An empty Fd: it failed, errno says why.
base::Fd open_path(const std::string& path, int flags);
// For a file that also opens without rights, but has less in it then. Returns an empty Fd if there
// is no helper.
base::Fd open_by_helper(const std::string& path, int flags);

// Fails with errno's words; an absurdly long file is an error, not memory.
Result<std::string> read_whole(const std::string& path);
Result<std::string> read_whole(const base::Fd& file, const std::string& path);
Result<std::string> read_link(const std::string& path);

// A directory's links and their targets; a directory that is gone has none.
struct Link {
  std::string name;
  std::string leads_to;
};
std::vector<Link> read_links(const std::string& directory);

// The value of "Key:<tab>value", e.g. in /proc/PID/status.
std::optional<std::string_view> status_value(std::string_view status, std::string_view key);

// Accepts digits only, and the whole text.
std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10);

std::vector<std::string_view> split(std::string_view text, char separator);

// The fields of /proc/PID/stat that matter here. `comm` in it may hold anything, even ") R 1".
struct Stat {
  char state = '?';
  std::uint64_t flags = 0;
  std::uint64_t cpu_time_ns = 0;
  std::uint64_t start_time_ns = 0;  // since boot

  bool is_kernel_thread() const { return (flags & 0x00200000) != 0; }  // PF_KTHREAD
  bool has_exited() const { return state == 'Z' || state == 'X'; }
  bool is_stopped() const { return state == 'T' || state == 't'; }
};
Result<Stat> parse_stat(std::string_view text);

// Makes a target's text safe for a terminal: control characters become \xNN.
std::string printable(std::string_view text);

}  // namespace sojourn::tracee
