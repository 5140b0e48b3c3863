#include "analysis/exports/otlp_span.h"

#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include "analysis/exports/safe_text.h"

namespace sojourn::exports {

namespace {

using protozero::pbf_writer;

constexpr std::string_view kScope = "sojourn";
constexpr int kInternal = 1;  // SpanKind
constexpr int kError = 2;     // StatusCode

// Numbers of the fields of each message.
namespace traces {
constexpr protozero::pbf_tag_type kResourceSpans = 1;
}
namespace resource_spans {
constexpr protozero::pbf_tag_type kResource = 1;
constexpr protozero::pbf_tag_type kScopeSpans = 2;
}  // namespace resource_spans
namespace scope_spans {
constexpr protozero::pbf_tag_type kScope = 1;
constexpr protozero::pbf_tag_type kSpans = 2;
}  // namespace scope_spans
namespace span_field {
constexpr protozero::pbf_tag_type kTraceId = 1;
constexpr protozero::pbf_tag_type kSpanId = 2;
constexpr protozero::pbf_tag_type kParent = 4;
constexpr protozero::pbf_tag_type kName = 5;
constexpr protozero::pbf_tag_type kKind = 6;
constexpr protozero::pbf_tag_type kBegin = 7;
constexpr protozero::pbf_tag_type kEnd = 8;
constexpr protozero::pbf_tag_type kAttributes = 9;
constexpr protozero::pbf_tag_type kLinks = 13;
constexpr protozero::pbf_tag_type kStatus = 15;
}  // namespace span_field
namespace link_field {
constexpr protozero::pbf_tag_type kTraceId = 1;
constexpr protozero::pbf_tag_type kSpanId = 2;
constexpr protozero::pbf_tag_type kAttributes = 4;
}  // namespace link_field
namespace status_field {
constexpr protozero::pbf_tag_type kMessage = 2;
constexpr protozero::pbf_tag_type kCode = 3;
}  // namespace status_field

// The bytes of an id, the highest first.
void put_id(std::string& out, std::uint64_t id) {
  for (int shift = 56; shift >= 0; shift -= 8)
    out += static_cast<char>(static_cast<unsigned char>(id >> static_cast<unsigned>(shift)));
}

std::string bytes_of(std::uint64_t id) {
  std::string bytes;
  put_id(bytes, id);
  return bytes;
}

std::string bytes_of(const OtlpTraceId& id) {
  std::string bytes;
  put_id(bytes, id.high);
  put_id(bytes, id.low);
  return bytes;
}

void add_attribute(pbf_writer& owner, protozero::pbf_tag_type field, std::string_view key,
                   const OtlpValue& value) {
  pbf_writer pair(owner, field);
  pair.add_string(1, key.data(), key.size());
  pbf_writer any(pair, 2);
  if (const auto* text = std::get_if<std::string>(&value)) any.add_string(1, *text);
  if (const auto* is_set = std::get_if<bool>(&value)) any.add_bool(2, *is_set);
  if (const auto* number = std::get_if<std::int64_t>(&value)) any.add_int64(3, *number);
}

void add_attributes(pbf_writer& owner, protozero::pbf_tag_type field,
                    const OtlpAttributes& attributes) {
  for (const OtlpAttribute& one : attributes) add_attribute(owner, field, one.key, one.value);
}

void add_span(pbf_writer& spans, const OtlpSpan& span) {
  pbf_writer one(spans, scope_spans::kSpans);
  one.add_bytes(span_field::kTraceId, bytes_of(span.trace));
  one.add_bytes(span_field::kSpanId, bytes_of(span.id));
  if (span.parent != 0) one.add_bytes(span_field::kParent, bytes_of(span.parent));
  one.add_string(span_field::kName, span.name);
  one.add_enum(span_field::kKind, kInternal);
  one.add_fixed64(span_field::kBegin, span.begin_unix_ns);
  one.add_fixed64(span_field::kEnd, span.end_unix_ns);
  add_attributes(one, span_field::kAttributes, span.attributes);
  for (const OtlpLink& link : span.links) {
    pbf_writer to(one, span_field::kLinks);
    to.add_bytes(link_field::kTraceId, bytes_of(link.trace));
    to.add_bytes(link_field::kSpanId, bytes_of(link.span));
    add_attribute(to, link_field::kAttributes, kOtlpLinkKey, std::string(link.why));
  }
  if (span.error.empty()) return;
  pbf_writer status(one, span_field::kStatus);
  status.add_string(status_field::kMessage, span.error.data(), span.error.size());
  status.add_enum(status_field::kCode, kError);
}

void append_attribute(std::string& out, std::string_view key, const OtlpValue& value) {
  out += R"({"key":)";
  append_json_text(out, key);
  out += R"(,"value":{)";
  if (const auto* text = std::get_if<std::string>(&value)) {
    out += R"("stringValue":)";
    append_json_text(out, *text);
  }
  if (const auto* is_set = std::get_if<bool>(&value))
    fmt::format_to(std::back_inserter(out), R"("boolValue":{})", *is_set);
  if (const auto* number = std::get_if<std::int64_t>(&value))
    fmt::format_to(std::back_inserter(out), R"("intValue":"{}")", *number);
  out += "}}";
}

void append_attributes(std::string& out, const OtlpAttributes& attributes) {
  out += R"("attributes":[)";
  for (std::size_t at = 0; at < attributes.size(); ++at) {
    if (at != 0) out += ',';
    append_attribute(out, attributes[at].key, attributes[at].value);
  }
  out += ']';
}

void append_span(std::string& out, const OtlpSpan& span) {
  const auto into = std::back_inserter(out);
  fmt::format_to(into, R"({{"traceId":"{:016x}{:016x}","spanId":"{:016x}")", span.trace.high,
                 span.trace.low, span.id);
  if (span.parent != 0) fmt::format_to(into, R"(,"parentSpanId":"{:016x}")", span.parent);
  out += R"(,"name":)";
  append_json_text(out, span.name);
  fmt::format_to(into, R"(,"kind":{},"startTimeUnixNano":"{}","endTimeUnixNano":"{}",)", kInternal,
                 span.begin_unix_ns, span.end_unix_ns);
  append_attributes(out, span.attributes);
  if (!span.links.empty()) out += R"(,"links":[)";
  for (std::size_t at = 0; at < span.links.size(); ++at) {
    const OtlpLink& link = span.links[at];
    fmt::format_to(into, R"({}{{"traceId":"{:016x}{:016x}","spanId":"{:016x}","attributes":[)",
                   at == 0 ? "" : ",", link.trace.high, link.trace.low, link.span);
    append_attribute(out, kOtlpLinkKey, std::string(link.why));
    out += "]}";
  }
  if (!span.links.empty()) out += ']';
  if (!span.error.empty()) {
    out += R"(,"status":{"message":)";
    append_json_text(out, span.error);
    fmt::format_to(into, R"(,"code":{}}})", kError);
  }
  out += '}';
}

}  // namespace

OtlpValue otlp_number(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return std::to_string(value);
  return static_cast<std::int64_t>(value);
}

std::string otlp_protobuf(const OtlpAttributes& resource, std::span<const OtlpSpan> spans) {
  std::string out;
  pbf_writer message(out);
  {
    pbf_writer all(message, traces::kResourceSpans);
    {
      pbf_writer about(all, resource_spans::kResource);
      add_attributes(about, 1, resource);
    }
    pbf_writer of_scope(all, resource_spans::kScopeSpans);
    {
      pbf_writer scope(of_scope, scope_spans::kScope);
      scope.add_string(1, kScope.data(), kScope.size());
    }
    for (const OtlpSpan& span : spans) add_span(of_scope, span);
  }
  return out;
}

std::string otlp_json(const OtlpAttributes& resource, std::span<const OtlpSpan> spans) {
  std::string out = R"({"resourceSpans":[{"resource":{)";
  append_attributes(out, resource);
  fmt::format_to(std::back_inserter(out), R"(}},"scopeSpans":[{{"scope":{{"name":"{}"}},"spans":[)",
                 kScope);
  for (std::size_t at = 0; at < spans.size(); ++at) {
    if (at != 0) out += ',';
    append_span(out, spans[at]);
  }
  return out + "]}]}]}\n";
}

}  // namespace sojourn::exports
