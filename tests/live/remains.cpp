#include "tests/live/remains.h"

#include <filesystem>
#include <system_error>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/reader.h"
#include "userspace/files/trace_file.h"

namespace sojourn::live {

std::uint64_t readable_events(const std::string& path) {
  std::error_code missing;
  if (std::filesystem::file_size(path, missing) == 0 || missing) return 0;
  auto reader = files::open_trace(path);
  // The file may have its first bytes only.
  if (!reader) return 0;
  std::uint64_t events = 0;
  REQUIRE(reader->merge([&](const model::EventBatch& batch) {
    events += batch.size();
    return true;
  }));
  CHECK(reader->damage().size() <= 1);
  CHECK(events == reader->events());
  return events;
}

}  // namespace sojourn::live
