// The running kernel's functions by address, from /proc/kallsyms, which takes rights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sojourn::symbols {

class KernelSymbols {
 public:
  static KernelSymbols read();
  explicit KernelSymbols(std::string_view kallsyms);

  // Empty if the kernel hides its addresses, or has no function there.
  std::string function_at(std::uint64_t address) const;

 private:
  struct Function {
    std::uint64_t address = 0;
    std::string name;
  };
  std::vector<Function> functions_;  // by address
};

}  // namespace sojourn::symbols
