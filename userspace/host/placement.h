// Chooses the CPUs to measure on (one for the measured thread, one for its partner) and the
// priority. The destructor restores what was set before. One thread owns it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sched.h>

#include "userspace/host/machine_reader.h"

namespace sojourn::host {

class Placement {
 public:
  // `raises` asks for a higher priority; measuring goes on if that is refused.
  Placement(const CpuLayout& layout, bool raises);
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;
  ~Placement();

  std::uint32_t home() const { return home_; }
  // A CPU on another core, if this process may use one.
  std::optional<std::uint32_t> partner() const { return partner_; }
  bool partner_shares_core() const { return partner_shares_core_; }
  const std::vector<std::uint32_t>& allowed() const { return allowed_; }
  const std::string& priority() const { return priority_; }  // in words

  void go_home() const { pin(home_); }

  // Moves the calling thread, and the threads that it creates later. False if that is refused.
  static bool pin(std::uint32_t cpu);

 private:
  cpu_set_t before_{};
  int nice_before_ = 0;
  bool is_raised_ = false;
  std::vector<std::uint32_t> allowed_;
  std::uint32_t home_ = 0;
  std::optional<std::uint32_t> partner_;
  bool partner_shares_core_ = false;
  std::string priority_;
};

// Chooses the measuring CPU and its partner among the allowed ones. Isolated CPUs come first, then
// the last CPU, because most interrupts go to the first. The partner is on another core. A pure
// function.
struct CpuChoice {
  std::uint32_t home = 0;
  std::optional<std::uint32_t> partner;
};
CpuChoice choose_cpus(const CpuLayout& layout, const std::vector<std::uint32_t>& allowed);

}  // namespace sojourn::host
