#include "analysis/filter/words.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sojourn::filter {

namespace {

using enum WordKind;

constexpr std::array kWords = {
    WordInfo{"dir", Word::kDir, kText, true, true},
    WordInfo{"point", Word::kPoint, kText, true, false},
    WordInfo{"src", Word::kSrc, kText, true, false},
    WordInfo{"dest", Word::kDest, kText, true, false},
    WordInfo{"hop", Word::kHop, kText, true, false},
    WordInfo{"time", Word::kTime, kTime, true, true, true},
    WordInfo{"thread", Word::kThread, kThread, true, false, true},
    WordInfo{"tid", Word::kThread, kNumber, true, false, true},
    WordInfo{"cpu", Word::kCpu, kNumber, true, false, true},
    WordInfo{"stream", Word::kStream, kNumber, true, false},
    WordInfo{"latency", Word::kLatency, kTime, false, true},
    WordInfo{"segments", Word::kSegments, kNumber, false, true},
    WordInfo{"retransmissions", Word::kRetransmissions, kNumber, false, true},
    WordInfo{"harq_retransmissions", Word::kHarq, kNumber, false, true},
    WordInfo{"drops", Word::kDrops, kNumber, false, true},
    WordInfo{"events", Word::kEvents, kNumber, false, true},
    WordInfo{"complete", Word::kComplete, kFlag, false, true},
    WordInfo{"censored", Word::kCensored, kFlag, false, true},
    WordInfo{"incomplete", Word::kIncomplete, kFlag, false, true},
    WordInfo{"dropped", Word::kDropped, kFlag, false, true},
    WordInfo{"ambiguous", Word::kAmbiguous, kFlag, false, true},
};

// How many letters have to be put in, taken out, changed or swapped to make one of the other.
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> before;  // of two letters ago
  std::vector<std::size_t> last(right.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::vector<std::size_t> row(right.size() + 1, i);
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t changed = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({changed, row[j - 1] + 1, last[j] + 1});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, std::move(row));
  }
  return last.back();
}

}  // namespace

const WordInfo* find_word(std::string_view name) {
  const auto found = std::ranges::find(kWords, name, &WordInfo::name);
  return found == kWords.end() ? nullptr : &*found;
}

std::span<const WordInfo> all_words() {
  return kWords;
}

std::string nearest(std::string_view name, const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 64;  // no slip of the pen, whatever it is
  if (name.size() > kLongest) return "";
  std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::string found;
  for (const std::string& other : names) {
    if (other.size() > kLongest || other == name) continue;
    const std::size_t changes = distance(name, other);
    if (changes >= best) continue;
    best = changes;
    found = other;
  }
  return found;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& names) {
  const std::string near = nearest(name, names);
  return near.empty() ? "" : fmt::format(": did you mean {}?", near);
}

}  // namespace sojourn::filter
