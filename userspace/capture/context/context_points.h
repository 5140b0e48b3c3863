// The families of kernel context that can be asked for, and the points that each adds to a trace:
// readers see the numbers of bpf/context_events.h as these points. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"
#include "bpf/context_events.h"

namespace sojourn::capture {

enum class ContextFamily : std::uint8_t { kSched, kIrq, kSyscalls, kFaults, kSockets };
constexpr std::size_t kContextFamilies = 5;

std::string_view name(ContextFamily family);

// Parses "sched,irq": each family once, in the order of the enum.
Result<std::vector<ContextFamily>> parse_context_families(std::string_view list);

// The kinds of hits that the family's BPF programs record.
std::span<const sj_context_kind> kinds_of(ContextFamily family);

model::Point point_of(sj_context_kind kind);

}  // namespace sojourn::capture
