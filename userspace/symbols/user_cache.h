// Files that sojourn keeps for this user between runs: in $XDG_CACHE_HOME/sojourn, else
// ~/.cache/sojourn. Nobody else can have written what is read: directories and files must belong to
// this very user and be open to nobody else, and no link is followed, so that root, started in
// somebody's home, reads and writes nothing there. A file is replaced as a whole, or not at all,
// and carries a checksum: a damaged one is none. Losing them costs time only. One thread owns one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "userspace/base/fd.h"

namespace sojourn::symbols {

class UserCache {
 public:
  // `room`: the directory in it. None where nothing may be kept: no home, or not this user's alone.
  static std::optional<UserCache> open(const std::string& room);
  // The same below a directory that is given.
  static std::optional<UserCache> open_below(const std::string& directory, const std::string& room);

  // None: there is none, it is damaged, or it is not this user's alone.
  std::optional<std::string> load(const std::string& name) const;
  // False where it could not be. What was used least lately goes when there are too many.
  bool store(const std::string& name, std::string_view text) const;

 private:
  explicit UserCache(base::Fd directory) : directory_(std::move(directory)) {}

  void make_room() const;

  base::Fd directory_;
};

}  // namespace sojourn::symbols
