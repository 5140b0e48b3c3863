// Finds the threads that are paced by slots: they are the first with new slot numbers in their
// events (a field `slot`). Their sleep from one slot to the next is not idleness. The length of a
// slot follows from the numbers. One thread owns a SlotClock.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace sojourn::causes {

class SlotClock {
 public:
  // In the order of time.
  void note(std::uint64_t ts_ns, std::uint32_t tid, std::uint64_t slot);

  bool leads(std::uint32_t tid) const;
  std::uint64_t slot_ns() const;  // 0: not known

 private:
  std::unordered_map<std::uint32_t, std::uint64_t> firsts_;  // slots that a thread named first
  std::uint64_t slots_ = 0;                                  // slots that any thread named first
  bool has_begun_ = false;
  std::uint64_t last_slot_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t passed_slots_ = 0;
  std::uint64_t passed_ns_ = 0;
};

}  // namespace sojourn::causes
