// With which rights a capture works. It begins with the few that it takes to look into processes
// and to attach to them, and gives up all of them once that is done; a process of its own keeps
// them for what comes later. Files belong to the user who asked for the capture, also by sudo, and
// are made with that user's rights: so nobody can make root write where they may not write
// themselves. All of this is of the calling thread, and of the threads and processes that it starts
// later.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"

namespace sojourn::capture {

struct FileOwner {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  std::optional<uid_t> refused_invoker = {};  // who called sudo, and may not write there

  static FileOwner self();
  // Who called sudo, where they may write into the file's directory; else this process's own user.
  static FileOwner of(const std::string& path);

  bool is_self() const;
};

// In whose name files are made meanwhile.
class WriteAs {
 public:
  explicit WriteAs(const FileOwner& owner);
  WriteAs(const WriteAs&) = delete;
  WriteAs& operator=(const WriteAs&) = delete;
  ~WriteAs();

 private:
  bool is_other_ = false;
  FileOwner before_;
};

// Of a thread that from now on only writes the owner's files. No way leads back.
Result<void> become_writer(const FileOwner& owner);

struct RightsNeeded {
  bool perf_uprobes = false;    // every process that maps a file traps on them
  bool other_networks = false;  // to ask another network namespace about its sockets
  bool kernel_names = false;    // of the functions that a profile is in
  bool to_become_writer = false;
};

// Gives up all that a capture does not need. Rights that are not there are not asked for.
Result<void> keep_rights(const RightsNeeded& needed);

// All of them: from here on the privileged helper does what takes some
// (helper/privileged_requests.h).
Result<void> give_up_rights();
bool has_rights();

}  // namespace sojourn::capture
