#include "userspace/capture/processes/process_news.h"

#include <utility>

#include <fmt/core.h>

namespace sojourn::capture {

void ProcessNews::say(const Listener& listener, const std::string& words) {
  constexpr std::size_t kMax = 40;
  if (++said_ <= kMax) listener.say(words);
  if (said_ == kMax)
    listener.say(
        "further processes that come and go are not reported here: the trace has them all");
}

void ProcessNews::say_brief(const Listener& listener, pid_t pid) {
  if (std::exchange(has_said_brief_, true)) return;
  listener.say(fmt::format(
      "process {} ended before all of its points were attached; the trace has each such process",
      pid));
}

}  // namespace sojourn::capture
