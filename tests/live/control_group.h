// A control group of a test's own, which goes with the test, and how processes come into it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <catch2/catch_test_macros.hpp>
#include <sys/types.h>
#include <unistd.h>

namespace sojourn::live {

// `below`: empty, of the hierarchy of version 2; else the name of one of version 1. It may be that
// none can be made.
class ControlGroup {
 public:
  explicit ControlGroup(const std::string& below) {
    std::ifstream mounts("/proc/self/mounts");
    std::string device;
    std::string place;
    std::string type;
    for (std::string rest; mounts >> device >> place >> type && std::getline(mounts, rest);) {
      const bool is_wanted =
          below.empty() ? type == "cgroup2" : type == "cgroup" && place.ends_with("/" + below);
      if (!is_wanted) continue;
      path_ = place + "/sojourn-test-" + std::to_string(getpid());
      std::error_code refused;
      if (!std::filesystem::create_directory(path_, refused)) path_.clear();
      return;
    }
  }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;
  ~ControlGroup() {
    std::error_code gone;
    std::filesystem::remove(path_ + "/below", gone);
    std::filesystem::remove(path_, gone);
  }
  bool is_there() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  std::string below() const {
    std::filesystem::create_directory(path_ + "/below");
    return path_ + "/below";
  }

 private:
  std::string path_;
};

inline void move(pid_t pid, const std::string& group) {
  std::ofstream list(group + "/cgroup.procs");
  list << pid << std::flush;
  REQUIRE(list.good());
}

}  // namespace sojourn::live
