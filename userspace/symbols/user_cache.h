// Files that sojourn keeps for this user between runs: in $XDG_CACHE_HOME/sojourn, else
// ~/.cache/sojourn. Directories and files must belong to this user and be closed to others, and no
// link is followed. So root, started in another user's home, reads and writes nothing there. A file
// is replaced as a whole, or not at all, and has a checksum: a damaged one is ignored. Losing them
// costs time only. One thread owns one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "userspace/base/fd.h"

namespace sojourn::symbols {

class UserCache {
 public:
  // `room`: a directory in the cache. Nothing if files cannot be kept: there is no home, or others
  // can write there.
  static std::optional<UserCache> open(const std::string& room);
  // Opens a cache below a given directory.
  static std::optional<UserCache> open_below(const std::string& directory, const std::string& room);

  // Nothing if there is no such file, it is damaged, or others can write it.
  std::optional<std::string> load(const std::string& name) const;
  // False if it failed. The least recently used file is removed when there are too many.
  bool store(const std::string& name, std::string_view text) const;

 private:
  explicit UserCache(base::Fd directory) : directory_(std::move(directory)) {}

  void make_room() const;

  base::Fd directory_;
};

}  // namespace sojourn::symbols
