// Writes bytes of any pieces as base64 (RFC 4648). One thread owns a Base64Stream.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"

namespace sojourn::page {

class Base64Stream {
 public:
  using Write = std::function<Result<void>(std::string_view)>;

  // `write` outlives it.
  explicit Base64Stream(const Write& write) : write_(write) {}

  Result<void> put(std::span<const std::uint8_t> bytes);
  // Called after the last piece.
  Result<void> finish();

 private:
  Result<void> flush(std::size_t bytes);

  const Write& write_;
  std::vector<std::uint8_t> waiting_;
  std::string text_;
};

}  // namespace sojourn::page
