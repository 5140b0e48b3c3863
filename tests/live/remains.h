// What somebody who was killed has left behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace sojourn::live {

// Events of what a killed tracer left, which is whole but for its last block, which may be cut; 0,
// where it was killed before it wrote.
std::uint64_t readable_events(const std::string& path);

// Waits for what is bound to come; false when two minutes passed without. A kernel takes its time
// with probes where others on the machine are being removed as well.
template <typename Condition>
bool comes(Condition condition) {
  for (int tries = 0; tries < 12000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

}  // namespace sojourn::live
