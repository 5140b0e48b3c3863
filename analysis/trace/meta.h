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
#include "analysis/model/profile_info.h"
#include "analysis/model/queue_info.h"
#include "analysis/model/schema.h"

namespace sojourn::trace {

std::string to_json(const model::Schema& schema);
std::string to_json(const model::Target& target);
std::string to_json(const model::Host& host);
std::string to_json(const model::Stream& stream);
std::string to_json(const model::ClockPair& clock);
std::string to_json(const model::Capture& capture);
std::string to_json(const model::Ledger& ledger);
std::string to_json(const model::Context& context);
std::string to_json(const model::Profile& profile);
std::string to_json(const model::QueueChanges& changes);
std::string to_json(const model::Sampling& sampling);

Result<void> from_json(std::span<const std::uint8_t> json, model::Schema& schema);
Result<void> from_json(std::span<const std::uint8_t> json, model::Target& target);
Result<void> from_json(std::span<const std::uint8_t> json, model::Host& host);
Result<void> from_json(std::span<const std::uint8_t> json, model::Stream& stream);
Result<void> from_json(std::span<const std::uint8_t> json, model::ClockPair& clock);
Result<void> from_json(std::span<const std::uint8_t> json, model::Capture& capture);
Result<void> from_json(std::span<const std::uint8_t> json, model::Ledger& ledger);
Result<void> from_json(std::span<const std::uint8_t> json, model::QueueChanges& changes);
Result<void> from_json(std::span<const std::uint8_t> json, model::Sampling& sampling);

// Adds to what `context` has already; the newest word on a family counts.
Result<void> from_json(std::span<const std::uint8_t> json, model::Context& context);

// Adds to what `profile` has already. The newest word on a counter counts; of frames of the same id
// all are kept, and the last counts.
Result<void> from_json(std::span<const std::uint8_t> json, model::Profile& profile);

}  // namespace sojourn::trace
