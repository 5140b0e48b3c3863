// Everything in a trace that is not an event, as JSON: it can grow members without breaking
// readers, and a curious person can read it. Reading skips unknown members and checks the known
// ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "analysis/model/energy_info.h"
#include "analysis/model/profile_info.h"
#include "analysis/model/queue_info.h"
#include "analysis/model/schema.h"

namespace sojourn::trace {

// Instances exist for each type of analysis/model that a block of metadata holds: Schema, Target,
// Host, Stream, ClockPair, Capture, Ledger, Origin, Context, Profile, QueueChanges, Sampling,
// Energy.
template <typename T>
std::string to_json(const T& about);

// Reads JSON into `about`. A Context and a Profile are added to: of several values for a family or
// a counter the newest counts. All frames of one id are kept, and the last counts.
template <typename T>
Result<void> from_json(std::span<const std::uint8_t> json, T& about);

template <>
Result<void> from_json(std::span<const std::uint8_t> json, model::Context& about);
template <>
Result<void> from_json(std::span<const std::uint8_t> json, model::Profile& about);

}  // namespace sojourn::trace
