// The files and probes that a killed process has left behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace sojourn::live {

// Counts the events in the file that a killed tracer left. Its last block may be cut. 0 if it was
// killed before it wrote.
std::uint64_t readable_events(const std::string& path);

// Waits for a condition that must become true; returns false after two minutes. A kernel is slow
// with probes while others on the machine are being removed as well.
template <typename Condition>
bool comes(Condition condition) {
  for (int tries = 0; tries < 12000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

}  // namespace sojourn::live
