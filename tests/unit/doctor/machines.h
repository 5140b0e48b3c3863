// Machines for tests: trees of files in the place of /proc and /sys, and their kernels' answers.
#pragma once

#include <string>

#include "tests/support/child.h"
#include "userspace/doctor/host_answers.h"
#include "userspace/doctor/host_facts.h"

namespace sojourn::doctor {

class Tree {
 public:
  // `path` as on a real machine: "/proc/self/status".
  Tree& file(const std::string& path, const std::string& text);
  HostFacts read() const;

 private:
  test::TemporaryDirectory directory_;
};

// A virtual machine with a new kernel and all rights, and one that runs a base station.
HostFacts virtual_machine();
HostFacts radio_host();

// A kernel with uprobe_multi, that optimises a nop which it should not; and one from before.
HostAnswers new_kernel();
HostAnswers old_kernel();

}  // namespace sojourn::doctor
