// Copies a trace, and replaces names and ids that identify people, machines and places
// (docs/page.md#redacted-pages). Times, points, and the values by which packets are rebuilt stay,
// so journeys and latencies are those of the original. One pass, with memory for one block.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"
#include "analysis/trace/put_sink.h"
#include "analysis/trace/reader.h"
#include "userspace/redaction/value_cipher.h"

namespace sojourn::redaction {

using trace::Put;

// Unreadable blocks of events are left out: the new trace shows that they are missing.
Result<void> write_redacted(trace::Reader& reader, const ValueCipher::Key& key, const Put& put,
                            const trace::CopyProgress& progress = {});

// Returns, for each field of a point, whether its values are replaced.
std::vector<bool> hidden_fields(const model::Point& point);

}  // namespace sojourn::redaction
