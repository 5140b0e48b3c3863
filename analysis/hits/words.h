// Numbers and words as perf and bpftrace print them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/hits/hit.h"

namespace sojourn::hits {

// Cuts off the next word and returns it; empty at the end.
std::string_view take_word(std::string_view& text);
// Digits, with a sign or as 0x..., of at most 64 bits.
std::optional<HitField> parse_number(std::string_view text);
std::optional<std::uint64_t> parse_digits(std::string_view text);
// "name=number"; nothing for any other word, e.g. a text.
std::optional<HitField> parse_field(std::string_view word);
// "1234.567890" seconds as nanoseconds.
std::optional<std::uint64_t> parse_seconds(std::string_view text);

}  // namespace sojourn::hits
