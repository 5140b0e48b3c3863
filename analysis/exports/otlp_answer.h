// A collector's answer to a batch of spans, in either encoding of the OpenTelemetry protocol. The
// bytes are another program's, so they are read only as far as they are valid. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sojourn::exports {

struct OtlpAnswer {
  std::uint64_t rejected_spans = 0;
  std::string message;  // in one line, and not long
};

// To a batch that was taken (ExportTraceServiceResponse).
OtlpAnswer otlp_answer(std::string_view body, bool is_json);
// The message of an error (google.rpc.Status); a body of another kind is shown as it begins.
std::string otlp_error(std::string_view body, std::string_view content_type);

}  // namespace sojourn::exports
