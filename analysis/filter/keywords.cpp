#include "analysis/filter/keywords.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace sojourn::filter {

namespace {

using enum KeywordKind;

constexpr std::array kWords = {
    KeywordInfo{"dir", Keyword::kDir, kText, true, true},
    KeywordInfo{"point", Keyword::kPoint, kText, true, false},
    KeywordInfo{"src", Keyword::kSrc, kText, true, false},
    KeywordInfo{"dest", Keyword::kDest, kText, true, false},
    KeywordInfo{"hop", Keyword::kHop, kText, true, false},
    KeywordInfo{"time", Keyword::kTime, kTime, true, true, true},
    KeywordInfo{"thread", Keyword::kThread, kThread, true, false, true},
    KeywordInfo{"tid", Keyword::kThread, kNumber, true, false, true},
    KeywordInfo{"cpu", Keyword::kCpu, kNumber, true, false, true},
    KeywordInfo{"stream", Keyword::kStream, kNumber, true, false},
    KeywordInfo{"latency", Keyword::kLatency, kTime, false, true},
    KeywordInfo{"segments", Keyword::kSegments, kNumber, false, true},
    KeywordInfo{"retransmissions", Keyword::kRetransmissions, kNumber, false, true},
    KeywordInfo{"harq_retransmissions", Keyword::kHarq, kNumber, false, true},
    KeywordInfo{"drops", Keyword::kDrops, kNumber, false, true},
    KeywordInfo{"events", Keyword::kEvents, kNumber, false, true},
    KeywordInfo{"complete", Keyword::kComplete, kFlag, false, true},
    KeywordInfo{"censored", Keyword::kCensored, kFlag, false, true},
    KeywordInfo{"incomplete", Keyword::kIncomplete, kFlag, false, true},
    KeywordInfo{"dropped", Keyword::kDropped, kFlag, false, true},
    KeywordInfo{"ambiguous", Keyword::kAmbiguous, kFlag, false, true},
};

// The edit distance: letters to insert, remove, change or swap to turn one word into the other.
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> before;  // the row of two letters ago
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

const KeywordInfo* find_keyword(std::string_view name) {
  const auto found = std::ranges::find(kWords, name, &KeywordInfo::name);
  return found == kWords.end() ? nullptr : &*found;
}

std::span<const KeywordInfo> all_keywords() {
  return kWords;
}

std::string nearest(std::string_view name, const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 64;  // longer words are no typing errors
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
