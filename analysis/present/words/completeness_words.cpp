#include "analysis/present/words/completeness_words.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/base/shell_word.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

std::string with_noun(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", count(number), noun, number == 1 ? "" : "s");
}

// Phrases for events that are counted and not in the file: they passed or went to readers only.
std::vector<std::string> gap_words(const trace::Completeness& file) {
  std::vector<std::string> words;
  if (file.cut != 0)
    words.push_back(
        fmt::format("{} passed while the connection was broken", with_noun(file.cut, "event")));
  if (file.streamed != 0)
    words.push_back(
        fmt::format("{} went to readers of the stream only", with_noun(file.streamed, "event")));
  return words;
}

}  // namespace

std::string lacking(const trace::Completeness& file) {
  std::vector<std::string> words;
  if (file.damaged_places != 0)
    words.push_back(fmt::format("{} damaged ({})", with_noun(file.damaged_places, "place"),
                                with_noun(file.damaged_bytes, "byte")));
  if (file.unaccounted != 0)
    words.push_back(fmt::format("{} missing that nobody counted as lost",
                                with_noun(file.unaccounted, "event")));
  if (!file.ended_in_order)
    words.emplace_back("the capture did not end in order, so what came last may be missing");
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string not_whole(const trace::Completeness& file, std::string_view path) {
  const std::string words = lacking(file);
  const std::string gaps = fmt::format("{}", fmt::join(gap_words(file), ", "));
  if (words.empty() && gaps.empty()) return {};
  const std::string what =
      words.empty() ? fmt::format("has gaps, which its ledger counts: {}", gaps)
                    : fmt::format("is not whole: {}{}{}", words, gaps.empty() ? "" : ", ", gaps);
  return fmt::format("{} {}; next: sojourn check {}", path, what, shell_word(path));
}

std::string losses_words(const trace::Completeness& file) {
  if (const std::uint64_t lost = file.lost_or_missing(); lost != 0)
    return fmt::format("{} lost", count(lost));
  return file.knows_losses() ? "none lost" : "losses unknown";
}

nlohmann::ordered_json completeness_json(const trace::Completeness& file) {
  return {{"whole", file.is_whole()},
          {"damaged_places", file.damaged_places},
          {"damaged_bytes", file.damaged_bytes},
          {"missing", file.unaccounted},
          {"ended_in_order", file.ended_in_order}};
}

}  // namespace sojourn::present
