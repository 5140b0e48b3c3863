// `sojourn events`: the raw events of a trace in time order, one a line.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "analysis/model/links.h"
#include "analysis/model/pattern.h"
#include "analysis/model/unread.h"
#include "analysis/model/value_text.h"
#include "analysis/model/wall_clock.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/trace/reader.h"
#include "userspace/base/fail_errno.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

constexpr std::uint64_t kLargestId = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kSecond = 1'000'000'000;

struct Options {
  std::string path;
  std::uint64_t limit = 0;
  std::vector<std::string> globs;
  std::vector<std::uint32_t> tids;
  std::vector<std::uint32_t> streams;
  std::string time = "rel";
  WhereOption where;
  bool json = false;
};

// Standard output for very many lines. A reader that had enough and closed the pipe (`| head`) is
// no failure: taking() turns false and the rest need not be made.
class Lines {
 public:
  bool taking() const { return taking_; }

  fmt::memory_buffer& buffer() { return buffer_; }

  Result<void> flush_if_full() {
    constexpr std::size_t kFull = 64 * 1024;
    if (buffer_.size() < kFull) return {};
    return flush();
  }

  Result<void> flush() {
    std::string_view rest(buffer_.data(), buffer_.size());
    while (taking_ && !rest.empty()) {
      const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
      if (written >= 0)
        rest.remove_prefix(static_cast<std::size_t>(written));
      else if (errno == EPIPE)
        taking_ = false;
      else if (errno != EINTR)
        return fail_errno("write standard output");
    }
    buffer_.clear();
    return {};
  }

 private:
  fmt::memory_buffer buffer_;
  bool taking_ = true;
};

// What a line shows of a stamp.
class Clock {
 public:
  Clock(const Options& options, const trace::Reader& reader)
      : wall_clock_(reader.clocks()), wall_(options.time == "wall") {
    if (options.time == "rel") origin_ns_ = pipeline::origin_ns(reader);
  }

  // Nanoseconds since the chosen origin; negative for the few before the capture's first mark.
  std::int64_t shown_ns(std::uint64_t ts_ns) const {
    return static_cast<std::int64_t>(wall_ ? wall_clock_.realtime_ns(ts_ns) : ts_ns - origin_ns_);
  }

 private:
  model::WallClock wall_clock_;
  std::uint64_t origin_ns_ = 0;
  bool wall_ = false;
};

// Which events are asked for.
class Selection {
 public:
  Selection(const Options& options, const model::Schema& schema)
      : tids_(options.tids), streams_(options.streams), points_(schema.points.size()) {
    for (std::size_t id = 0; id < points_.size(); ++id)
      points_[id] =
          options.globs.empty() || std::ranges::any_of(options.globs, [&](const std::string& glob) {
            return model::matches_pattern(schema.points[id], glob);
          });
  }

  bool any_point() const {
    return points_.empty() || std::ranges::find(points_, true) != points_.end();
  }

  bool operator()(const model::EventView& event) const {
    return points_[event.point] && has(tids_, event.tid) && has(streams_, event.stream);
  }

 private:
  static bool has(const std::vector<std::uint32_t>& wanted, std::uint32_t value) {
    return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
  }

  std::vector<std::uint32_t> tids_;
  std::vector<std::uint32_t> streams_;
  std::vector<bool> points_;
};

// One event as a line, for people or for programs. What of it repeats is made once a point.
class Printer {
 public:
  Printer(const Options& options, const trace::Reader& reader)
      : json_(options.json), clock_(options, reader), schema_(reader.schema()) {
    has_several_ = reader.targets().size() > 1;
    for (const model::Stream& stream : reader.streams()) {
      cpus_[stream.id] = stream.cpu;
      if (stream.pid >= 0) pids_[stream.id] = stream.pid;
    }
    for (const model::Point& point : schema_.points) {
      heads_.push_back(head(point));
      unread_.push_back(model::unread_field(point));
      helpers_.push_back(helpers_of(point));
      forms_.push_back(forms_of(point));
      if (json_) members_.push_back(members(point));
    }
  }

  void operator()(const model::EventView& event, fmt::memory_buffer& out) const {
    if (json_)
      json(event, out);
    else
      text(event, out);
  }

 private:
  std::string head(const model::Point& point) const {
    if (!json_) return fmt::format("{} {}", letter(point.direction), point.name());
    return fmt::format("\"dir\":\"{}\",\"point\":{},\"src\":{},\"dest\":{}",
                       letter(point.direction), quoted(point.name()), quoted(point.src),
                       quoted(point.dest));
  }

  static std::uint32_t helpers_of(const model::Point& point) {
    static_assert(model::kMaxFields <= 32);
    std::uint32_t bits = 0;
    for (std::size_t field = 0; field < point.fields.size(); ++field)
      if (model::is_auxiliary_field(point.fields[field].name)) bits |= std::uint32_t{1} << field;
    return bits;
  }

  static std::vector<model::ValueForm> forms_of(const model::Point& point) {
    std::vector<model::ValueForm> forms;
    for (std::size_t at = 0; at < point.fields.size(); ++at)
      forms.push_back(model::form_of(point, at));
    return forms;
  }

  // A name that a point has several times is one member of the object, an array.
  struct Member {
    std::string name;
    std::vector<std::size_t> fields;
  };

  static std::vector<Member> members(const model::Point& point) {
    std::vector<Member> members;
    for (std::size_t field = 0; field < point.fields.size(); ++field) {
      if (helpers_of(point) >> field & 1) continue;
      const std::string name = quoted(point.fields[field].name);
      auto known = std::ranges::find(members, name, &Member::name);
      if (known == members.end()) known = members.insert(known, {.name = name, .fields = {}});
      known->fields.push_back(field);
    }
    return members;
  }

  static std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }

  void text(const model::EventView& event, fmt::memory_buffer& out) const {
    const auto into = std::back_inserter(out);
    const std::int64_t shown_ns = clock_.shown_ns(event.ts_ns);
    const std::uint64_t magnitude_ns = shown_ns < 0 ? 0 - static_cast<std::uint64_t>(shown_ns)
                                                    : static_cast<std::uint64_t>(shown_ns);
    fmt::format_to(into, "{}{}.{:09} {}", shown_ns < 0 ? "-" : "", magnitude_ns / kSecond,
                   magnitude_ns % kSecond, heads_[event.point]);
    const auto& fields = schema_.points[event.point].fields;
    const std::uint64_t unread = model::unread_bits(unread_[event.point], event.values);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (helpers_[event.point] >> i & 1) continue;
      fmt::format_to(into, " {} ", fields[i].name);
      if (unread >> i & 1)
        out.push_back('?');
      else
        model::append_value(out, forms_[event.point][i], event.values[i]);
    }
    if (const auto cpu = cpus_.find(event.stream); cpu != cpus_.end() && cpu->second >= 0)
      fmt::format_to(into, " cpu {}", cpu->second);
    fmt::format_to(into, " tid {}", event.tid);
    if (const auto pid = pids_.find(event.stream); has_several_ && pid != pids_.end())
      fmt::format_to(into, " pid {}", pid->second);
    fmt::format_to(into, "\n");
  }

  void json(const model::EventView& event, fmt::memory_buffer& out) const {
    const auto into = std::back_inserter(out);
    fmt::format_to(into, "{{\"t_ns\":{},{},\"fields\":{{", clock_.shown_ns(event.ts_ns),
                   heads_[event.point]);
    const auto& fields = schema_.points[event.point].fields;
    const std::uint64_t unread = model::unread_bits(unread_[event.point], event.values);
    std::string_view before;
    for (const Member& member : members_[event.point]) {
      fmt::format_to(into, "{}{}:{}", before, member.name, member.fields.size() > 1 ? "[" : "");
      before = "";
      for (const std::size_t i : member.fields) {
        if (unread >> i & 1)
          fmt::format_to(into, "{}null", before);
        else if (fields[i].is_signed)
          fmt::format_to(into, "{}{}", before, static_cast<std::int64_t>(event.values[i]));
        else
          fmt::format_to(into, "{}{}", before, event.values[i]);
        before = ",";
      }
      if (member.fields.size() > 1) fmt::format_to(into, "]");
    }
    fmt::format_to(into, "}},\"tid\":{},", event.tid);
    if (const auto pid = pids_.find(event.stream); pid != pids_.end())
      fmt::format_to(into, "\"pid\":{},", pid->second);
    fmt::format_to(into, "\"cpu\":");
    if (const auto cpu = cpus_.find(event.stream); cpu != cpus_.end() && cpu->second >= 0)
      fmt::format_to(into, "{}", cpu->second);
    else
      fmt::format_to(into, "null");
    fmt::format_to(into, ",\"stream\":{},\"seq\":{}}}\n", event.stream, event.seq);
  }

  bool json_;
  Clock clock_;
  const model::Schema& schema_;
  std::map<std::uint32_t, std::int32_t> cpus_;
  std::map<std::uint32_t, std::int32_t> pids_;  // where they are known
  bool has_several_ = false;
  std::vector<std::string> heads_;
  std::vector<std::optional<std::size_t>> unread_;  // which field says what could not be read
  std::vector<std::uint32_t> helpers_;              // which fields are not shown
  std::vector<std::vector<model::ValueForm>> forms_;
  std::vector<std::vector<Member>> members_;  // of each point, in JSON
};

Result<void> run(const Options& options) {
  SJ_TRY(reader, open_trace(options.path));
  if (options.time == "wall" && reader.clocks().empty())
    return fail("{}: has no clock pairs, so wall time is unknown: use --time mono", options.path);
  const Selection selected(options, reader.schema());
  if (!selected.any_point())
    return fail("{}: no point matches {}", options.path, fmt::join(options.globs, ", "));
  SJ_TRY(where, options.where.events(reader));
  const Printer print(options, reader);
  const std::string told = tell_if_not_whole(reader);

  Lines lines;
  std::vector<std::uint32_t> rows;
  Result<void> written;
  std::uint64_t printed = 0;
  const auto full = [&] { return options.limit != 0 && printed == options.limit; };
  SJ_CHECK(reader.merge([&](const model::EventBatch& batch) {
    select(where, batch, rows);
    for (const std::uint32_t row : rows) {
      if (full()) break;
      const model::EventView event = batch[row];
      if (!selected(event)) continue;
      print(event, lines.buffer());
      ++printed;
    }
    written = lines.flush_if_full();
    return written && lines.taking() && !full();
  }));
  SJ_CHECK(written);
  SJ_CHECK(lines.flush());
  tell_if_not_whole(reader, told);
  return {};
}

}  // namespace

Action define_events(Arguments& arguments) {
  auto options = std::make_shared<Options>();
  add_trace(arguments, options->path);
  arguments.add_option("--limit", options->limit, "Print at most this many")
      .type_name("N")
      .check(whole_number(1));
  arguments
      .add_option("--points", options->globs,
                  "Only points that match, e.g. 'rlc.*' or 'U *--drop'; may be repeated")
      .type_name("GLOB");
  options->where.define(
      arguments,
      "Only events for which this is true, e.g. 'rnti == 0x4601 && len > 1k' (docs/filters.md)");
  arguments.add_option("--tid", options->tids, "Only events of this thread; may be repeated")
      .type_name("TID")
      .check(whole_number(0, kLargestId));
  arguments.add_option("--stream", options->streams, "Only events of this stream; may be repeated")
      .type_name("N")
      .check(whole_number(0, kLargestId));
  Argument time = arguments.add_option("--time", options->time,
                                       "Times since the begin of the capture (rel), of "
                                       "CLOCK_MONOTONIC (mono), or since 1970 (wall)");
  time.capture_default_str();
  choose_from(time, {"rel", "mono", "wall"});
  arguments.add_flag("--json", options->json, "One JSON object a line");
  arguments.footer(
      "A line has: seconds, direction, point, the point's fields by name, CPU, thread, and the "
      "process where the trace has several.\n"
      "--json: {\"t_ns\": by --time, \"dir\", \"point\", \"src\", \"dest\", \"fields\": {name: "
      "value, or [values] where the point has that name several times}, \"tid\", \"pid\": where it "
      "is known, \"cpu\": number or null, \"stream\", \"seq\": position in the stream}");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
