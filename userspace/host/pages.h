// Memory of this process's own, in small pages or in huge ones. Unmaps itself. Moves not at all.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/mman.h>

namespace sojourn::host {

class Pages {
 public:
  // False as bool where there is none.
  Pages(std::size_t bytes, bool is_huge);
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages();

  explicit operator bool() const { return data_ != nullptr; }
  void* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  // How much of it the kernel has put into huge pages, once it was written to.
  double huge_share() const;

 private:
  void* mapped_ = MAP_FAILED;
  std::size_t mapped_bytes_ = 0;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace sojourn::host
