// Where measuring runs: one CPU for what is measured, another one for its partner; and with which
// priority. What was there before comes back at the end. One thread owns it.
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
  // `raises`: asks for a higher priority, and goes on without where that is not allowed.
  Placement(const CpuLayout& layout, bool raises);
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;
  ~Placement();

  std::uint32_t home() const { return home_; }
  // On another core, if there is any that this process may use.
  std::optional<std::uint32_t> partner() const { return partner_; }
  bool partner_shares_core() const { return partner_shares_core_; }
  const std::vector<std::uint32_t>& allowed() const { return allowed_; }
  const std::string& priority() const { return priority_; }  // in words

  void go_home() const { pin(home_); }

  // The calling thread, and what it creates from then on. False where that is refused.
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

// Which of the allowed CPUs to measure on, and with which partner: isolated ones first, then the
// last one, for interrupts mostly go to the first; the partner on another core. Pure.
struct CpuChoice {
  std::uint32_t home = 0;
  std::optional<std::uint32_t> partner;
};
CpuChoice choose_cpus(const CpuLayout& layout, const std::vector<std::uint32_t>& allowed);

}  // namespace sojourn::host
