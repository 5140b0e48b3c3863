// Writes a trace again with what identifies people, machines and places replaced
// (docs/page.md#redacted-pages). Times, points, and the values that packets are rebuilt by stay, so
// journeys and latencies are those of the original. One pass, memory for one block.
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

// The fields of a point whose values are replaced, from the first on.
std::vector<bool> hidden_fields(const model::Point& point);

}  // namespace sojourn::redaction
