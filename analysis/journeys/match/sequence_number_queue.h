// SDUs that wait for a sequence number. They get numbers in the order in which they came, and only
// their segments say the numbers. So each new number belongs to the next SDU. A number that is
// skipped belongs to an SDU of which no segment was seen.
//
// SDUs from before the first event are not known. So it is certain which number belongs to which
// SDU only after the queue was seen to be empty for a while, or where numbers or lengths agree that
// cannot agree by accident.
//
// SDUs are known by their places, and numbers by their counts. Both count from 0 and never wrap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace sojourn::journeys {

class SequenceNumberQueue {
 public:
  struct Sdu {
    std::uint64_t ts_ns = 0;
    std::uint64_t length = 0;             // 0: not known
    std::optional<std::uint64_t> number;  // its own, from before it entered this queue
  };
  struct Segment {
    std::uint64_t ts_ns = 0;
    std::uint64_t number = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // 0: not known
  };

  // The time before `began_ns` is unknown.
  explicit SequenceNumberQueue(std::uint64_t began_ns) : last_piece_ns_(began_ns) {}

  void add(const Sdu& whole);
  // Removes the first SDU.
  void forget_first() {
    sdus_.pop_front();
    ++first_;
  }
  // The place of the SDU that gets the next number; nothing if no SDU waits.
  std::optional<std::int64_t> next_place() const;
  // Removes the SDU at next_place(), which went away without a number.
  void forget_next() { sdus_.erase(sdus_.begin() + (latest_ + 1 + shift_ - first_)); }
  // The place of the SDU that the segment belongs to; none where that was not seen. `finally`: it
  // will not come any more.
  std::optional<std::int64_t> place_of(const Segment& piece, bool finally);
  // Events may have been missed, so the assignment of numbers is not certain any more.
  void doubt();

  bool is_sure() const { return is_sure_; }
  // Returns whether a new queue would know as much: no SDU waits, and no segment came for long.
  bool is_forgotten(std::uint64_t now_ns) const;
  std::int64_t first() const { return first_; }
  std::int64_t behind_last() const { return first_ + static_cast<std::int64_t>(sdus_.size()); }

 private:
  struct Total {
    std::int64_t count = 0;
    std::uint64_t length = 0;
  };

  std::optional<std::int64_t> first_place(const Segment& piece);
  bool give(std::int64_t count, std::uint64_t number, bool finally);
  std::int64_t count_of(std::uint64_t number) const;
  bool begins_again(std::uint64_t number) const;
  bool lacks_before(const Sdu& whole) const;
  void note_total();
  bool lengths_change() const;
  bool agrees(std::int64_t shift) const;
  void align();
  const Sdu* at(std::int64_t place) const {
    if (place < first_ || place >= behind_last()) return nullptr;
    return &sdus_[static_cast<std::size_t>(place - first_)];
  }

  std::deque<Sdu> sdus_;
  std::int64_t first_ = 0;    // the place of the first SDU
  std::int64_t shift_ = 0;    // the place of an SDU less the count of its number
  std::int64_t latest_ = -1;  // the count of the latest number
  std::uint64_t latest_number_ = 0;
  std::uint64_t latest_end_ = 0;  // the end of its last byte that was seen
  std::uint64_t largest_ = 0;
  std::uint64_t modulus_ = 0;  // 0: numbers were not seen to wrap
  std::uint64_t last_piece_ns_;
  std::optional<std::uint64_t> last_own_number_;  // of the last SDU
  std::vector<Total> totals_;                     // of the latest numbers
  bool lengths_tell_ = false;                     // the lengths of SDUs and of their segments agree
  bool is_sure_ = false;
};

}  // namespace sojourn::journeys
