#include "analysis/event_json/event_json_importer.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/event_json/event_reader.h"
#include "analysis/imports/import_all.h"
#include "analysis/trace/event_sorter.h"

namespace sojourn::event_json {
namespace {

constexpr std::size_t kMaxNames = 10'000;  // of points, of threads: a base station has some hundred
constexpr std::uint64_t kProgressObjects = 4096;
constexpr std::uint64_t kDayNs = 24ull * 3600 * 1'000'000'000;

std::string plain(std::string_view name) {
  std::string text(name.substr(0, 128));
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
  return text;
}

// The points of all files. Events of one name with different numbers are different points.
class Points {
 public:
  Result<model::PointId> of(const Event& event) {
    std::string shape = event.kind == Event::Kind::kSpan ? "X " : "i ";
    shape += event.name;
    for (const auto& [name, _] : event.numbers) shape += '\n' + name;
    if (const auto known = by_shape_.find(shape); known != by_shape_.end()) return known->second;
    if (by_shape_.size() == kMaxNames) return fail("more than {} different events", kMaxNames);
    model::Point point = point_of(event);
    SJ_CHECK(model::check(point));
    const auto id = static_cast<model::PointId>(schema_.points.size());
    schema_.points.push_back(std::move(point));
    by_shape_.emplace(std::move(shape), id);
    return id;
  }

  // In the order of the point's fields.
  static void values_of(const Event& event, std::vector<std::uint64_t>& values) {
    values.assign(1, event.cpu);
    if (event.kind == Event::Kind::kSpan) values.push_back(event.dur_ns);
    for (const auto& [_, number] : event.numbers)
      if (values.size() < model::kMaxFields) values.push_back(static_cast<std::uint64_t>(number));
  }

  const model::Schema& schema() const { return schema_; }

 private:
  static model::Point point_of(const Event& event) {
    model::Point point;
    point.direction = model::Direction::kScalar;
    for (const char c : event.name.substr(0, 128)) point.src += c > ' ' && c <= '~' ? c : '_';
    point.fields.push_back({.name = "cpu", .bytes = 4});
    if (event.kind == Event::Kind::kSpan) point.fields.push_back({.name = "dur_ns"});
    for (const auto& [name, _] : event.numbers)
      if (point.fields.size() < model::kMaxFields)
        point.fields.push_back({.name = plain(name), .is_signed = true});
    return point;
  }

  model::Schema schema_;
  std::map<std::string, model::PointId> by_shape_;
};

// Numbers threads from 1 on, as the recording only has their names.
class Threads {
 public:
  std::uint32_t of(const std::string& name) {
    if (name.empty()) return 0;
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) return known->second;
    if (numbers_.size() == kMaxNames) return 0;
    return numbers_.emplace(name, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
  }

  std::vector<model::ContextName> names() const {
    std::vector<model::ContextName> names;
    names.reserve(numbers_.size());
    for (const auto& [name, number] : numbers_)
      names.push_back(
          {.kind = model::NameKind::kThread, .id = number, .name = name, .pid = 0, .state = {}});
    return names;
  }

 private:
  std::map<std::string, std::uint32_t> numbers_;
};

// Finds when the recording's time is 0, by the first event with a time of day. The day is the last
// one on which the recording ended before the file's last change.
Result<void> find_beginning(const imports::Open& open, FileSummary& file) {
  const std::string& path = file.path;
  SJ_TRY(stream, open(path));
  if (!stream->changed_ns())
    return fail("{}: not a regular file, and what time it was is looked for first: say --began",
                path);
  std::optional<Event> telling;
  std::uint64_t last_ns = 0;
  std::uint64_t objects = 0;
  SJ_TRY(ended, read_events(*stream, [&](const Event& event, std::uint64_t) -> Result<bool> {
           ++objects;
           if (event.day_ns && !telling) telling = event;
           last_ns = std::max(last_ns, event.ts_ns);
           return true;
         }));
  if (objects == 0)
    return fail("{}: no event; {}", path, ended.empty() ? "its list is empty" : ended);
  if (!telling) return fail("{}: no event has the time of day: give --began", path);
  const std::uint64_t changed_ns = *stream->changed_ns();
  const std::uint64_t lasted_ns = last_ns - std::min(last_ns, telling->ts_ns);
  std::uint64_t told_ns = changed_ns / kDayNs * kDayNs + *telling->day_ns;
  while (told_ns + lasted_ns > changed_ns && told_ns >= kDayNs) told_ns -= kDayNs;
  if (told_ns < telling->ts_ns) return fail("{}: it began before 1970: say --began", path);
  file.began_ns = told_ns - telling->ts_ns;
  file.dated_by_file = true;
  return {};
}

class FileImport {
 public:
  FileImport(Points& points, Threads& threads, imports::Destination& into, FileSummary& file)
      : points_(points), threads_(threads), into_(into), file_(file) {}

  Result<void> add(const Event& event) {
    ++file_.objects;
    if (event.kind == Event::Kind::kOther) ++file_.other;
    if (event.kind == Event::Kind::kMalformed) ++file_.malformed;
    if (event.kind == Event::Kind::kOther || event.kind == Event::Kind::kMalformed) return {};
    auto point = points_.of(event);
    if (!point) return std::unexpected(std::move(point).error().within(file_.path));
    Points::values_of(event, values_);
    waiting_.add({.ts_ns = file_.began_ns + event.ts_ns,
                  .seq = 0,
                  .stream = 0,
                  .tid = threads_.of(event.thread),
                  .point = *point,
                  .values = values_});
    if (waiting_.size() < 2 * trace::kOrderWindow) return {};
    return into_.write(waiting_.take_first(trace::kOrderWindow), points_.schema());
  }

  Result<void> finish() {
    SJ_CHECK(into_.write(waiting_.take_first(waiting_.size()), points_.schema()));
    file_.disordered = waiting_.disordered();
    return {};
  }

 private:
  Points& points_;
  Threads& threads_;
  imports::Destination& into_;
  FileSummary& file_;
  trace::EventSorter waiting_;
  std::vector<std::uint64_t> values_;
};

Result<void> read_file(Points& points, Threads& threads, const imports::Open& open,
                       imports::Destination& into, const imports::Progress& progress,
                       FileSummary& file) {
  SJ_TRY(stream, open(file.path));
  const std::uint64_t size = stream->size_bytes();
  FileImport file_import(points, threads, into, file);
  SJ_TRY(ended, read_events(*stream, [&](const Event& event, std::uint64_t end) -> Result<bool> {
           SJ_CHECK(file_import.add(event));
           if (file.objects % kProgressObjects == 0) progress(end, size == 0 ? end : size);
           return true;
         }));
  file.failure = std::move(ended);
  return file_import.finish();
}

}  // namespace

Result<Summary> import_files(std::span<const std::string> paths,
                             std::optional<std::uint64_t> began_ns, const imports::Open& open,
                             imports::Destination& into, const imports::Progress& progress) {
  Points points;
  Threads threads;
  SJ_TRY(summary, imports::import_all<Summary>(
                      paths, into,
                      [&](FileSummary& file) -> Result<void> {
                        if (began_ns)
                          file.began_ns = *began_ns;
                        else
                          SJ_CHECK(find_beginning(open, file));
                        return read_file(points, threads, open, into, progress, file);
                      },
                      [](const FileSummary& file) {
                        return fmt::format("no event in {} objects{}{}", file.objects,
                                           file.failure.empty() ? "" : "; ", file.failure);
                      }));
  SJ_CHECK(into.name_threads(threads.names()));
  summary.points = points.schema().points.size();
  SJ_CHECK(into.finish("srsRAN event tracer"));
  return std::move(summary);
}

}  // namespace sojourn::event_json
