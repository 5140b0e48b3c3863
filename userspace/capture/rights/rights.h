// The rights of a capture. It begins with the few rights that looking into processes and attaching
// to them takes, and gives up all of them after that; the privileged helper keeps them for later
// requests. Files belong to the user who asked for the capture, also by sudo, and are made with
// that user's rights. So no user can make root write to a place where the user may not. All
// functions apply to the calling thread, and to the threads and processes that it starts later.
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
  std::optional<uid_t> refused_invoker = {};  // the user who called sudo, and may not write there

  static FileOwner self();
  // The user who called sudo, if they may write into the file's directory; else this process's
  // user.
  static FileOwner of(const std::string& path);

  bool is_self() const;
};

// Makes files in the owner's name while it exists.
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

// Turns the thread into one that only writes the owner's files. This cannot be undone.
Result<void> become_writer(const FileOwner& owner);

struct RightsNeeded {
  bool perf_uprobes = false;    // perf uprobes trap in every process that maps the file
  bool other_networks = false;  // to ask another network namespace about its sockets
  bool kernel_names = false;    // names of kernel functions in a profile
  bool to_become_writer = false;
  bool real_time = false;  // to take a real-time priority
};

// Gives up all rights that a capture does not need. Missing rights are no error.
Result<void> keep_rights(const RightsNeeded& needed);

// Gives up all rights: from here on the privileged helper does what takes rights
// (helper/privileged_requests.h).
Result<void> give_up_rights();
bool has_rights();

}  // namespace sojourn::capture
