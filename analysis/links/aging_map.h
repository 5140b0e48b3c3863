// A map that forgets the entries that were not used for a long time, once it has become large. One
// thread owns it.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>

namespace sojourn::links {

template <typename Key, typename Value, typename Hash = std::hash<Key>>
class AgingMap {
 public:
  // It holds at most 2 * `most` entries.
  explicit AgingMap(std::size_t most) : most_(most) {}

  // Null: the key was never put in, or was forgotten.
  Value* find(const Key& key) {
    if (const auto known = fresh_.find(key); known != fresh_.end()) return &known->second;
    auto aged = aged_.extract(key);
    return aged.empty() ? nullptr : &fresh_.insert(std::move(aged)).position->second;
  }

  Value& operator[](const Key& key) {
    if (Value* const known = find(key)) return *known;
    if (fresh_.size() >= most_) aged_ = std::exchange(fresh_, {});
    return fresh_[key];
  }

  void erase(const Key& key) {
    fresh_.erase(key);
    aged_.erase(key);
  }
  void clear() {
    fresh_.clear();
    aged_.clear();
  }
  std::size_t size() const { return fresh_.size() + aged_.size(); }

 private:
  std::size_t most_;
  std::unordered_map<Key, Value, Hash> fresh_;
  std::unordered_map<Key, Value, Hash> aged_;
};

}  // namespace sojourn::links
