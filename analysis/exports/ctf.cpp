#include "analysis/exports/ctf.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/base/letters.h"
#include "analysis/exports/little_endian.h"
#include "analysis/exports/mixed_bits.h"
#include "analysis/exports/safe_text.h"
#include "analysis/exports/trace_fingerprint.h"
#include "analysis/trace/completeness.h"

namespace sojourn::exports {

namespace {

constexpr std::uint32_t kCtfMagic = 0xC1FC1FC1;
constexpr std::size_t kPacketBytes = 256 * 1024;
// Magic, UUID and stream; then times, sizes, number and losses, as metadata() describes them.
constexpr std::size_t kHeaderBytes = 4 + 16 + 4;
constexpr std::size_t kContextBytes = 6 * 8;

// A text between two quotes of the description language, which has C's escapes. Characters outside
// of ASCII become '?', because readers disagree on them.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c >= ' ' && c <= '~' ? c : '?';
  }
  return result + '"';
}

// A field's name: a word of the description language, so that "psn" is "_psn". The underscore is
// not shown.
std::vector<std::string> identifiers(const model::Point& point) {
  std::vector<std::string> names;
  for (const model::Field& field : point.fields) {
    std::string name = "_";
    for (const char c : field.name) name += is_letter(c) || is_digit(c) ? c : '_';
    const std::string base = name;
    for (std::size_t rank = 2; std::ranges::find(names, name) != names.end(); ++rank)
      name = fmt::format("{}_{}", base, rank);
    names.push_back(std::move(name));
  }
  return names;
}

std::string_view loglevel_name(model::Direction direction) {
  switch (direction) {
    case model::Direction::kDownlink:
      return "D";
    case model::Direction::kUplink:
      return "U";
    case model::Direction::kScalar:
      return "I";
    case model::Direction::kSync:
      return "S";
    case model::Direction::kContext:
      return "K";
    case model::Direction::kSample:
      return "Q";
    case model::Direction::kScript:
      return "A";
  }
  return "";
}

// Derived from the trace's contents, so that two exports of one trace have the same id, wherever
// its file is.
std::array<std::uint8_t, 16> uuid_of(const trace::Reader& reader) {
  const std::uint64_t fingerprint = trace_fingerprint(reader);
  const std::array halves = {mixed_bits(fingerprint), mixed_bits(~fingerprint)};
  std::array<std::uint8_t, 16> uuid = {};
  for (std::size_t at = 0; at < uuid.size(); ++at)
    uuid[at] = static_cast<std::uint8_t>(halves[at / 8] >> at % 8 * 8);
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0FU) | 0x80U);  // a version of our own
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3FU) | 0x80U);
  return uuid;
}

std::string uuid_text(const std::array<std::uint8_t, 16>& uuid) {
  std::string text;
  for (std::size_t at = 0; at < uuid.size(); ++at) {
    if (at == 4 || at == 6 || at == 8 || at == 10) text += '-';
    text += fmt::format("{:02x}", uuid[at]);
  }
  return text;
}

constexpr std::string_view kTypes = R"(
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 8; align = 8; signed = true; } := int8_t;
typealias integer { size = 16; align = 8; signed = true; } := int16_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
)";

constexpr std::string_view kStream = R"(
stream {
    id = 0;
    event.header := struct { uint16_t id; uint64_clock_t timestamp; } align(8);
    event.context := struct {
        uint32_t _tid; int32_t _pid; int32_t _cpu; uint32_t _stream; uint64_t _seq;
        string _thread;
    } align(8);
    packet.context := struct {
        uint64_clock_t timestamp_begin;
        uint64_clock_t timestamp_end;
        uint64_t content_size;
        uint64_t packet_size;
        uint64_t packet_seq_num;
        uint64_t events_discarded;
    } align(8);
};
)";

}  // namespace

CtfStream::CtfStream(const trace::Reader& reader, const TraceNames& names, Write write)
    : reader_(reader), names_(names), write_(std::move(write)), uuid_(uuid_of(reader)) {}

std::string CtfStream::metadata() const {
  std::string text = "/* CTF 1.8 */\n";
  text += kTypes;
  text +=
      fmt::format(R"(
trace {{
    major = 1;
    minor = 8;
    uuid = "{}";
    byte_order = le;
    packet.header := struct {{ uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; }} align(8);
}};

env {{
    tracer_name = {};
    hostname = {};
    procname = {};
    vpid = {};
}};
)",
                  uuid_text(uuid_), quoted(reader_.capture().tracer), quoted(reader_.host().name),
                  quoted(reader_.target().name), reader_.target().pid);
  // The zero of the clock as time since 1970. It is 0 if that is not known; then times are those of
  // the monotonic clock.
  const auto& pairs = reader_.clocks();
  const std::uint64_t offset_ns =
      pairs.empty() ? 0 : pairs.front().realtime_ns - pairs.front().monotonic_ns;
  text += fmt::format(R"(
clock {{
    name = "monotonic";
    description = "CLOCK_MONOTONIC";
    freq = 1000000000;
    offset_s = {};
    offset = {};
    absolute = false;
}};

typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := uint64_clock_t;
)",
                      offset_ns / 1'000'000'000, offset_ns % 1'000'000'000);
  text += kStream;
  for (std::size_t point = 0; point < reader_.schema().points.size(); ++point)
    text += event_class(point);
  return text;
}

std::string CtfStream::event_class(std::size_t point) const {
  const model::Point& described = reader_.schema().points[point];
  std::string text = fmt::format(
      "\nevent {{\n    name = {};\n    id = {};\n    stream_id = 0;\n    fields := struct {{\n",
      quoted(fmt::format("{}:{}", loglevel_name(described.direction), described.name())), point);
  const auto names = identifiers(described);
  for (std::size_t at = 0; at < names.size(); ++at) {
    const model::Field& field = described.fields[at];
    text += fmt::format("        {}int64_t {};\n", field.is_signed ? "" : "u", names[at]);
  }
  return text + "    } align(8);\n};\n";
}

void CtfStream::put(std::uint64_t value, std::size_t bytes) {
  put_in(events_, value, bytes);
}

void CtfStream::add(const model::EventView& event) {
  if (!is_good()) return;
  if (events_.empty()) begin_ns_ = event.ts_ns;
  last_ns_ = event.ts_ns;
  // Readers count losses from packet to packet, so the first packet has no events.
  if (packets_ == 0) end_packet();
  put(event.point, 2);
  put(event.ts_ns, 8);
  put(event.tid, 4);
  put(static_cast<std::uint32_t>(names_.pid(event.stream, event.tid).value_or(-1)), 4);
  put(static_cast<std::uint32_t>(names_.cpu(event.stream).value_or(-1)), 4);
  put(event.stream, 4);
  put(event.seq, 8);
  events_ += shown_text(names_.thread(event.tid));
  events_ += '\0';
  for (std::size_t at = 0; at < reader_.schema().points[event.point].fields.size(); ++at)
    put(at < event.values.size() ? event.values[at] : 0, 8);
  if (events_.size() < kPacketBytes) return;
  const auto& gaps = reader_.gaps();
  for (; gaps_seen_ < gaps.size(); ++gaps_seen_) lost_ += gaps[gaps_seen_].count;
  end_packet();
}

void CtfStream::end_packet() {
  std::string packet;
  put_in(packet, kCtfMagic, 4);
  packet.append(reinterpret_cast<const char*>(uuid_.data()), uuid_.size());
  put_in(packet, 0, 4);
  put_in(packet, begin_ns_, 8);
  put_in(packet, last_ns_, 8);
  const std::uint64_t bits = 8 * (kHeaderBytes + kContextBytes + events_.size());
  put_in(packet, bits, 8);
  put_in(packet, bits, 8);
  put_in(packet, packets_++, 8);
  put_in(packet, lost_, 8);
  packet += events_;
  events_.clear();
  written_ = write_(packet);
}

// Losses that left no gap are known at the end only.
Result<void> CtfStream::finish() {
  SJ_CHECK(std::move(written_));
  written_ = {};
  lost_ = std::max(lost_, trace::completeness_of(reader_).lost_or_missing());
  if (events_.empty()) begin_ns_ = last_ns_;
  end_packet();
  return std::move(written_);
}

}  // namespace sojourn::exports
