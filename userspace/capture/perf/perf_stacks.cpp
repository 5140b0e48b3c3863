#include "userspace/capture/perf/perf_stacks.h"

#include <cstring>
#include <optional>
#include <tuple>

#include <linux/perf_event.h>

#include "userspace/symbols/kernel_symbols.h"
#include "userspace/symbols/naming.h"

namespace sojourn::capture {

namespace {

// Far more than a program has; bounds the memory of a capture of days.
constexpr std::size_t kMaxStacks = std::size_t{1} << 17;
constexpr std::size_t kMaxFrames = std::size_t{1} << 18;

constexpr std::uint32_t kKernelModule = UINT32_MAX;

bool is_mark(std::uint64_t address) {
  return address >= static_cast<std::uint64_t>(PERF_CONTEXT_MAX);
}

bool is_user_mark(std::uint64_t mark) {
  return mark == static_cast<std::uint64_t>(PERF_CONTEXT_USER);
}

std::uint64_t address_at(std::span<const std::byte> chain, std::size_t index) {
  std::uint64_t address = 0;
  std::memcpy(&address, chain.data() + index * sizeof(address), sizeof(address));
  return address;
}

}  // namespace

std::size_t PerfStacks::Hash::operator()(const Frames& frames) const {
  std::uint64_t hash = frames.size();
  for (const std::uint32_t frame : frames) {
    hash = (hash ^ frame) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

// All but the first address of each part are return addresses: the call stands right before.
std::uint32_t PerfStacks::number_of(std::span<const std::byte> chain) {
  Frames frames;
  bool is_kernel = true;
  bool is_first = true;
  for (std::size_t at = 0; at < chain.size() / sizeof(std::uint64_t); ++at) {
    const std::uint64_t address = address_at(chain, at);
    if (is_mark(address)) {
      is_kernel = !is_user_mark(address);
      is_first = true;
      continue;
    }
    const std::uint32_t frame = frame_at(is_first ? address : address - 1, is_kernel);
    is_first = false;
    // An address outside of code: a function without a frame pointer had it in that register.
    if (frame == 0) break;
    frames.push_back(frame);
  }
  if (frames.empty()) return 0;
  if (const auto known = stacks_.find(frames); known != stacks_.end()) return known->second;
  if (stacks_.size() == kMaxStacks) {
    ++refused_;
    return 0;
  }
  const auto id = static_cast<std::uint32_t>(stacks_.size() + 1);
  fresh_stacks_.push_back({.id = id, .frames = frames});
  stacks_.emplace(std::move(frames), id);
  return id;
}

std::uint32_t PerfStacks::frame_at(std::uint64_t address, bool is_kernel) {
  if (const auto known = by_address_.find(address); known != by_address_.end())
    return known->second;
  const std::uint32_t frame = new_frame(address, is_kernel);
  // An address outside of code may be mapped later, so it is looked up again when maps are read.
  if (frame != 0) by_address_.emplace(address, frame);
  return frame;
}

std::uint32_t PerfStacks::new_frame(std::uint64_t address, bool is_kernel) {
  symbols::CodeLocation place{.module = kKernelModule, .address = address};
  if (!is_kernel) {
    const auto found = code_.find(address);
    if (!found) return 0;
    place = *found;
  }
  const auto next = static_cast<std::uint32_t>(frames_.size() + 1);
  const auto [known, is_new] = by_place_.try_emplace({place.module, place.address}, next);
  if (!is_new) return known->second;
  if (frames_.size() == kMaxFrames) {
    by_place_.erase(known);
    return 0;
  }
  model::Frame& frame = frames_.emplace_back();
  frame.id = next;
  frame.address = place.address;
  frame.is_kernel = is_kernel;
  frame.module = is_kernel ? "[kernel]" : code_.modules()[place.module].name;
  if (!is_kernel) frame.build_id = code_.modules()[place.module].build_id;
  module_of_.push_back(place.module);
  return next;
}

void PerfStacks::forget_mappings() {
  code_.forget_mappings();
  by_address_.clear();
}

model::Profile PerfStacks::news() {
  model::Profile news;
  news.frames.assign(frames_.begin() + static_cast<std::ptrdiff_t>(told_frames_), frames_.end());
  told_frames_ = frames_.size();
  news.stacks = std::exchange(fresh_stacks_, {});
  return news;
}

namespace {

// The frames that are in one file.
struct Unnamed {
  std::shared_ptr<const tracee::ElfFile> file;  // null: the kernel
  std::vector<model::Frame> frames;
};

// Without a name a frame still has its module and the address in it.
void name(Unnamed& part) {
  if (part.file) {
    std::ignore = symbols::name_frames_in_child(*part.file, part.frames);
    return;
  }
  const auto kernel = symbols::KernelSymbols::read();
  for (model::Frame& frame : part.frames)
    if (std::string function = kernel.function_at(frame.address); !function.empty())
      frame.calls = {{.function = std::move(function), .file = {}, .line = 0}};
}

std::vector<model::Profile> names_of(std::vector<Unnamed> parts) {
  std::vector<model::Profile> named;
  for (Unnamed& part : parts) {
    name(part);
    std::erase_if(part.frames, [](const model::Frame& frame) { return frame.calls.empty(); });
    if (!part.frames.empty())
      named.push_back({.counters = {}, .frames = std::move(part.frames), .stacks = {}});
  }
  return named;
}

}  // namespace

std::function<std::vector<model::Profile>()> PerfStacks::naming() const {
  std::map<std::uint32_t, Unnamed> by_module;
  for (std::size_t at = 0; at < frames_.size(); ++at) {
    const std::uint32_t module = module_of_[at];
    const bool is_kernel = module == kKernelModule;
    if (!is_kernel && !code_.modules()[module].file) continue;
    Unnamed& part = by_module[module];
    if (!is_kernel) part.file = code_.modules()[module].file;
    part.frames.push_back(frames_[at]);
  }
  std::vector<Unnamed> parts;
  parts.reserve(by_module.size());
  for (auto& [module, part] : by_module) parts.push_back(std::move(part));
  return [parts = std::move(parts)] { return names_of(parts); };
}

}  // namespace sojourn::capture
