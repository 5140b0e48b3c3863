#include "tests/live/streamed.h"

#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include <catch2/catch_test_macros.hpp>

#include "userspace/files/stream_address.h"

namespace sojourn::live {

std::string quoted(const std::string& word) {
  return "'" + word + "'";
}

Streamed::Streamed(std::vector<std::string> more)
    : recorder([&] {
        std::vector<std::string> options = {"--budget", "none",          "--listen",
                                            address(),  "--flush-every", "50ms"};
        options.insert(options.end(), more.begin(), more.end());
        return options;
      }()) {
  REQUIRE(recorder.capture->wait_for_output("readers may connect"));
}

std::vector<std::string> Streamed::nc(const std::string& name) const {
  return {"sh", "-c", "exec nc -U " + quoted(path()) + " > " + quoted(file(name)) + " </dev/null"};
}

base::Fd Streamed::connect() const {
  auto fd = files::connect_to(files::StreamAddress{.host = {}, .path = path()});
  REQUIRE(fd);
  return std::move(*fd);
}

void Streamed::stop() {
  CHECK(recorder.ctl("stop").exit_code == 0);
  const test::Ended ended = recorder.capture->wait();
  CAPTURE(ended.out);
  CHECK(ended.exit_code == 0);
  said = ended.out;
}

void wait_until_filled(const std::string& path, std::uint64_t bytes) {
  for (int turn = 0; turn < 3000; ++turn) {
    std::error_code none;
    if (std::filesystem::exists(path, none) && std::filesystem::file_size(path, none) > bytes)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL("nothing came in " << path);
}

}  // namespace sojourn::live
