// Units that wait in line for a number, which only their pieces say. Numbers are given in the order
// in which the units came, so each is the next one's; one that is passed over is that of a unit of
// which no piece was seen. What was before the first that was seen is not known: whose the numbers
// are is sure once the line was seen to stand still with nobody in it, or where numbers or lengths
// agree that cannot do so by accident. Both are counted from 0 on.
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
    std::optional<std::uint64_t> number;  // that it had before it got one of this line's
  };
  struct Segment {
    std::uint64_t ts_ns = 0;
    std::uint64_t number = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // 0: not known
  };

  // Nothing is known of what was before that.
  explicit SequenceNumberQueue(std::uint64_t began_ns) : last_piece_ns_(began_ns) {}

  void add(const Sdu& whole);
  // The first of the wholes is not looked for any more.
  void forget_first() {
    sdus_.pop_front();
    ++first_;
  }
  // Who gets the next number, if somebody waits.
  std::optional<std::int64_t> next_place() const;
  // That one went away without.
  void forget_next() { sdus_.erase(sdus_.begin() + (latest_ + 1 + shift_ - first_)); }
  // Which of the wholes the piece is of, counted from the first that was ever there; none: one that
  // was not seen. `finally`: it will not come any more.
  std::optional<std::int64_t> place_of(const Segment& piece, bool finally);
  // Something was not seen.
  void doubt();

  bool is_sure() const { return is_sure_; }
  // Whether a new line would know as much: nobody waits, and nothing was cut for long.
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
  std::int64_t first_ = 0;  // place of the first of them
  std::int64_t shift_ = 0;  // from a number's count to its whole's place
  std::int64_t latest_ = -1;
  std::uint64_t latest_number_ = 0;
  std::uint64_t latest_end_ = 0;  // of its pieces
  std::uint64_t largest_ = 0;
  std::uint64_t modulus_ = 0;  // 0: numbers were not seen to begin again
  std::uint64_t last_piece_ns_;
  std::optional<std::uint64_t> last_own_number_;  // of the wholes
  std::vector<Total> totals_;
  bool lengths_tell_ = false;
  bool is_sure_ = false;
};

}  // namespace sojourn::journeys
