// A capture that has readers while it runs, as the tests of streams need it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/live/recorder.h"
#include "userspace/base/fd.h"

namespace sojourn::live {

std::string quoted(const std::string& word);

// A capture that listens at a unix socket.
struct Streamed {
  explicit Streamed(std::vector<std::string> more = {});

  std::string path() const { return directory.path("stream"); }
  std::string address() const { return "unix:" + path(); }
  std::string file(const std::string& name) const { return directory.path(name); }
  std::string trace() const { return recorder.directory.path("run.sjt"); }
  // Reads into the file.
  std::vector<std::string> nc(const std::string& name) const;
  base::Fd connect() const;
  void stop();

  test::TemporaryDirectory directory;
  Recorder recorder;
  std::string said;
};

void wait_until_filled(const std::string& path, std::uint64_t bytes = 4096);

}  // namespace sojourn::live
