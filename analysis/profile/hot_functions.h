// The functions of a profile by time: their own, and with all functions that they called. Plain
// computations on sampled work.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/profile/sampled_work.h"
#include "analysis/profile/stack_names.h"

namespace sojourn::profile {

constexpr std::uint32_t kNoFunction = UINT32_MAX;  // samples whose stack is not known

struct HotFunction {
  std::uint32_t function = kNoFunction;
  SampleSum self;
  SampleSum total;
};

struct HotFunctions {
  SampleSum all;
  SampleSum in_kernel;                 // the innermost function is the kernel's
  SampleSum short_ones;                // have one or two frames of the target's own code
  SampleSum with_stack;                // have a known stack
  std::vector<HotFunction> functions;  // the one with most time in itself first
};

using LocationFilter = std::function<bool(const ThreadLocation&)>;

HotFunctions hot_functions(const SampledWork& work, const StackNames& names,
                           const LocationFilter& wanted);

// A line for each stack, as flame graph tools read it: thread;place;outermost;...;innermost, and
// the number of samples. Functions of the kernel end in _[k].
std::string folded(const SampledWork& work, const StackNames& names, const LocationFilter& wanted,
                   const std::function<std::string(std::uint32_t tid)>& thread_name,
                   const std::function<std::string(std::uint16_t place)>& place_name);

}  // namespace sojourn::profile
