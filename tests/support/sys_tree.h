// A machine's files in a temporary folder, laid out as below /sys, with the values that a test
// chooses. Values are overwritten in place, so that a program with the file open sees them grow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/child.h"

namespace sojourn::test {

class SysTree {
 public:
  SysTree& file(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = directory_.path(path);
    std::filesystem::create_directories(whole.parent_path());
    write_contents(whole.string(), text + "\n");
    return *this;
  }
  std::string path() const { return directory_.path(); }
  std::string path(const std::string& file) const { return directory_.path(file); }
  std::string text(const std::string& file) const {
    std::string text = contents(path(file));
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  // Always has the same number of digits, so that a reader never sees half of a number.
  void count(const std::string& file, std::uint64_t value) const {
    std::string digits = std::to_string(value);
    digits.insert(0, 20 - digits.size(), '0');
    std::fstream(path(file), std::ios::in | std::ios::out | std::ios::binary) << digits << '\n';
  }

  // A zone of powercap.
  SysTree& zone(const std::string& place, const std::string& name,
                std::uint64_t range_uj = 65'532'610'987) {
    const std::string folder = "class/powercap/" + place + "/";
    file(folder + "name", name).file(folder + "max_energy_range_uj", std::to_string(range_uj));
    file(energy_of(place), std::string(20, '0'));
    return *this;
  }
  static std::string energy_of(const std::string& place) {
    return "class/powercap/" + place + "/energy_uj";
  }

  // A frequency policy of cpufreq, in kHz.
  SysTree& policy(unsigned number, std::uint64_t slowest, std::uint64_t fastest) {
    const std::string folder = policy_of(number);
    file(folder + "affected_cpus", std::to_string(number));
    file(folder + "scaling_governor", "powersave");
    for (const char* name : {"cpuinfo_min_freq", "scaling_min_freq"})
      file(folder + name, std::to_string(slowest));
    for (const char* name : {"cpuinfo_max_freq", "scaling_max_freq"})
      file(folder + name, std::to_string(fastest));
    return file(folder + "scaling_cur_freq", std::to_string(slowest));
  }
  static std::string policy_of(unsigned number) {
    return "devices/system/cpu/cpufreq/policy" + std::to_string(number) + "/";
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace sojourn::test
