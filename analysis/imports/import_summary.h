// The figures of every imported file; a format adds its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sojourn::imports {

struct ImportedFile {
  std::string path;
  std::uint64_t events = 0;      // those in the trace
  std::uint64_t outside = 0;     // those outside of the recorded trace's time, which are left out
  std::uint64_t disordered = 0;  // those that stood behind a later one and were sorted
  std::uint64_t first_ns = 0;    // by its clock, of all events that were read
  std::uint64_t last_ns = 0;
  std::string failure;  // why reading ended before the file did; empty: it did not
};

template <typename FormatsFile>
struct Summary {
  std::vector<FormatsFile> files;
  std::size_t points = 0;

  std::uint64_t events() const {
    std::uint64_t sum = 0;
    for (const FormatsFile& file : files) sum += file.events;
    return sum;
  }
};

using Progress = std::function<void(std::uint64_t done_bytes, std::uint64_t of_bytes)>;

}  // namespace sojourn::imports
