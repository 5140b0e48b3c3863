// A mapping of a file that another process may cut while it is mapped. Touching a page that is gone
// would raise SIGBUS; here it becomes a page of zeros, and was_cut() says so. Only mappings made
// here are guarded: any other SIGBUS goes to the handler that was there before. One thread owns a
// mapping; any may touch it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/base/result.h"

namespace sojourn::capture {

enum class Sharing : std::uint8_t {
  kShared,
  kPrivate,  // writes stay in this process, and do not change the file
};

class GuardedMapping {
 public:
  // Maps the file readable and writable. `name` is the file's name in errors.
  static Result<GuardedMapping> map(int fd, std::size_t bytes, const std::string& name,
                                    Sharing sharing = Sharing::kShared);
  GuardedMapping(GuardedMapping&& other) noexcept;
  GuardedMapping& operator=(GuardedMapping&&) = delete;
  ~GuardedMapping();

  std::byte* data() const { return data_; }
  bool was_cut() const;

 private:
  GuardedMapping(std::byte* data, std::size_t bytes, std::size_t place)
      : data_(data), bytes_(bytes), place_(place) {}

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t place_ = 0;  // its index in the signal handler's table
};

}  // namespace sojourn::capture
