#include "analysis/exports/perfetto_packets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include <protozero/pbf_writer.hpp>
#include <zlib.h>

#include "analysis/exports/safe_text.h"

namespace sojourn::exports {

namespace {

using protozero::pbf_writer;

// The numbers of fields, by message.
namespace trace_file {
constexpr protozero::pbf_tag_type kPacket = 1;
}
namespace packet {
constexpr protozero::pbf_tag_type kClockSnapshot = 6;
constexpr protozero::pbf_tag_type kTimestamp = 8;
constexpr protozero::pbf_tag_type kSequence = 10;
constexpr protozero::pbf_tag_type kTrackEvent = 11;
constexpr protozero::pbf_tag_type kInternedData = 12;
constexpr protozero::pbf_tag_type kSequenceFlags = 13;
constexpr protozero::pbf_tag_type kCompressedPackets = 50;
constexpr protozero::pbf_tag_type kClockId = 58;
constexpr protozero::pbf_tag_type kDefaults = 59;
constexpr protozero::pbf_tag_type kTrackDescriptor = 60;
constexpr protozero::pbf_tag_type kTaskState = 117;
constexpr protozero::pbf_tag_type kAttributes = 126;
}  // namespace packet
namespace track_event {
constexpr protozero::pbf_tag_type kAnnotation = 4;
constexpr protozero::pbf_tag_type kType = 9;
constexpr protozero::pbf_tag_type kName = 10;
constexpr protozero::pbf_tag_type kTrack = 11;
constexpr protozero::pbf_tag_type kCounterValue = 30;
constexpr protozero::pbf_tag_type kFlow = 47;
constexpr protozero::pbf_tag_type kLastFlow = 48;
}  // namespace track_event
namespace descriptor {
constexpr protozero::pbf_tag_type kId = 1;
constexpr protozero::pbf_tag_type kName = 2;
constexpr protozero::pbf_tag_type kProcess = 3;
constexpr protozero::pbf_tag_type kThread = 4;
constexpr protozero::pbf_tag_type kParent = 5;
constexpr protozero::pbf_tag_type kCounter = 8;
}  // namespace descriptor

constexpr std::uint32_t kSequence = 1;
constexpr std::uint32_t kIncrementalStateCleared = 1;
// Clocks: of the format, and one of the sequence's own, which counts from event to event.
constexpr std::uint32_t kRealtime = 1;
constexpr std::uint32_t kMonotonic = 3;
constexpr std::uint32_t kSteps = 64;
constexpr std::uint64_t kJourneyAnnotation = 1;  // number of its name

constexpr std::size_t kEventsAtOnce = 64 * 1024;
// The format wants less than 512 KB in one.
constexpr std::size_t kDeflateBytes = 256 * 1024;

void add_clock(pbf_writer& snapshot, std::uint32_t id, std::uint64_t ns, bool is_incremental) {
  pbf_writer clock(snapshot, 1);
  clock.add_uint32(1, id);
  clock.add_uint64(2, ns);
  if (is_incremental) clock.add_bool(3, true);
}

void add_names(pbf_writer& interned, protozero::pbf_tag_type kind, std::uint64_t first,
               std::span<const std::string> names) {
  for (const std::string& name : names) {
    pbf_writer entry(interned, kind);
    entry.add_uint64(1, first++);
    entry.add_string(2, name);
  }
}

}  // namespace

PerfettoPackets::PerfettoPackets(Write write) : write_(std::move(write)) {
  events_.reserve(kEventsAtOnce);
  {
    pbf_writer first(packet_);
    first.add_uint32(packet::kSequence, kSequence);
    first.add_uint32(packet::kSequenceFlags, kIncrementalStateCleared);
    pbf_writer defaults(first, packet::kDefaults);
    defaults.add_uint32(packet::kClockId, kSteps);
  }
  {
    pbf_writer first(packet_);
    pbf_writer interned(first, packet::kInternedData);
    const std::array annotations = {std::string("journey")};
    add_names(interned, 3, kJourneyAnnotation, annotations);
  }
  end_packet();
}

void PerfettoPackets::clocks(const std::vector<model::ClockPair>& pairs, std::uint64_t begin_ns) {
  const auto write_pair = [&](std::uint64_t monotonic_ns,
                              std::optional<std::uint64_t> realtime_ns) {
    {
      pbf_writer one(packet_);
      one.add_uint32(packet::kSequence, kSequence);
      pbf_writer snapshot(one, packet::kClockSnapshot);
      add_clock(snapshot, kMonotonic, monotonic_ns, false);
      if (realtime_ns) add_clock(snapshot, kRealtime, *realtime_ns, false);
      snapshot.add_uint32(2, kMonotonic);  // the trace's own clock
    }
    end_packet();
  };
  for (const model::ClockPair& pair : pairs) write_pair(pair.monotonic_ns, pair.realtime_ns);
  if (pairs.empty()) write_pair(begin_ns, std::nullopt);
}

void PerfettoPackets::attribute(std::string_view key, std::string_view value) {
  {
    pbf_writer one(packet_);
    pbf_writer attributes(one, packet::kAttributes);
    pbf_writer attribute(attributes, 1);
    attribute.add_string(1, shown_text(key));
    attribute.add_string(3, shown_text(value));
  }
  end_packet();
}

void PerfettoPackets::attribute(std::string_view key, std::int64_t value) {
  {
    pbf_writer one(packet_);
    pbf_writer attributes(one, packet::kAttributes);
    pbf_writer attribute(attributes, 1);
    attribute.add_string(1, shown_text(key));
    attribute.add_int64(2, value);
  }
  end_packet();
}

void PerfettoPackets::process(std::uint64_t track, std::int32_t pid, std::string_view name,
                              const std::vector<std::string>& command_line) {
  {
    pbf_writer one(packet_);
    one.add_uint32(packet::kSequence, kSequence);
    pbf_writer described(one, packet::kTrackDescriptor);
    described.add_uint64(descriptor::kId, track);
    pbf_writer process(described, descriptor::kProcess);
    process.add_int32(1, pid);
    for (const std::string& word : command_line) process.add_string(2, shown_text(word));
    process.add_string(6, shown_text(name));
  }
  end_packet();
}

void PerfettoPackets::thread(std::uint64_t track, std::int32_t pid, std::uint32_t tid,
                             std::string_view name) {
  {
    pbf_writer one(packet_);
    one.add_uint32(packet::kSequence, kSequence);
    pbf_writer described(one, packet::kTrackDescriptor);
    described.add_uint64(descriptor::kId, track);
    pbf_writer thread(described, descriptor::kThread);
    thread.add_int32(1, pid);
    thread.add_int32(2, static_cast<std::int32_t>(tid));
    if (!name.empty()) thread.add_string(5, shown_text(name));
  }
  end_packet();
}

void PerfettoPackets::track(std::uint64_t track, std::uint64_t parent, std::string_view name) {
  {
    pbf_writer one(packet_);
    one.add_uint32(packet::kSequence, kSequence);
    pbf_writer described(one, packet::kTrackDescriptor);
    described.add_uint64(descriptor::kId, track);
    if (parent != 0) described.add_uint64(descriptor::kParent, parent);
    described.add_string(descriptor::kName, shown_text(name));
  }
  end_packet();
}

void PerfettoPackets::counter(std::uint64_t track, std::uint64_t parent, std::string_view name) {
  {
    pbf_writer one(packet_);
    one.add_uint32(packet::kSequence, kSequence);
    pbf_writer described(one, packet::kTrackDescriptor);
    described.add_uint64(descriptor::kId, track);
    if (parent != 0) described.add_uint64(descriptor::kParent, parent);
    described.add_string(descriptor::kName, shown_text(name));
    described.add_message(descriptor::kCounter, std::string());
  }
  end_packet();
}

std::uint32_t PerfettoPackets::name(std::string_view text) {
  std::string shown = shown_text(text);
  const auto number = static_cast<std::uint32_t>(names_.size() + 1);
  const auto [found, is_new] = names_.try_emplace(shown, number);
  if (is_new) new_names_.push_back(std::move(shown));
  return found->second;
}

std::uint32_t PerfettoPackets::argument_name(std::string_view text) {
  const std::array names = {shown_text(text)};
  {
    pbf_writer one(packet_);
    one.add_uint32(packet::kSequence, kSequence);
    pbf_writer interned(one, packet::kInternedData);
    add_names(interned, 3, ++argument_names_, names);
  }
  end_packet();
  return argument_names_;
}

void PerfettoPackets::add(Event event, std::span<const ArgumentValue> arguments) {
  event.first_argument = static_cast<std::uint32_t>(arguments_.size());
  event.arguments = static_cast<std::uint32_t>(arguments.size());
  arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
  add(event);
}

void PerfettoPackets::add(const Event& event) {
  events_.push_back(event);
  if (events_.size() == kEventsAtOnce) write_events();
}

// Journeys are reported when they end, so their events come out of order. A batch of them is sorted
// at a time, and the clock begins anew with each batch; the reader sorts the batches.
void PerfettoPackets::write_events() {
  if (events_.empty()) return;
  std::ranges::stable_sort(events_, {}, &Event::ts_ns);
  {
    pbf_writer one(packet_);
    one.add_uint32(packet::kSequence, kSequence);
    pbf_writer snapshot(one, packet::kClockSnapshot);
    add_clock(snapshot, kMonotonic, events_.front().ts_ns, false);
    add_clock(snapshot, kSteps, events_.front().ts_ns, true);
  }
  if (!new_names_.empty()) {
    pbf_writer one(packet_);
    pbf_writer interned(one, packet::kInternedData);
    add_names(interned, 2, names_.size() - new_names_.size() + 1, new_names_);
  }
  new_names_.clear();
  end_packet();
  std::uint64_t last_ns = events_.front().ts_ns;
  for (const Event& event : events_) {
    write_event(event, last_ns);
    last_ns = event.ts_ns;
  }
  events_.clear();
  arguments_.clear();
}

void PerfettoPackets::write_event(const Event& event, std::uint64_t since_ns) {
  {
    pbf_writer one(packet_);
    one.add_uint64(packet::kTimestamp, event.ts_ns - since_ns);
    one.add_uint32(packet::kSequence, kSequence);
    pbf_writer happened(one, packet::kTrackEvent);
    happened.add_enum(track_event::kType, static_cast<std::int32_t>(event.kind));
    if (event.name != 0) happened.add_uint64(track_event::kName, event.name);
    happened.add_uint64(track_event::kTrack, event.track);
    if (event.kind == Kind::kCount) {
      happened.add_int64(track_event::kCounterValue, static_cast<std::int64_t>(event.number));
    } else if (event.kind == Kind::kInstant && event.number != 0) {
      happened.add_fixed64(event.is_last ? track_event::kLastFlow : track_event::kFlow,
                           event.number);
    } else if (event.kind == Kind::kBegin && event.number != 0) {
      pbf_writer annotation(happened, track_event::kAnnotation);
      annotation.add_uint64(1, kJourneyAnnotation);
      annotation.add_uint64(3, event.number);
    }
    for (const ArgumentValue& argument :
         std::span(arguments_).subspan(event.first_argument, event.arguments)) {
      pbf_writer annotation(happened, track_event::kAnnotation);
      annotation.add_uint64(1, argument.name);
      annotation.add_int64(4, argument.value);
    }
  }
  end_packet();
}

void PerfettoPackets::task(std::uint64_t ts_ns, std::uint32_t tid, std::string_view name,
                           TaskState state, std::int32_t cpu) {
  {
    pbf_writer one(packet_);
    one.add_uint64(packet::kTimestamp, ts_ns);
    one.add_uint32(packet::kClockId, kMonotonic);
    pbf_writer turned(one, packet::kTaskState);
    if (cpu >= 0) turned.add_int32(1, cpu);
    turned.add_string(2, shown_text(name));
    turned.add_int64(3, tid);
    turned.add_enum(4, static_cast<std::int32_t>(state));
  }
  end_packet();
}

void PerfettoPackets::end_packet() {
  pbf_writer(packets_).add_message(trace_file::kPacket, packet_);
  packet_.clear();
  if (packets_.size() >= kDeflateBytes) deflate_packets();
}

void PerfettoPackets::deflate_packets() {
  if (packets_.empty() || !written_) return;
  uLongf bytes = compressBound(static_cast<uLong>(packets_.size()));
  deflated_.resize(bytes);
  const int done = compress2(reinterpret_cast<Bytef*>(deflated_.data()), &bytes,
                             reinterpret_cast<const Bytef*>(packets_.data()),
                             static_cast<uLong>(packets_.size()), Z_DEFAULT_COMPRESSION);
  if (done != Z_OK) {
    written_ = fail("deflate {} bytes: out of memory", packets_.size());
    return;
  }
  deflated_.resize(bytes);
  std::string inner;
  pbf_writer(inner).add_bytes(packet::kCompressedPackets, deflated_);
  std::string outer;
  pbf_writer(outer).add_message(trace_file::kPacket, inner);
  written_ = write_(outer);
  packets_.clear();
}

Result<void> PerfettoPackets::finish() {
  write_events();
  deflate_packets();
  return std::move(written_);
}

}  // namespace sojourn::exports
