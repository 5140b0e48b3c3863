#include "tests/basestation/faults.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "tests/basestation/clock.h"

namespace sojourn::basestation {
namespace {

constexpr std::uint64_t kMaxDelayUs = 10'000'000;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

template <typename Number>
Result<Number> number(std::string_view text, Number min, Number max) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= min && value <= max)) {
    return fail("'{}' is not a number from {} to {}", text, min, max);
  }
  return value;
}

Result<void> check_place(std::string_view name, bool must_drop) {
  const auto* place = std::ranges::find(kFaultPlaces, name, &FaultPlace::name);
  if (place == std::end(kFaultPlaces) || (must_drop && !place->can_drop)) {
    return fail("'{}' is not one of {}", name, fault_place_names(must_drop));
  }
  return {};
}

}  // namespace

void StageFaults::delay() {
  const auto working = [this] { return working_->load(std::memory_order_relaxed); };
  if (sleep_every_ != 0 && ++units_ % sleep_every_ == 0) {
    const std::uint64_t end_ns = now_ns() + sleep_ns_;
    for (std::uint64_t now = now_ns(); now < end_ns && working(); now = now_ns()) {
      sleep_until_ns(std::min(end_ns, now + 100 * kMillisecond));
    }
  }
  if (slow_ns_ != 0) {
    const std::uint64_t end_ns = now_ns() + slow_ns_;
    while (now_ns() < end_ns && working()) {
    }
  }
}

Result<void> Faults::add_slow(std::string_view text) {
  const auto parts = split(text);
  if (parts.size() != 2) return fail("'{}' is not NAME:us", text);
  SJ_CHECK(check_place(parts[0], false));
  SJ_TRY(us, number<std::uint64_t>(parts[1], 1, kMaxDelayUs));
  planted_.push_back({.place = std::string(parts[0]), .slow_us = us});
  return {};
}

Result<void> Faults::add_sleep(std::string_view text) {
  const auto parts = split(text);
  if (parts.size() != 3) return fail("'{}' is not NAME:us:every", text);
  SJ_CHECK(check_place(parts[0], false));
  SJ_TRY(us, number<std::uint64_t>(parts[1], 1, kMaxDelayUs));
  SJ_TRY(every, number<std::uint64_t>(parts[2], 1, 1'000'000'000));
  planted_.push_back({.place = std::string(parts[0]), .sleep_us = us, .sleep_every = every});
  return {};
}

Result<void> Faults::add_drop(std::string_view text) {
  const auto parts = split(text);
  if (parts.size() != 2) return fail("'{}' is not NAME:probability", text);
  SJ_CHECK(check_place(parts[0], true));
  SJ_TRY(probability, number<double>(parts[1], 0.0, 1.0));
  planted_.push_back({.place = std::string(parts[0]), .drop_probability = probability});
  return {};
}

Result<void> Faults::add_preempt(std::string_view text) {
  const auto parts = split(text);
  if (parts.size() != 3) return fail("'{}' is not NAME:us:ms", text);
  SJ_CHECK(check_place(parts[0], false));
  SJ_TRY(us, number<std::uint64_t>(parts[1], 1, kMaxDelayUs));
  SJ_TRY(ms, number<std::uint64_t>(parts[2], 1, kMaxDelayUs));
  if (us >= ms * 1000) return fail("'{}' leaves the stage no time: us is of every ms", text);
  const auto* place = std::ranges::find(kFaultPlaces, parts[0], &FaultPlace::name);
  preempts_.push_back(
      {.thread = place->thread, .spin_ns = us * 1000, .period_ns = ms * kMillisecond});
  return {};
}

StageFaults Faults::of(std::string_view place, std::uint64_t seed,
                       const std::atomic<bool>& working) const {
  StageFaults stage;
  stage.working_ = &working;
  stage.random_.seed(seed ^ std::hash<std::string_view>{}(place));
  for (const Planted& planted : planted_) {
    if (planted.place != place) continue;
    stage.slow_ns_ += planted.slow_us * 1000;
    if (planted.sleep_every != 0) {
      stage.sleep_ns_ = planted.sleep_us * 1000;
      stage.sleep_every_ = planted.sleep_every;
    }
    stage.drop_probability_ = std::max(stage.drop_probability_, planted.drop_probability);
  }
  return stage;
}

std::string fault_place_names(bool only_dropping) {
  std::string names;
  for (const FaultPlace& place : kFaultPlaces) {
    if (only_dropping && !place.can_drop) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", place.name);
  }
  return names;
}

}  // namespace sojourn::basestation
