// Numbers for names that are compared often. One thread owns a NameTable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sojourn::latseq {

using NameId = std::uint32_t;

class NameTable {
 public:
  NameId of(std::string_view name) {
    if (const auto known = ids_.find(name); known != ids_.end()) return known->second;
    const auto id = static_cast<NameId>(names_.size());
    names_.emplace_back(name);
    ids_.emplace(name, id);
    return id;
  }

  const std::string& operator[](NameId id) const { return names_[id]; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  std::vector<std::string> names_;
  std::unordered_map<std::string, NameId, Hash, std::equal_to<>> ids_;
};

}  // namespace sojourn::latseq
