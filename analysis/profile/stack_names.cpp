#include "analysis/profile/stack_names.h"

#include <ranges>
#include <utility>

#include <fmt/format.h>

namespace sojourn::profile {

namespace {

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);  // all of it where there is no slash
}

}  // namespace

StackNames::StackNames(const model::Profile& profile) {
  std::unordered_map<std::uint32_t, const model::Frame*> frames;
  for (const model::Frame& frame : profile.frames) frames[frame.id] = &frame;
  for (const model::Stack& stack : profile.stacks) {
    StackFunctions& way = ways_[stack.id];
    way = {};
    for (const std::uint32_t id : std::views::reverse(stack.frames))
      if (const auto known = frames.find(id); known != frames.end())
        add_functions(*known->second, way);
  }
}

std::uint32_t StackNames::index_of(Function function) {
  const auto [known, is_new] =
      indexes_.try_emplace({function.name, function.module, function.is_kernel},
                           static_cast<std::uint32_t>(functions_.size()));
  if (is_new) functions_.push_back(std::move(function));
  return known->second;
}

void StackNames::add_functions(const model::Frame& frame, StackFunctions& way) {
  if (!frame.is_kernel) ++way.user_frames;
  const std::string module = file_name(frame.module);
  const auto add = [&](std::string name, bool has_name) {
    way.functions.push_back(index_of({.name = std::move(name),
                                      .module = module,
                                      .is_kernel = frame.is_kernel,
                                      .has_name = has_name}));
  };
  if (frame.calls.empty()) {
    add(frame.is_kernel ? module : fmt::format("{}+{:#x}", module, frame.address), false);
    return;
  }
  // A function without a name is called by its beginning: module and address.
  for (const model::FrameFunction& call : std::views::reverse(frame.calls))
    add(call.function.empty() ? "?" : call.function,
        !call.function.empty() && !call.function.starts_with(module + "+0x"));
}

std::span<const std::uint32_t> StackNames::functions_of(std::uint32_t stack) const {
  const auto known = ways_.find(stack);
  if (known == ways_.end()) return {};
  return known->second.functions;
}

std::size_t StackNames::user_frames(std::uint32_t stack) const {
  const auto known = ways_.find(stack);
  return known == ways_.end() ? 0 : known->second.user_frames;
}

}  // namespace sojourn::profile
