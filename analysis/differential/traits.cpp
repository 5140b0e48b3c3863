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

// No such number.
constexpr std::uint32_t kNone = UINT32_MAX;

// A value of an attribute.
struct Single {
  std::size_t attribute = 0;
  std::uint32_t value = 0;
};
struct Counts {
  std::uint64_t packets = 0;
  std::uint64_t slow = 0;
};

// Numbers for pairs of small numbers, of which the first is the lower one.
class PairNumbers {
 public:
  explicit PairNumbers(std::size_t most) : rows_(most) {}

  // kNone: the pair has none.
  std::uint32_t of(std::uint32_t one, std::uint32_t other) const {
    const auto& row = rows_[one];
    const std::size_t at = other - one - 1;
    return at < row.size() ? row[at] : kNone;
  }
  void set(std::uint32_t one, std::uint32_t other, std::uint32_t number) {
    auto& row = rows_[one];
    const std::size_t at = other - one - 1;
    if (row.size() <= at) row.resize(at + 1, kNone);
    row[at] = number;
  }

 private:
  std::vector<std::vector<std::uint32_t>> rows_;
};

class Search {
 public:
  Search(const PacketAttributes& table, const TraitOptions& options)
      : table_(table), options_(options) {
    slow_ = static_cast<std::uint64_t>(std::ranges::count(table.is_slow, true));
    choose_single();
    gather_sets();
    choose_pairs();
  }

  std::vector<Trait> found() const {
    std::vector<Trait> traits;
    std::vector<double> strengths;
    for (std::size_t at = 0; at < counts_.size(); ++at) {
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
  // Single traits that packets have together, in order. Many packets have the same ones.
  using Traits = std::vector<std::uint32_t>;
  struct HashOfTraits {
    std::size_t operator()(const Traits& traits) const {
      std::uint64_t mixed = traits.size();
      for (const std::uint32_t trait : traits)
        mixed = std::rotl(mixed ^ trait, 23) * 0x9e3779b97f4a7c15ULL;
      return static_cast<std::size_t>(mixed ^ mixed >> 32);
    }
  };
  struct Set {
    const Traits* traits = nullptr;  // a key of known_
    Counts counts;
  };
  struct Pair {
    std::uint32_t one = 0;
    std::uint32_t other = 0;
    Counts counts;
  };

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
      auto& trait_of = trait_of_.emplace_back(each.values.size(), kNone);
      for (std::uint32_t value = 0; value < counts.size(); ++value) {
        if (!is_supported(counts[value].slow) || counts[value].packets == table_.packets())
          continue;
        trait_of[value] = static_cast<std::uint32_t>(singles_.size());
        singles_.push_back({attribute, value});
        counts_.push_back(counts[value]);
      }
    }
  }

  void gather_sets() {
    set_of_.resize(table_.packets());
    Traits traits;
    for (std::size_t packet = 0; packet < table_.packets(); ++packet) {
      traits.clear();
      for (std::size_t attribute = 0; attribute < table_.attributes.size(); ++attribute) {
        const std::uint32_t value = table_.attributes[attribute].of[packet];
        if (value == kNoValue) continue;
        if (const std::uint32_t trait = trait_of_[attribute][value]; trait != kNone)
          traits.push_back(trait);
      }
      const auto [known, is_new] =
          known_.try_emplace(traits, static_cast<std::uint32_t>(sets_.size()));
      if (is_new) sets_.push_back({.traits = &known->first, .counts = {}});
      set_of_[packet] = known->second;
      Counts& counts = sets_[known->second].counts;
      ++counts.packets;
      counts.slow += table_.is_slow[packet] ? 1 : 0;
    }
  }

  template <typename Visit>
  static void for_each_pair(const Traits& traits, Visit visit) {
    for (std::size_t one = 0; one < traits.size(); ++one)
      for (std::size_t other = one + 1; other < traits.size(); ++other)
        visit(traits[one], traits[other]);
  }

  // The pairs that slow packets have, with all packets that have them.
  std::vector<Pair> pairs_of_slow() const {
    std::vector<Pair> pairs;
    PairNumbers number(singles_.size());
    for (const Set& set : sets_) {
      if (set.counts.slow == 0) continue;
      for_each_pair(*set.traits, [&](std::uint32_t one, std::uint32_t other) {
        std::uint32_t at = number.of(one, other);
        if (at == kNone) {
          if (pairs.size() == kMaxPairs) return;
          at = static_cast<std::uint32_t>(pairs.size());
          number.set(one, other, at);
          pairs.push_back({one, other, {}});
        }
        pairs[at].counts.slow += set.counts.slow;
      });
    }
    for (const Set& set : sets_)
      for_each_pair(*set.traits, [&](std::uint32_t one, std::uint32_t other) {
        if (const std::uint32_t at = number.of(one, other); at != kNone)
          pairs[at].counts.packets += set.counts.packets;
      });
    return pairs;
  }

  void choose_pairs() {
    pairs_ = pairs_of_slow();
    std::erase_if(pairs_, [this](const Pair& pair) { return !is_supported(pair.counts.slow); });
    std::ranges::sort(pairs_, {}, [](const Pair& pair) { return std::pair(pair.one, pair.other); });
    pair_number_ = PairNumbers(singles_.size());
    for (const Pair& pair : pairs_) {
      pair_number_.set(pair.one, pair.other, static_cast<std::uint32_t>(counts_.size()));
      counts_.push_back(pair.counts);
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
    if (at < singles_.size()) return true;
    const Pair& pair = pairs_[at - singles_.size()];
    return risk(at) > kPairGain * std::max(risk(pair.one), risk(pair.other));
  }

  Trait trait(std::size_t at) const {
    Trait told = {.what = {}, .packets = counts_[at].packets, .slow = counts_[at].slow};
    const auto add = [&](const Single& single) {
      const Attribute& attribute = table_.attributes[single.attribute];
      told.what.emplace_back(attribute.name, attribute.values[single.value]);
      return single.value < attribute.conditions.size() ? attribute.conditions[single.value]
                                                        : std::string();
    };
    const bool is_pair = at >= singles_.size();
    told.condition = add(singles_[is_pair ? pairs_[at - singles_.size()].one : at]);
    if (is_pair) {
      const std::string second = add(singles_[pairs_[at - singles_.size()].other]);
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
    std::vector<std::uint64_t> slow(counts_.size());
    std::vector<std::uint64_t> slow_of_set(sets_.size());
    for (unsigned trial = 0; trial < options_.permutations; ++trial) {
      shuffle(order, random);
      std::ranges::fill(slow_of_set, std::uint64_t{0});
      for (const std::size_t packet : slow_packets) {
        const std::size_t block = packet / length;
        // The remainder behind the last block stays where it is.
        const std::size_t there =
            block < order.size() ? order[block] * length + packet % length : packet;
        ++slow_of_set[set_of_[there]];
      }
      count_slow(slow_of_set, slow);
      double strongest = 0;
      for (std::size_t at = 0; at < counts_.size(); ++at)
        strongest = std::max(strongest, strength(counts_[at].packets, slow[at]));
      for (std::size_t at = 0; at < traits.size(); ++at)
        if (strongest >= strengths[at]) ++as_strong[at];
    }
    for (std::size_t at = 0; at < traits.size(); ++at)
      traits[at].p = (as_strong[at] + 1.0) / (options_.permutations + 1.0);
  }

  // The slow packets that have each trait, from those that have each set of them.
  void count_slow(const std::vector<std::uint64_t>& of_set,
                  std::vector<std::uint64_t>& of_trait) const {
    std::ranges::fill(of_trait, std::uint64_t{0});
    for (std::size_t set = 0; set < of_set.size(); ++set) {
      const std::uint64_t packets = of_set[set];
      if (packets == 0) continue;
      const Traits& traits = *sets_[set].traits;
      for (const std::uint32_t trait : traits) of_trait[trait] += packets;
      for_each_pair(traits, [&](std::uint32_t one, std::uint32_t other) {
        if (const std::uint32_t at = pair_number_.of(one, other); at != kNone)
          of_trait[at] += packets;
      });
    }
  }

  // A shuffle with the same result in every standard library, unlike std::shuffle.
  static void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
    for (std::size_t at = order.size() - 1; at > 0; --at)
      std::swap(order[at], order[static_cast<std::size_t>(random() % (at + 1))]);
  }

  const PacketAttributes& table_;
  const TraitOptions& options_;
  std::uint64_t slow_ = 0;
  // Traits are numbered: single values, then pairs.
  std::vector<Single> singles_;
  std::vector<Pair> pairs_;
  std::vector<Counts> counts_;
  std::vector<std::vector<std::uint32_t>> trait_of_;  // by attribute and value
  PairNumbers pair_number_{0};
  std::unordered_map<Traits, std::uint32_t, HashOfTraits> known_;
  std::vector<Set> sets_;
  std::vector<std::uint32_t> set_of_;  // by packet
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
