// The bytes of a regular file that is open already, see analysis/trace/byte_source.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "analysis/trace/byte_source.h"
#include "userspace/base/fd.h"

namespace sojourn::files {

class FileSource : public trace::ByteSource {
 public:
  FileSource(std::string path, base::Fd fd, std::uint64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

  const std::string& name() const override { return path_; }
  std::uint64_t size() const override { return size_; }
  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override;
  std::uint64_t next_data(std::uint64_t from) override;

 private:
  std::string path_;
  base::Fd fd_;
  std::uint64_t size_;
};

}  // namespace sojourn::files
