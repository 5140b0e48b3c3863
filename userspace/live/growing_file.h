// A file that another process is writing, as a source whose size grows. One thread owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "analysis/base/result.h"
#include "analysis/trace/byte_source.h"
#include "userspace/base/fd.h"

namespace sojourn::live_view {

// kFree: memory behind the read position is given back, for files in memory.
enum class AfterReading : std::uint8_t { kKeep, kFree };

std::unique_ptr<trace::ByteSource> growing_source(std::string name, base::Fd fd,
                                                  AfterReading after);

// A regular file. It is over when it has not grown for `patience` and no writer of traces holds it;
// a killed one leaves it so.
Result<std::unique_ptr<trace::ByteSource>> open_growing(const std::string& path,
                                                        std::chrono::milliseconds patience);

}  // namespace sojourn::live_view
