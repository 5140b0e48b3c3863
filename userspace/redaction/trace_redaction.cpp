#include "userspace/redaction/trace_redaction.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/journeys/rules.h"
#include "analysis/model/links.h"
#include "analysis/model/redacted_mark.h"
#include "analysis/trace/put_sink.h"
#include "analysis/trace/writer.h"
#include "userspace/redaction/name_redaction.h"

namespace sojourn::redaction {
namespace {

// Names of properties that identify a person or a place.
bool sounds_like_identity(std::string_view field) {
  constexpr std::array<std::string_view, 10> kParts = {"imsi", "supi", "suci", "imei", "msisdn",
                                                       "tmsi", "guti", "addr", "plmn", "arfcn"};
  constexpr std::array<std::string_view, 12> kWords = {"ue",   "ue_id", "ueid",    "ip",
                                                       "port", "cell",  "cell_id", "cellid",
                                                       "pci",  "nci",   "ecgi",    "tac"};
  std::string lower(field);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::ranges::find(kWords, lower) != kWords.end() ||
         std::ranges::any_of(kParts, [&](std::string_view part) { return lower.contains(part); });
}

std::string leading_version(const std::string& release) {
  return release.substr(0, release.find_first_not_of("0123456789."));
}

class TraceRedaction {
 public:
  TraceRedaction(const trace::Reader& reader, const ValueCipher::Key& key)
      : cipher_(key), names_(cipher_, reader.schema(), pids_of(reader)) {
    for (const model::Point& point : reader.schema().points) {
      hidden_.push_back(hidden_fields(point));
      auto& stack = stack_.emplace_back(point.fields.size());
      for (std::size_t at = 0; at < point.fields.size(); ++at)
        stack[at] = point.fields[at].name == model::kStackPointerField ||
                    point.fields[at].name == model::kExitStackField;
    }
  }

  model::Schema of(model::Schema schema) {
    for (model::Point& point : schema.points) point.file = names_.file(point.file);
    return schema;
  }
  model::Target of(model::Target target) {
    target.name = names_.words(target.name);
    target.exe = names_.file(target.exe);
    target.cmdline.clear();
    if (!target.build_id.empty()) target.build_id = cipher_.digest(target.build_id);
    return target;
  }
  static model::Host of(model::Host host) {
    host.name.clear();
    host.measured.clear();
    host.kernel = leading_version(host.kernel);
    return host;
  }
  static model::Capture of(model::Capture capture) {
    model::mark_redacted(capture);
    return capture;
  }
  model::Context of(model::Context context) {
    for (model::ContextFamily& family : context.families) hide_reason(family.missing);
    for (model::ContextName& name : context.names) name.name = names_.context_name(name);
    return context;
  }
  model::Profile of(model::Profile profile) {
    for (model::Counter& counter : profile.counters) hide_reason(counter.missing);
    for (model::Frame& frame : profile.frames) {
      frame.module = names_.file(frame.module);
      if (!frame.build_id.empty()) frame.build_id = cipher_.digest(frame.build_id);
      // The address would show where this kernel was loaded.
      if (frame.is_kernel) frame.address = 0;
      for (model::FrameFunction& call : frame.calls) call.file = names_.file(call.file);
    }
    return profile;
  }
  model::QueueChanges of(model::QueueChanges changes) {
    for (model::QueueChange& change : changes) {
      model::QueueInfo& about = change.about;
      about.name = names_.queue(about.name);
      about.group = static_cast<std::uint32_t>(cipher_(about.group));
      about.producer.stage = names_.words(about.producer.stage);
      about.consumer.stage = names_.words(about.consumer.stage);
    }
    return changes;
  }
  model::EventBatch of(model::EventBatch events) {
    model::EventColumns columns = std::move(events).release();
    for (std::size_t row = 0; row < columns.ts_ns.size(); ++row) {
      const std::vector<bool>& hidden = hidden_[columns.point[row]];
      const std::vector<bool>& stack = stack_[columns.point[row]];
      const std::size_t first = columns.first_value[row];
      const std::size_t values = columns.first_value[row + 1] - first;
      for (std::size_t at = 0; at < values && at < hidden.size(); ++at) {
        std::uint64_t& value = columns.values[first + at];
        if (hidden[at]) value = cipher_(value);
        if (stack[at] && value != 0) value += cipher_.stack_shift();
      }
    }
    return model::EventBatch(std::move(columns));
  }

 private:
  static std::set<std::uint64_t> pids_of(const trace::Reader& reader) {
    std::set<std::uint64_t> pids;
    for (const model::Target& target : reader.targets())
      pids.insert(static_cast<std::uint64_t>(target.pid));
    return pids;
  }
  // The reason why something is missing may name files.
  static void hide_reason(std::string& missing) {
    if (!missing.empty()) missing = "not recorded";
  }

  ValueCipher cipher_;
  NameRedaction names_;
  std::vector<std::vector<bool>> hidden_;  // by point and field
  std::vector<std::vector<bool>> stack_;
};

}  // namespace

// Journeys are rebuilt by the order of sequence numbers, by offsets, rounds and slots. All other
// ids are only compared.
std::vector<bool> hidden_fields(const model::Point& point) {
  const journeys::Rules rules;
  std::vector<bool> hidden(point.fields.size(), false);
  // A script may have put anything into attributes of activities and markers.
  if (point.direction == model::Direction::kScript)
    for (std::size_t at = 0; at < hidden.size(); ++at)
      hidden[at] = point.fields[at].name != model::kDurationField;
  if (!model::is_of_target(point.direction)) return hidden;
  for (std::size_t at = 0; at < hidden.size(); ++at) {
    const model::Field& field = point.fields[at];
    if (model::is_auxiliary_field(field.name) || model::link_of(field)) continue;
    if (field.role == model::Role::kProperty)
      hidden[at] = model::is_hexadecimal(point, at) || sounds_like_identity(field.name);
    else
      hidden[at] = !rules.is_sequence(field.name) && field.name != rules.offset &&
                   !rules.is_round(field.name) && field.name != model::kSlotField;
  }
  return hidden;
}

Result<void> write_redacted(trace::Reader& reader, const ValueCipher::Key& key, const Put& put,
                            const trace::CopyProgress& progress) {
  TraceRedaction redaction(reader, key);
  SJ_TRY(writer, trace::Writer::create(std::make_unique<trace::PutSink>(put)));
  SJ_CHECK(writer.write(redaction.of(reader.schema())));
  for (const model::Target& target : reader.targets()) SJ_CHECK(writer.write(redaction.of(target)));
  SJ_CHECK(writer.write(TraceRedaction::of(reader.host())));
  for (const model::Stream& stream : reader.streams()) SJ_CHECK(writer.write(stream));
  // Clock pairs are left out, because they show the date.
  if (!reader.context().empty()) SJ_CHECK(writer.write(redaction.of(reader.context())));
  if (!reader.queue_changes().empty()) SJ_CHECK(writer.write(redaction.of(reader.queue_changes())));
  if (!reader.profile().empty()) SJ_CHECK(writer.write(redaction.of(reader.profile())));
  model::EventBatch events;
  std::uint64_t done = 0;
  for (const trace::BlockInfo& block : reader.blocks()) {
    if (reader.read(block, events)) SJ_CHECK(writer.write(redaction.of(std::exchange(events, {}))));
    done += block.events;
    if (progress) progress(done, reader.events());
  }
  if (reader.sampling() != model::Sampling()) SJ_CHECK(writer.write(reader.sampling()));
  if (!reader.ledger().empty()) SJ_CHECK(writer.write(reader.ledger()));
  SJ_CHECK(writer.write(TraceRedaction::of(reader.capture())));
  return writer.finish();
}

}  // namespace sojourn::redaction
