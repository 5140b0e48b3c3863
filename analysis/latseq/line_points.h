// The points of the lines, one for each shape of line: direction, src, dest, and the fields with
// their roles. Fields are signed 64-bit numbers, since a later line may have the first negative
// one. One thread owns it.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/latseq/line.h"
#include "analysis/model/schema.h"

namespace sojourn::latseq {

constexpr std::size_t kMaxShapes = 10'000;  // a base station has some hundred

class LinePoints {
 public:
  // The point of the shape. A new shape makes a new point.
  std::expected<model::PointId, Skip> of(std::string_view shape);

  bool knows(std::string_view shape) const { return by_shape_.contains(shape); }

  const model::Schema& schema() const { return schema_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  model::Schema schema_;
  std::unordered_map<std::string, model::PointId, Hash, std::equal_to<>> by_shape_;
};

}  // namespace sojourn::latseq
