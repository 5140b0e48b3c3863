// The functions of stacks, by number; inlined functions count as functions of their own. Immutable
// once made.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/model/profile_info.h"

namespace sojourn::profile {

struct Function {
  std::string name;    // "gnb+0x1f3a" if no name is known
  std::string module;  // its file without the directory
  bool is_kernel = false;
  bool has_name = false;
};

class StackNames {
 public:
  explicit StackNames(const model::Profile& profile);

  // The functions of a stack, outermost caller first; empty: the stack is not known.
  std::span<const std::uint32_t> functions_of(std::uint32_t stack) const;
  const Function& function(std::uint32_t index) const { return functions_[index]; }

  // The number of frames of the target's own code in the stack.
  std::size_t user_frames(std::uint32_t stack) const;

 private:
  struct StackFunctions {
    std::vector<std::uint32_t> functions;
    std::size_t user_frames = 0;
  };
  std::uint32_t index_of(Function function);
  void add_functions(const model::Frame& frame, StackFunctions& way);

  std::vector<Function> functions_;
  std::map<std::tuple<std::string, std::string, bool>, std::uint32_t> indexes_;
  std::unordered_map<std::uint32_t, StackFunctions> ways_;
};

}  // namespace sojourn::profile
