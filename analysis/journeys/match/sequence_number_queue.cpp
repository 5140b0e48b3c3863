#include "analysis/journeys/match/sequence_number_queue.h"

#include <algorithm>
#include <bit>

namespace sojourn::journeys {
namespace {

// After this long without a segment, every SDU that waits was seen.
constexpr std::uint64_t kIdleNs = 20'000'000;
// After this long without a segment, no SDU waits: they left another way, unseen.
constexpr std::uint64_t kForgottenNs = 1'000'000'000;
// The shortest sequence numbers of a radio have five bits; most have twelve or more.
constexpr std::uint64_t kMinModulus = 32;
constexpr std::uint64_t kLikelyModulus = 4096;
// No sequence number has more than 32 bits. A larger value is garbled, or no sequence number.
constexpr std::uint64_t kLargestModulus = std::uint64_t{1} << 32;
// This many lengths in a row, with this many changes, can agree in one place only.
constexpr std::size_t kEnoughTotals = 16;
constexpr int kEnoughChanges = 4;
// The distance of the search from the estimated place, and the number of lengths until it is
// repeated, so that a long queue does not cost too much.
constexpr std::int64_t kFarthestBehind = 1024;
constexpr std::ptrdiff_t kTotalsBetween = 4;

}  // namespace

void SequenceNumberQueue::add(const Sdu& whole) {
  const auto next = behind_last();
  const bool others_wait = latest_ + 1 + shift_ < next;
  const auto still_ns = whole.ts_ns - std::min(whole.ts_ns, last_piece_ns_);
  if (still_ns >= (others_wait ? kForgottenNs : kIdleNs)) {
    shift_ = next - (latest_ + 1);
    is_sure_ = true;
    totals_.clear();
  }
  if (lacks_before(whole)) doubt();
  sdus_.push_back(whole);
  last_own_number_ = whole.number;
}

// SDUs have own numbers in a row, and one before this was not seen, or went away earlier.
bool SequenceNumberQueue::lacks_before(const Sdu& whole) const {
  if (!whole.number || !last_own_number_) return false;
  return *whole.number != 0 && *whole.number != *last_own_number_ + 1;
}

std::optional<std::int64_t> SequenceNumberQueue::next_place() const {
  const auto place = latest_ + 1 + shift_;
  return at(place) == nullptr ? std::nullopt : std::optional(place);
}

bool SequenceNumberQueue::is_forgotten(std::uint64_t now_ns) const {
  return sdus_.empty() && now_ns - std::min(now_ns, last_piece_ns_) >= kForgottenNs;
}

void SequenceNumberQueue::doubt() {
  is_sure_ = false;
  totals_.clear();
}

std::optional<std::int64_t> SequenceNumberQueue::place_of(const Segment& piece, bool finally) {
  if (latest_ < 0) return first_place(piece);
  const auto count = begins_again(piece.number) ? latest_ + 1 : count_of(piece.number);
  if (count > latest_ && !give(count, piece.number, finally)) return std::nullopt;
  if (count == latest_) {
    latest_end_ = std::max(latest_end_, piece.end);
    last_piece_ns_ = piece.ts_ns;
  }
  const auto place = count + shift_;
  return at(place) == nullptr ? std::nullopt : std::optional(place);
}

// Gives a new number. Returns whether its SDU was seen.
bool SequenceNumberQueue::give(std::int64_t count, std::uint64_t number, bool finally) {
  const bool seen = count + shift_ < behind_last();
  if (!seen && !finally) return false;
  note_total();
  if (begins_again(number)) modulus_ = latest_number_ + 1;
  latest_ = count;
  latest_number_ = number;
  latest_end_ = 0;
  largest_ = std::max(largest_, number);
  if (!seen) {
    // The next SDU that comes gets the next number.
    shift_ = behind_last() - (count + 1);
    doubt();
  }
  return seen;
}

// Finds the SDU of the first number. If the SDUs' own numbers and those of this queue began
// together, they are equal.
std::optional<std::int64_t> SequenceNumberQueue::first_place(const Segment& piece) {
  if (piece.begin != 0 || sdus_.empty()) return std::nullopt;
  const auto same = std::ranges::find(sdus_, std::optional(piece.number), &Sdu::number);
  const auto chosen = same == sdus_.end() ? sdus_.begin() : same;
  is_sure_ |= same != sdus_.end() || piece.number == 0;
  latest_ = 0;
  shift_ = first_ + (chosen - sdus_.begin());
  latest_number_ = largest_ = piece.number;
  latest_end_ = piece.end;
  last_piece_ns_ = piece.ts_ns;
  return shift_;
}

// The number wraps: it is 0, and all bits of the latest number are ones.
bool SequenceNumberQueue::begins_again(std::uint64_t number) const {
  const auto all = latest_number_ + 1;
  return number == 0 && all >= kMinModulus && all <= kLargestModulus && std::has_single_bit(all);
}

// The count of a number, which is slightly ahead of the latest one or behind it.
std::int64_t SequenceNumberQueue::count_of(std::uint64_t number) const {
  const auto largest = std::min(std::max(largest_, number), kLargestModulus - 1);
  const auto likely = std::max(kLikelyModulus, std::bit_ceil(largest + 1));
  const auto modulus = number < modulus_ ? modulus_ : likely;
  const auto ahead = (number - latest_number_) & (modulus - 1);
  const auto behind = (latest_number_ - number) & (modulus - 1);
  return ahead <= behind ? latest_ + static_cast<std::int64_t>(ahead)
                         : latest_ - static_cast<std::int64_t>(behind);
}

// All bytes of the latest SDU have left. Compares their end with its length.
void SequenceNumberQueue::note_total() {
  if (latest_end_ == 0) return;
  totals_.push_back({latest_, latest_end_});
  const auto* const whole = at(latest_ + shift_);
  if (is_sure_ && lengths_tell_ && whole != nullptr && whole->length != latest_end_) doubt();
  if (totals_.size() < kEnoughTotals) return;
  if (!is_sure_)
    align();
  else if (!lengths_tell_)
    lengths_tell_ = lengths_change() && agrees(shift_);
  totals_.erase(totals_.begin(), totals_.begin() + kTotalsBetween);
}

bool SequenceNumberQueue::lengths_change() const {
  int changes = 0;
  for (std::size_t i = 1; i < totals_.size(); ++i)
    if (totals_[i].length != totals_[i - 1].length) ++changes;
  return changes >= kEnoughChanges;
}

bool SequenceNumberQueue::agrees(std::int64_t shift) const {
  return std::ranges::all_of(totals_, [&](const Total& total) {
    const auto* const whole = at(total.count + shift);
    return whole != nullptr && whole->length == total.length;
  });
}

// Searches the only place where SDUs have the lengths that the segments of the latest numbers had.
void SequenceNumberQueue::align() {
  if (!lengths_change()) return;
  std::optional<std::int64_t> found;
  const auto lowest = std::max(first_ - totals_.front().count, shift_ - kFarthestBehind);
  const auto highest = std::min(behind_last() - 1 - totals_.back().count, shift_ + kFarthestBehind);
  for (auto shift = lowest; shift <= highest; ++shift) {
    if (!agrees(shift)) continue;
    if (found) return;
    found = shift;
  }
  if (!found) return;
  shift_ = *found;
  is_sure_ = lengths_tell_ = true;
}

}  // namespace sojourn::journeys
