// The parts of the 300 functions that coarse_many.cmake writes, and their table.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#define OPAQUE [[gnu::noipa, gnu::used]]

namespace many {

struct Unit {
  std::uint64_t value = 0;
  std::uint64_t number = 0;
  std::uint64_t sum = 0;
};

void consume(Unit& unit);
std::uint64_t consume_number(std::uint64_t value);
void fail_sometimes(std::uint64_t value, std::uint64_t number);

using Stage = std::uint64_t (*)(std::uint64_t value);
extern const Stage stages[];
extern const unsigned stage_count;

}  // namespace many
