// What happens to a capture while it runs that is not a process's doing: losses that are told of,
// triggers that fire, and what they began. Plain data; capture.cpp and capture_control.cpp act upon
// it. The capture's thread owns it, but for what a Start says.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture.h"

namespace sojourn::capture {

// What the listener was told of losses, and when he may be told again.
struct LossWords {
  std::uint64_t told = 0;
  std::uint64_t next_look_ns = 0;
  std::uint64_t next_word_ns = 0;
  bool was_behind = false;  // the sink, since the last look
};

// A file that a trigger starts: the sink's thread says what it begins with.
struct Start {
  std::mutex mutex;
  std::optional<Result<model::Capture>> about;
};

// Up to where triggers on journeys have seen everything.
struct Watermark {
  std::uint64_t marked_ns = 0;  // when the sources were marked; 0: they are not
  std::uint64_t next_ns = 0;
  std::uint64_t told = 0;  // of events that were left out
  std::uint64_t next_word_ns = 0;
};

struct Triggered {
  std::vector<std::uint64_t> rests_until_ns;  // by trigger
  std::uint64_t losses_seen = 0;              // by those that wait for one
  unsigned dumps = 0;
  std::uint64_t stop_at_ns = UINT64_MAX;  // when both have come
  std::uint64_t stop_at_events = 0;
  std::shared_ptr<Start> starting;
  Watermark watermark;
};

}  // namespace sojourn::capture
