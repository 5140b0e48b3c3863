// Spans of the OpenTelemetry protocol (OTLP), and a batch of them in both encodings: a message
// TracesData, which collectors also take as ExportTraceServiceRequest
// (opentelemetry/proto/trace/v1/trace.proto). Plain data and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sojourn::exports {

// A number above the range of signed 64 bits is written as a text of its digits, because the
// protocol has no such numbers.
using OtlpValue = std::variant<std::int64_t, bool, std::string>;
OtlpValue otlp_number(std::uint64_t value);

struct OtlpAttribute {
  std::string key;
  OtlpValue value;
};
using OtlpAttributes = std::vector<OtlpAttribute>;

// 128 bits, never all zero.
struct OtlpTraceId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool operator==(const OtlpTraceId&) const = default;
};

struct OtlpLink {
  OtlpTraceId trace;
  std::uint64_t span = 0;
  std::string_view why;  // an attribute of the link
};

struct OtlpSpan {
  OtlpTraceId trace;
  std::uint64_t id = 0;      // not 0
  std::uint64_t parent = 0;  // 0: it is the root
  std::string name;
  std::uint64_t begin_unix_ns = 0;
  std::uint64_t end_unix_ns = 0;
  OtlpAttributes attributes;
  std::vector<OtlpLink> links;
  std::string_view error;  // empty: the status is not set
};

// The key of OtlpLink::why.
inline constexpr std::string_view kOtlpLinkKey = "sojourn.link";

// Spans of one resource and one scope. Texts must be UTF-8.
using OtlpEncode = std::string (*)(const OtlpAttributes& resource, std::span<const OtlpSpan> spans);

// Several such messages in a row are one message.
std::string otlp_protobuf(const OtlpAttributes& resource, std::span<const OtlpSpan> spans);
// A line of OTLP's JSON for files: ids in hexadecimal, numbers of 64 bits as texts.
std::string otlp_json(const OtlpAttributes& resource, std::span<const OtlpSpan> spans);

}  // namespace sojourn::exports
