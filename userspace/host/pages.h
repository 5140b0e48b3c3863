// A private mapping of small or huge pages. Unmaps itself. Neither copied nor moved.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/mman.h>

namespace sojourn::host {

class Pages {
 public:
  // False as bool if the mapping failed.
  Pages(std::size_t bytes, bool is_huge);
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages();

  explicit operator bool() const { return data_ != nullptr; }
  void* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  // The share that the kernel has put into huge pages, once the memory was written to.
  double huge_share() const;

 private:
  void* mapped_ = MAP_FAILED;
  std::size_t mapped_bytes_ = 0;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace sojourn::host
