#include "analysis/differential/traits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <unordered_map>

#include <fmt/format.h>

namespace sojourn::differential {
namespace {

constexpr std::size_t kMinBlocks = 8;
constexpr std::size_t kMaxPairs = 200'000;
// The factor by which a pair's risk must exceed that of each of the two.
constexpr double kPairGain = 1.25;

// A value of an attribute, or two of different ones: the attribute in the upper half.
using ValueKey = std::uint64_t;
struct TraitKey {
  ValueKey first = 0;
  ValueKey second = UINT64_MAX;  // none
  bool operator==(const TraitKey&) const = default;
};
struct HashOfKey {
  std::size_t operator()(const TraitKey& key) const {
    std::uint64_t mixed = key.first * 0x9e3779b97f4a7c15ULL ^ std::rotl(key.second, 31);
    mixed ^= mixed >> 29;
    return static_cast<std::size_t>(mixed * 0xbf58476d1ce4e5b9ULL);
  }
};
struct Counts {
  std::uint64_t packets = 0;
  std::uint64_t slow = 0;
};

class Search {
 public:
  Search(const PacketAttributes& table, const TraitOptions& options)
      : table_(table), options_(options) {
    slow_ = static_cast<std::uint64_t>(std::ranges::count(table.is_slow, true));
    choose_single();
    choose_pairs();
  }

  std::vector<Trait> found() const {
    std::vector<Trait> traits;
    std::vector<double> strengths;
    for (std::size_t at = 0; at < keys_.size(); ++at) {
      if (!is_worth_telling(at)) continue;
      traits.push_back(trait(at));
      strengths.push_back(strength(counts_[at].packets, counts_[at].slow));
    }
    add_p(traits, strengths);
    std::vector<std::size_t> order(traits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t at) { return strengths[at]; });
    std::vector<Trait> sorted;
    for (const std::size_t at : order) {
      if (sorted.size() == options_.most) break;
      // Attributes that go together, such as a bearer and the thread that serves it.
      const auto is_same = [&](const Trait& other) {
        return other.packets == traits[at].packets && other.slow == traits[at].slow;
      };
      if (const auto alike = std::ranges::find_if(sorted, is_same); alike != sorted.end())
        ++alike->alike;
      else
        sorted.push_back(std::move(traits[at]));
    }
    return sorted;
  }

 private:
  static ValueKey value_key(std::size_t attribute, std::uint32_t value) {
    return static_cast<ValueKey>(attribute) << 32 | value;
  }
  bool is_supported(std::uint64_t slow) const {
    return slow != 0 &&
           static_cast<double>(slow) >= options_.least_support * static_cast<double>(slow_);
  }

  void choose_single() {
    for (std::size_t attribute = 0; attribute < table_.attributes.size(); ++attribute) {
      const Attribute& each = table_.attributes[attribute];
      std::vector<Counts> counts(each.values.size());
      for (std::size_t packet = 0; packet < table_.packets(); ++packet) {
        if (each.of[packet] == kNoValue) continue;
        Counts& count = counts[each.of[packet]];
        ++count.packets;
        count.slow += table_.is_slow[packet] ? 1 : 0;
      }
      for (std::uint32_t value = 0; value < counts.size(); ++value) {
        if (!is_supported(counts[value].slow) || counts[value].packets == table_.packets())
          continue;
        index_[{value_key(attribute, value)}] = keys_.size();
        keys_.push_back({value_key(attribute, value)});
        counts_.push_back(counts[value]);
      }
    }
    singles_ = keys_.size();
  }

  // The kept values of a packet.
  void values_of(std::size_t packet, std::vector<std::size_t>& traits) const {
    traits.clear();
    for (std::size_t attribute = 0; attribute < table_.attributes.size(); ++attribute) {
      const std::uint32_t value = table_.attributes[attribute].of[packet];
      if (value == kNoValue) continue;
      const auto known = index_.find({value_key(attribute, value)});
      if (known != index_.end()) traits.push_back(known->second);
    }
  }

  void choose_pairs() {
    std::unordered_map<TraitKey, Counts, HashOfKey> pairs;
    std::vector<std::size_t> values;
    for (std::size_t packet = 0; packet < table_.packets(); ++packet) {
      if (!table_.is_slow[packet]) continue;
      values_of(packet, values);
      for (std::size_t one = 0; one < values.size(); ++one)
        for (std::size_t other = one + 1; other < values.size(); ++other)
          if (pairs.size() < kMaxPairs)
            ++pairs[{keys_[values[one]].first, keys_[values[other]].first}].slow;
    }
    std::erase_if(pairs, [this](const auto& pair) { return !is_supported(pair.second.slow); });
    for (std::size_t packet = 0; packet < table_.packets(); ++packet) {
      values_of(packet, values);
      for (std::size_t one = 0; one < values.size(); ++one)
        for (std::size_t other = one + 1; other < values.size(); ++other) {
          const auto known = pairs.find({keys_[values[one]].first, keys_[values[other]].first});
          if (known != pairs.end()) ++known->second.packets;
        }
    }
    std::vector<std::pair<TraitKey, Counts>> sorted(pairs.begin(), pairs.end());
    std::ranges::sort(sorted, {}, [](const auto& pair) {
      return std::pair(pair.first.first, pair.first.second);
    });
    for (const auto& [key, count] : sorted) {
      index_[key] = keys_.size();
      keys_.push_back(key);
      counts_.push_back(count);
    }
  }

  // The distance of the four counts (with and without the trait, slow and not) from independence:
  // the likelihood ratio G. It combines the number of slow packets with the trait and how much more
  // likely the trait makes them slow. 0 if it makes them less likely.
  double strength(std::uint64_t packets, std::uint64_t slow) const {
    const auto all = static_cast<double>(table_.packets());
    const auto have = static_cast<double>(packets);
    const auto all_slow = static_cast<double>(slow_);
    const auto both = static_cast<double>(slow);
    if (both * all <= have * all_slow) return 0;
    const auto term = [all](double count, double row, double column) {
      return count <= 0 ? 0 : 2 * count * std::log(count * all / (row * column));
    };
    return term(both, have, all_slow) + term(have - both, have, all - all_slow) +
           term(all_slow - both, all - have, all_slow) +
           term(all - have - all_slow + both, all - have, all - all_slow);
  }

  double risk(std::size_t at) const {
    return static_cast<double>(counts_[at].slow) / static_cast<double>(counts_[at].packets);
  }

  // More often slow than the rest; and a pair more than each of its two.
  bool is_worth_telling(std::size_t at) const {
    if (strength(counts_[at].packets, counts_[at].slow) <= 0) return false;
    if (at < singles_) return true;
    const double of_first = risk(index_.at({keys_[at].first}));
    const double of_second = risk(index_.at({keys_[at].second}));
    return risk(at) > kPairGain * std::max(of_first, of_second);
  }

  Trait trait(std::size_t at) const {
    Trait told = {.what = {}, .packets = counts_[at].packets, .slow = counts_[at].slow};
    const auto add = [&](ValueKey key) {
      const Attribute& attribute = table_.attributes[static_cast<std::size_t>(key >> 32)];
      const auto value = static_cast<std::uint32_t>(key);
      told.what.emplace_back(attribute.name, attribute.values[value]);
      return value < attribute.conditions.size() ? attribute.conditions[value] : std::string();
    };
    told.condition = add(keys_[at].first);
    if (at >= singles_) {
      const std::string second = add(keys_[at].second);
      const bool has_both = !told.condition.empty() && !second.empty();
      told.condition = has_both ? told.condition + " && " + second : std::string();
    }
    told.support = static_cast<double>(told.slow) / static_cast<double>(slow_);
    told.risk = risk(at);
    const auto others = static_cast<double>(table_.packets() - told.packets);
    const double risk_without = others == 0 ? 0 : static_cast<double>(slow_ - told.slow) / others;
    told.risk_ratio =
        risk_without == 0 ? std::numeric_limits<double>::infinity() : told.risk / risk_without;
    return told;
  }

  // Blocks of time change places: what makes packets of a block slow together stays together. The
  // strongest of all traits is compared, so that a table of many needs no further correction.
  void add_p(std::vector<Trait>& traits, const std::vector<double>& strengths) const {
    if (options_.blocks < kMinBlocks || table_.packets() < options_.blocks) return;
    const std::size_t length = table_.packets() / options_.blocks;
    std::vector<std::size_t> order(options_.blocks);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(options_.seed);
    std::vector<std::size_t> slow_packets;
    for (std::size_t packet = 0; packet < table_.packets(); ++packet)
      if (table_.is_slow[packet]) slow_packets.push_back(packet);
    std::vector<unsigned> as_strong(traits.size());
    std::vector<std::uint64_t> slow(keys_.size());
    std::vector<std::size_t> values;
    for (unsigned trial = 0; trial < options_.permutations; ++trial) {
      shuffle(order, random);
      std::ranges::fill(slow, std::uint64_t{0});
      for (const std::size_t packet : slow_packets) {
        const std::size_t block = packet / length;
        // The remainder behind the last block stays where it is.
        const std::size_t there =
            block < order.size() ? order[block] * length + packet % length : packet;
        values_of(there, values);
        for (std::size_t one = 0; one < values.size(); ++one) {
          ++slow[values[one]];
          for (std::size_t other = one + 1; other < values.size(); ++other) {
            const auto pair = index_.find({keys_[values[one]].first, keys_[values[other]].first});
            if (pair != index_.end()) ++slow[pair->second];
          }
        }
      }
      double strongest = 0;
      for (std::size_t at = 0; at < keys_.size(); ++at)
        strongest = std::max(strongest, strength(counts_[at].packets, slow[at]));
      for (std::size_t at = 0; at < traits.size(); ++at)
        if (strongest >= strengths[at]) ++as_strong[at];
    }
    for (std::size_t at = 0; at < traits.size(); ++at)
      traits[at].p = (as_strong[at] + 1.0) / (options_.permutations + 1.0);
  }

  // A shuffle with the same result in every standard library, unlike std::shuffle.
  static void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
    for (std::size_t at = order.size() - 1; at > 0; --at)
      std::swap(order[at], order[static_cast<std::size_t>(random() % (at + 1))]);
  }

  const PacketAttributes& table_;
  const TraitOptions& options_;
  std::uint64_t slow_ = 0;
  std::vector<TraitKey> keys_;  // single values, then pairs
  std::vector<Counts> counts_;
  std::size_t singles_ = 0;
  std::unordered_map<TraitKey, std::size_t, HashOfKey> index_;
};

}  // namespace

std::vector<Trait> distinguish(const PacketAttributes& table, const TraitOptions& options) {
  const bool has_both = std::ranges::find(table.is_slow, true) != table.is_slow.end() &&
                        std::ranges::find(table.is_slow, false) != table.is_slow.end();
  return has_both ? Search(table, options).found() : std::vector<Trait>{};
}

std::string power_of_two_label(std::uint64_t value) {
  if (value < 2) return std::to_string(value);
  const std::uint64_t from = std::bit_floor(value);
  return fmt::format("{}..{}", from, from + (from - 1));
}

}  // namespace sojourn::differential
