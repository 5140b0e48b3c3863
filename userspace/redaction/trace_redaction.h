// Writes a trace again with what identifies people, machines and places replaced
// (docs/page.md#redacted-pages). Times, points, and the values that packets are rebuilt by stay, so
// journeys and latencies are those of the original. One pass, memory for one block.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"
#include "analysis/trace/reader.h"
#include "userspace/redaction/value_cipher.h"

namespace sojourn::redaction {

using Put = std::function<Result<void>(std::span<const std::uint8_t>)>;

// Blocks of events that cannot be read are left out: what is missing shows in the new trace.
Result<void> write_redacted(trace::Reader& reader, const ValueCipher::Key& key, const Put& put);

// The fields of a point whose values are replaced, from the first on.
std::vector<bool> hidden_fields(const model::Point& point);

}  // namespace sojourn::redaction
