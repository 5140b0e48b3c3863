// The JSON of profiles; meta.h declares it.
#include <algorithm>
#include <utility>

#include "analysis/trace/meta.h"
#include "analysis/trace/meta_json.h"

namespace sojourn::trace {

std::string to_json(const model::Profile& profile) {
  json counters = json::array();
  for (const model::Counter& counter : profile.counters)
    counters.push_back({{"name", counter.name},
                        {"period", counter.period},
                        {"user_only", counter.user_only},
                        {"missing", counter.missing}});
  json frames = json::array();
  for (const model::Frame& frame : profile.frames) {
    json calls = json::array();
    for (const model::FrameFunction& call : frame.calls) {
      json said = {{"function", call.function}};
      if (!call.file.empty()) said["file"] = call.file;
      if (call.line != 0) said["line"] = call.line;
      calls.push_back(std::move(said));
    }
    json said = {{"id", frame.id}, {"module", frame.module}, {"address", frame.address}};
    if (!frame.build_id.empty()) said["build_id"] = frame.build_id;
    if (frame.is_kernel) said["kernel"] = true;
    if (!calls.empty()) said["calls"] = std::move(calls);
    frames.push_back(std::move(said));
  }
  json stacks = json::array();
  for (const model::Stack& stack : profile.stacks)
    stacks.push_back({{"id", stack.id}, {"frames", stack.frames}});
  return dump({{"counters", std::move(counters)},
               {"frames", std::move(frames)},
               {"stacks", std::move(stacks)}});
}

namespace {

Result<model::Counter> read_counter(const json& object) {
  model::Counter counter;
  SJ_CHECK(read_member(object, "name", counter.name));
  SJ_CHECK(read_member(object, "period", counter.period));
  SJ_CHECK(read_member(object, "user_only", counter.user_only));
  SJ_CHECK(read_member(object, "missing", counter.missing));
  return counter;
}

Result<model::FrameFunction> read_call(const json& object) {
  model::FrameFunction call;
  SJ_CHECK(read_member(object, "function", call.function));
  SJ_CHECK(read_member(object, "file", call.file));
  SJ_CHECK(read_member(object, "line", call.line));
  return call;
}

// Gives each object of the list that the member is to `take`.
template <typename Take>
Result<void> read_objects(const json& object, const char* member, Take take) {
  const auto list = object.find(member);
  if (list == object.end()) return {};
  if (!list->is_array()) return fail("\"{}\" is not a list", member);
  for (const json& item : *list) {
    if (!item.is_object()) return fail("\"{}\" is not a list of objects", member);
    SJ_CHECK(take(item));
  }
  return {};
}

Result<model::Frame> read_frame(const json& object) {
  model::Frame frame;
  SJ_CHECK(read_member(object, "id", frame.id));
  SJ_CHECK(read_member(object, "module", frame.module));
  SJ_CHECK(read_member(object, "build_id", frame.build_id));
  SJ_CHECK(read_member(object, "address", frame.address));
  SJ_CHECK(read_member(object, "kernel", frame.is_kernel));
  SJ_CHECK(read_objects(object, "calls", [&](const json& item) -> Result<void> {
    SJ_TRY(call, read_call(item));
    frame.calls.push_back(std::move(call));
    return {};
  }));
  return frame;
}

Result<model::Stack> read_stack(const json& object) {
  model::Stack stack;
  std::vector<std::uint64_t> frames;
  SJ_CHECK(read_member(object, "id", stack.id));
  SJ_CHECK(read_member(object, "frames", frames));
  for (const std::uint64_t frame : frames) {
    if (frame > UINT32_MAX) return fail("\"frames\" is not a list of frames' ids");
    stack.frames.push_back(static_cast<std::uint32_t>(frame));
  }
  return stack;
}

}  // namespace

Result<void> from_json(std::span<const std::uint8_t> text, model::Profile& profile) {
  SJ_TRY(object, parse_object(text));
  model::Profile read;
  SJ_CHECK(read_objects(object, "counters", [&](const json& item) -> Result<void> {
    SJ_TRY(counter, read_counter(item));
    read.counters.push_back(std::move(counter));
    return {};
  }));
  SJ_CHECK(read_objects(object, "frames", [&](const json& item) -> Result<void> {
    SJ_TRY(frame, read_frame(item));
    read.frames.push_back(std::move(frame));
    return {};
  }));
  SJ_CHECK(read_objects(object, "stacks", [&](const json& item) -> Result<void> {
    SJ_TRY(stack, read_stack(item));
    read.stacks.push_back(std::move(stack));
    return {};
  }));
  for (model::Counter& counter : read.counters) {
    std::erase_if(profile.counters,
                  [&](const model::Counter& known) { return known.name == counter.name; });
    profile.counters.push_back(std::move(counter));
  }
  std::ranges::move(read.frames, std::back_inserter(profile.frames));
  std::ranges::move(read.stacks, std::back_inserter(profile.stacks));
  return {};
}

}  // namespace sojourn::trace
