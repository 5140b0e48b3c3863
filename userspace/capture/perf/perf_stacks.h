// The stacks of a profile, each with a number, and the frames that they consist of. New ones are
// written without names as they come; names are looked up at the end. One thread owns PerfStacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/model/profile_info.h"
#include "userspace/symbols/code_map.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

class PerfStacks {
 public:
  explicit PerfStacks(const tracee::Process& process) : code_(process) {}

  // The number of the stack; 0 if it is empty, or if there are too many already. `chain` is as the
  // kernel gives it: addresses and its marks.
  std::uint32_t number_of(std::span<const std::byte> chain);

  // Code was mapped: addresses may belong to other functions from now on.
  void forget_mappings();

  // Frames and stacks since the call before.
  model::Profile news();

  std::uint64_t refused() const { return refused_; }

  // A function that finds names for all frames so far, a part for each file. It takes long, and
  // owns all data that it needs: it may be called on another thread, and when this object is gone.
  std::function<std::vector<model::Profile>()> naming() const;

 private:
  using Frames = std::vector<std::uint32_t>;
  struct Hash {
    std::size_t operator()(const Frames& frames) const;
  };
  std::uint32_t frame_at(std::uint64_t address, bool is_kernel);
  std::uint32_t new_frame(std::uint64_t address, bool is_kernel);

  symbols::CodeMap code_;
  std::vector<model::Frame> frames_;      // by id - 1
  std::vector<std::uint32_t> module_of_;  // by id - 1
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> by_place_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_address_;  // 0: no code there
  std::unordered_map<Frames, std::uint32_t, Hash> stacks_;
  std::vector<model::Stack> fresh_stacks_;
  std::size_t told_frames_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace sojourn::capture
