#include "tests/basestation/rlc_rx.h"

#include <algorithm>

#include "tests/basestation/clock.h"

namespace sojourn::basestation {
namespace {

constexpr std::uint32_t kHalf = kRsnModulus / 2;
constexpr std::uint64_t kUmReassemblyNs = 50 * kMillisecond;
constexpr std::uint64_t kAmReassemblyNs = 20 * kMillisecond;  // longer than all HARQ rounds
constexpr std::uint64_t kStatusProhibitNs = 10 * kMillisecond;

}  // namespace

bool RxSdu::covers(std::uint32_t from, std::uint32_t to) const {
  return std::ranges::any_of(intervals,
                             [&](auto& have) { return have.from <= from && to <= have.to; });
}

void RxSdu::add(const Segment& segment) {
  rsn = segment.rsn;
  segments.push_back(segment);
  Interval merged{segment.so, segment.end()};
  std::erase_if(intervals, [&](const Interval& have) {
    if (have.to < merged.from || merged.to < have.from) return false;
    merged = {std::min(have.from, merged.from), std::max(have.to, merged.to)};
    return true;
  });
  const auto after =
      std::ranges::find_if(intervals, [&](auto& have) { return have.from > merged.from; });
  intervals.insert(after, merged);
  complete = covers(0, segment.packet.pdu_bytes());
}

void UmRx::receive(const Segment& segment, std::uint64_t now, RlcEvents& events) {
  const std::uint32_t ahead = (segment.rsn - newest_) % kRsnModulus;
  const std::uint32_t number = ahead < kHalf ? newest_ + ahead : newest_ + ahead - kRsnModulus;
  newest_ = std::max(newest_, number);

  RxSdu& sdu = partial_[number];
  if (sdu.segments.empty()) sdu.deadline_ns = now + kUmReassemblyNs;
  sdu.add(segment);
  if (sdu.complete) {
    events.delivered(sdu);
    partial_.erase(number);
  }
  while (!partial_.empty() && partial_.begin()->first + kHalf < newest_) {
    events.given_up(partial_.begin()->second);
    partial_.erase(partial_.begin());
  }
}

void UmRx::tick(std::uint64_t now, RlcEvents& events) {
  std::erase_if(partial_, [&](const auto& entry) {
    if (entry.second.deadline_ns > now) return false;
    events.given_up(entry.second);
    return true;
  });
}

void AmRx::receive(const Segment& segment, std::uint64_t now, RlcEvents& events) {
  move_window(segment.window_start, events);
  const std::uint32_t ahead = (segment.rsn - next_) % kRsnModulus;
  const std::uint32_t number = next_ + ahead;
  if (ahead >= kHalf) {
    events.duplicate(segment);
    if (segment.poll) status_wanted_ = true;
    return;
  }
  store(number, segment, events);
  next_highest_ = std::max(next_highest_, number + 1);
  update_window();
  if (segment.poll) note_poll(number);
  update_timer(now);
}

void AmRx::move_window(std::uint16_t window_start, RlcEvents& events) {
  const std::uint32_t ahead = (window_start - next_) % kRsnModulus;
  if (ahead == 0 || ahead >= kHalf) return;
  const std::uint32_t start = next_ + ahead;
  while (!window_.empty() && window_.begin()->first < start) {
    if (!window_.begin()->second.complete) events.given_up(window_.begin()->second);
    window_.erase(window_.begin());
  }
  next_ = start;
  next_highest_ = std::max(next_highest_, start);
  update_window();
}

void AmRx::store(std::uint32_t number, const Segment& segment, RlcEvents& events) {
  RxSdu& sdu = window_[number];
  if (sdu.complete || sdu.covers(segment.so, segment.end())) {
    events.duplicate(segment);
    return;
  }
  sdu.add(segment);
  if (!sdu.complete) return;
  events.delivered(sdu);
  sdu.segments.clear();
}

bool AmRx::is_complete(std::uint32_t number) const {
  const auto found = window_.find(number);
  return number < next_ || (found != window_.end() && found->second.complete);
}

void AmRx::update_window() {
  highest_status_ = std::max(highest_status_, next_);
  while (is_complete(highest_status_)) ++highest_status_;
  while (!window_.empty() && window_.begin()->first == next_ && window_.begin()->second.complete) {
    window_.erase(window_.begin());
    ++next_;
  }
  if (poll_ && *poll_ < highest_status_) {
    poll_.reset();
    status_wanted_ = true;
  }
}

// A poll is answered once the status may report the polled PDU's number: HARQ may still bring
// earlier ones.
void AmRx::note_poll(std::uint32_t number) {
  if (number < highest_status_) {
    status_wanted_ = true;
  } else {
    poll_ = number;
  }
}

void AmRx::update_timer(std::uint64_t now) {
  if (timer_ns_ != 0 && next_ >= timer_trigger_) timer_ns_ = 0;
  if (timer_ns_ == 0 && next_highest_ > next_) {
    timer_ns_ = now + kAmReassemblyNs;
    timer_trigger_ = next_highest_;
  }
}

void AmRx::tick(std::uint64_t now, RlcEvents& /*events*/) {
  if (timer_ns_ == 0 || now < timer_ns_) return;
  timer_ns_ = 0;
  highest_status_ = std::max(highest_status_, timer_trigger_);
  status_wanted_ = true;
  update_window();
  update_timer(now);
}

std::optional<Status> AmRx::take_status(std::uint64_t now) {
  if (!status_wanted_ || now < status_prohibited_ns_) return std::nullopt;
  status_wanted_ = false;
  status_prohibited_ns_ = now + kStatusProhibitNs;
  Status status;
  std::uint32_t number = next_;
  while (number < highest_status_ && add_nacks(number, status)) ++number;
  status.ack_rsn = static_cast<std::uint16_t>(number % kRsnModulus);
  return status;
}

// False when there is no room for this one.
bool AmRx::add_nacks(std::uint32_t number, Status& status) const {
  if (is_complete(number)) return true;
  const auto rsn = static_cast<std::uint16_t>(number % kRsnModulus);
  std::vector<Nack> gaps;
  std::uint32_t from = 0;
  if (const auto found = window_.find(number); found != window_.end()) {
    for (const RxSdu::Interval& have : found->second.intervals) {
      if (from < have.from) gaps.push_back({rsn, from, have.from});
      from = have.to;
    }
    if (from < found->second.packet().pdu_bytes()) gaps.push_back({rsn, from, kToSduEnd});
  } else {
    gaps.push_back({rsn, 0, kToSduEnd});
  }
  if (status.nacks.size() + gaps.size() > kMaxNacks) return false;
  status.nacks.insert(status.nacks.end(), gaps.begin(), gaps.end());
  return true;
}

std::unique_ptr<RlcRx> make_rlc_rx(std::uint8_t drb) {
  if (is_am(drb)) return std::make_unique<AmRx>();
  return std::make_unique<UmRx>();
}

}  // namespace sojourn::basestation
