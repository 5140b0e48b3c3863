#include "analysis/xlap/xlap_importer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/imports/import_all.h"
#include "analysis/trace/event_sorter.h"
#include "analysis/xlap/cycle_times.h"
#include "analysis/xlap/xlap_config.h"
#include "analysis/xlap/xlap_table.h"

namespace sojourn::xlap {
namespace {

constexpr std::size_t kMaxConfigBytes = 1 << 20;
constexpr std::uint64_t kProgressRows = 4096;
constexpr std::string_view kNumberColumn = "SeqNo";
constexpr std::string_view kTypeColumn = "Kind";

// The columns of a stamp in a table.
struct StampColumns {
  std::size_t stamp = 0;  // of Config::stamps
  std::optional<std::size_t> time;
  std::optional<std::size_t> cycles;
};

struct Columns {
  std::size_t number = 0;
  std::optional<std::size_t> type;
  std::vector<StampColumns> stamps;
  std::vector<std::pair<std::size_t, std::string>> durations;  // "..._D", without that
  std::size_t left_out = 0;
};

bool is_of_type(const Config& config, const Columns& columns, const Table& table) {
  if (!columns.type || config.packet_types.empty()) return true;
  const auto type = parse_number(table[*columns.type]);
  return type && config.packet_types.contains(*type);
}

Result<Columns> columns_of(const Config& config, std::size_t source, const Table& table) {
  Columns columns;
  const auto number = table.column(kNumberColumn);
  if (!number) return table.fail_here("there is no column {}", kNumberColumn);
  columns.number = *number;
  columns.type = table.column(kTypeColumn);
  std::size_t known = columns.type ? 2 : 1;
  for (std::size_t at = 0; at < config.stamps.size(); ++at) {
    const Stamp& stamp = config.stamps[at];
    if (stamp.source != source) continue;
    StampColumns of = {.stamp = at,
                       .time = table.column(stamp.name + "_T"),
                       .cycles = table.column(stamp.name + "_C")};
    if (stamp.is_cycle ? !of.cycles : !of.time)
      return fail("{}:{}: {}: {} has no column {}{}", config.path, stamp.line, stamp.name,
                  table.path(), stamp.name, stamp.is_cycle ? "_C" : "_T");
    known += (of.time ? 1U : 0U) + (of.cycles ? 1U : 0U);
    columns.stamps.push_back(of);
  }
  for (std::size_t at = 0; at < table.columns().size(); ++at)
    if (const std::string& name = table.columns()[at]; name.size() > 2 && name.ends_with("_D"))
      columns.durations.emplace_back(at, name.substr(0, name.size() - 2));
  columns.left_out = table.columns().size() - known - columns.durations.size();
  return columns;
}

const StampColumns* columns_of_stamp(const Columns& columns, std::size_t stamp) {
  const auto found = std::ranges::find(columns.stamps, stamp, &StampColumns::stamp);
  return found == columns.stamps.end() ? nullptr : &*found;
}

// Returns a cell's number, or nothing if the packet did not pass there.
Result<std::optional<std::uint64_t>> cell(const Table& table, std::optional<std::size_t> column,
                                          std::optional<std::uint64_t> (*parse)(std::string_view)) {
  if (!column || is_missing(table[*column])) return std::nullopt;
  const auto value = parse(table[*column]);
  if (!value)
    return table.fail_here("{}: {} is no number that can be", table.columns()[*column],
                           table[*column]);
  return value;
}

// One row's stamps that are there, in the order of their times.
struct Passed {
  std::uint64_t ts_ns = 0;
  std::size_t stamp = 0;
};

// A table, read from its beginning.
class TableFile {
 public:
  static Result<TableFile> open(const Config& config, std::size_t source, const imports::Open& open,
                                const std::string& path) {
    SJ_TRY(stream, open(path));
    SJ_TRY(table, Table::open(*stream, path));
    SJ_TRY(columns, columns_of(config, source, table));
    return TableFile(std::move(stream), std::move(table), std::move(columns));
  }

  Table table;
  Columns columns;
  std::uint64_t done_bytes() const { return stream_->done_bytes(); }
  std::uint64_t size_bytes() const { return stream_->size_bytes(); }

 private:
  TableFile(std::unique_ptr<imports::ByteStream> stream, Table opened, Columns of)
      : table(std::move(opened)), columns(std::move(of)), stream_(std::move(stream)) {}

  std::unique_ptr<imports::ByteStream> stream_;
};

// The points of all tables: one for each two stamps that a packet passed one after the other.
class Points {
 public:
  Result<model::PointId> step(const std::string& from, const std::string& to) {
    return of("D " + from + "--" + to, ":kind:seq");
  }
  Result<model::PointId> duration(const std::string& name) {
    return of("I " + name, "dur_ns:kind:seq");
  }
  const model::Schema& schema() const { return schema_; }

 private:
  Result<model::PointId> of(const std::string& where, const char* fields) {
    if (const auto known = ids_.find(where); known != ids_.end()) return known->second;
    SJ_TRY(point, model::parse_point(where, fields));
    if (schema_.points.size() >= model::kMaxPoints)
      return fail("packets pass the stamps in more orders than a trace has points");
    const auto id = static_cast<model::PointId>(schema_.points.size());
    schema_.points.push_back(std::move(point));
    ids_.emplace(where, id);
    return id;
  }

  model::Schema schema_;
  std::map<std::string, model::PointId> ids_;
};

std::string plain(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '_';
  return text;
}

class SourceImport {
 public:
  SourceImport(const Config& config, std::size_t source, const imports::Open& open, Points& points,
               imports::Destination& into, FileSummary& file)
      : config_(config), source_(source), open_(open), points_(points), into_(into), file_(file) {}

  Result<void> run(const imports::Progress& progress) {
    file_.source = config_.sources[source_].name;
    SJ_CHECK(read_instants());
    SJ_CHECK(look_through());
    SJ_CHECK(write_events(progress));
    if (file_.bound_ns) into_.note_stamp_error(*file_.bound_ns);
    return {};
  }

 private:
  // Calls `each` for all rows of a packet type.
  template <typename Each>
  Result<void> for_rows(Each each) {
    SJ_TRY(file, TableFile::open(config_, source_, open_, file_.path));
    while (true) {
      SJ_TRY(more, file.table.next());
      if (!more) break;
      SJ_CHECK(each(file, is_of_type(config_, file.columns, file.table)));
    }
    file_.failure = file.table.failure();
    file_.is_cut = file.table.is_cut();
    file_.columns_left_out = file.columns.left_out;
    return {};
  }

  // First pass: the instants at which both the clock and the cycle counter were read.
  Result<void> read_instants() {
    const Source& source = config_.sources[source_];
    std::vector<Instant> instants;
    const auto note_instant = [&](const TableFile& file, bool is_wanted) -> Result<void> {
      if (!is_wanted) return {};
      const StampColumns* const time = columns_of_stamp(file.columns, source.time_reference);
      const StampColumns* const cycle = columns_of_stamp(file.columns, source.cycle_reference);
      // A clock stamp has the counter as well, mostly.
      const bool has_both = time->cycles.has_value();
      file_.references_differ = !has_both && time != cycle;
      SJ_TRY(ns, cell(file.table, time->time, parse_us));
      SJ_TRY(cycles, cell(file.table, has_both ? time->cycles : cycle->cycles, parse_number));
      if (ns && cycles) instants.push_back({.cycles = *cycles, .unix_ns = *ns});
      return {};
    };
    SJ_CHECK(for_rows(note_instant));
    times_ = CycleTimes(std::move(instants));
    file_.instants = times_.used();
    file_.odd_instants = times_.odd();
    file_.bound_ns = times_.bound_ns();
    return {};
  }

  // Finds a row's stamps and sorts them by time. Their times come from the cycle counter where it
  // was read, so that all durations of a table have one scale; else from the clock.
  Result<void> find_passed(const TableFile& file, bool is_counted) {
    passed_.clear();
    for (const StampColumns& of : file.columns.stamps) {
      SJ_TRY(ns, cell(file.table, of.time, parse_us));
      SJ_TRY(cycles, cell(file.table, of.cycles, parse_number));
      std::optional<std::uint64_t> ts_ns = ns;
      if (cycles && times_.ready()) {
        ts_ns = times_.unix_ns(*cycles);
        if (!ts_ns)
          return file.table.fail_here("{}: {} cycles are before 1970 or after 2262",
                                      config_.stamps[of.stamp].name, *cycles);
        if (is_counted) note_cycles(*cycles, ns, *ts_ns);
      } else if (!ns && cycles) {
        return file.table.fail_here(
            "{}: cycles, and fewer than two instants have both {}_T and {}_C",
            config_.stamps[of.stamp].name, reference_name(), reference_name());
      }
      if (ts_ns) passed_.push_back({.ts_ns = *ts_ns, .stamp = of.stamp});
    }
    std::ranges::stable_sort(passed_, {}, &Passed::ts_ns);
    return {};
  }

  const std::string& reference_name() const {
    return config_.stamps[config_.sources[source_].time_reference].name;
  }

  void note_cycles(std::uint64_t cycles, std::optional<std::uint64_t> clock_ns,
                   std::uint64_t ts_ns) {
    ++file_.cycle_stamps;
    const bool is_outside = times_.is_outside(cycles);
    file_.outside_instants += is_outside ? 1 : 0;
    if (!clock_ns || times_.is_used(cycles)) return;
    const std::uint64_t off = *clock_ns > ts_ns ? *clock_ns - ts_ns : ts_ns - *clock_ns;
    ++file_.checked;
    file_.furthest_ns = std::max(file_.furthest_ns, off);
    file_.beyond_bound += file_.bound_ns && off > *file_.bound_ns ? 1 : 0;
  }

  // The second pass. Finds the stamp that most packets pass last. A packet without it was dropped.
  Result<void> look_through() {
    std::map<std::size_t, std::uint64_t> last;
    const auto note_last = [&](const TableFile& file, bool is_wanted) -> Result<void> {
      if (!is_wanted) return {};
      SJ_CHECK(find_passed(file, true));
      if (!passed_.empty()) ++last[passed_.back().stamp];
      return {};
    };
    SJ_CHECK(for_rows(note_last));
    std::uint64_t most = 0;
    for (const auto& [stamp, count] : last) {
      if (count <= most) continue;
      most = count;
      last_stamp_ = stamp;
    }
    return {};
  }

  // Third pass.
  Result<void> write_events(const imports::Progress& progress) {
    const auto write_row = [&](const TableFile& file, bool is_wanted) -> Result<void> {
      ++file_.rows;
      if (file_.rows % kProgressRows == 0)
        progress(file.done_bytes(), std::max(file.size_bytes(), file.done_bytes()));
      if (!is_wanted) {
        ++file_.other_types;
        return {};
      }
      SJ_TRY(number, cell(file.table, file.columns.number, parse_number));
      SJ_TRY(type, cell(file.table, file.columns.type, parse_number));
      number_ = number.value_or(0);
      type_ = type.value_or(0);
      SJ_CHECK(find_passed(file, false));
      SJ_CHECK(add_steps());
      SJ_CHECK(add_durations(file));
      return flush(trace::kOrderWindow);
    };
    SJ_CHECK(for_rows(write_row));
    file_.disordered = waiting_.disordered();
    return into_.write(waiting_.take_first(waiting_.size()), points_.schema());
  }

  std::string between(std::size_t source) const {
    if (source == 0) return "input";
    if (source == config_.sources.size()) return "output";
    return config_.sources.size() == 2 ? "channel" : fmt::format("channel{}", source);
  }

  std::string place_of(std::size_t stamp) const {
    return plain(config_.sources[source_].name) + "." + plain(config_.stamps[stamp].name);
  }

  Result<void> add_steps() {
    std::string from = between(source_);
    for (std::size_t at = 0; at < passed_.size(); ++at) {
      const std::size_t stamp = passed_[at].stamp;
      const bool is_end = at + 1 == passed_.size() && stamp == last_stamp_;
      std::string to = is_end ? between(source_ + 1) : place_of(stamp);
      SJ_TRY(point, points_.step(from, to));
      add(passed_[at].ts_ns, point, std::array{type_, number_});
      from = std::move(to);
    }
    return {};
  }

  Result<void> add_durations(const TableFile& file) {
    const auto passed = [&](std::size_t stamp) {
      return std::ranges::find(passed_, stamp, &Passed::stamp);
    };
    for (const Duration& duration : config_.durations) {
      if (duration.source != source_) continue;
      if (config_.stamps[duration.start].source != source_ ||
          config_.stamps[duration.stop].source != source_) {
        ++file_.durations_left_out;
        continue;
      }
      const auto start = passed(duration.start);
      const auto stop = passed(duration.stop);
      if (start == passed_.end() || stop == passed_.end()) continue;
      if (stop->ts_ns < start->ts_ns) {
        ++file_.backwards;
        continue;
      }
      SJ_TRY(point, points_.duration(plain(duration.name)));
      add(start->ts_ns, point, std::array{stop->ts_ns - start->ts_ns, type_, number_});
    }
    for (const auto& [column, name] : file.columns.durations) {
      SJ_TRY(ns, cell(file.table, column, parse_us));
      if (!ns || passed_.empty()) continue;
      SJ_TRY(point, points_.duration(plain(name)));
      add(passed_.front().ts_ns, point, std::array{*ns, type_, number_});
    }
    return {};
  }

  void add(std::uint64_t ts_ns, model::PointId point, std::span<const std::uint64_t> values) {
    waiting_.add(
        {.ts_ns = ts_ns, .seq = 0, .stream = 0, .tid = 0, .point = point, .values = values});
  }

  Result<void> flush(std::size_t window) {
    if (waiting_.size() < 2 * window) return {};
    return into_.write(waiting_.take_first(window), points_.schema());
  }

  const Config& config_;
  std::size_t source_;
  const imports::Open& open_;
  Points& points_;
  imports::Destination& into_;
  FileSummary& file_;
  CycleTimes times_ = CycleTimes({});
  std::optional<std::size_t> last_stamp_;
  std::vector<Passed> passed_;
  std::uint64_t number_ = 0;
  std::uint64_t type_ = 0;
  trace::EventSorter waiting_;
};

Result<Config> read_config(const std::string& directory, const imports::Open& open) {
  const std::string path = directory + "/" + kConfigName;
  SJ_TRY(stream, open(path));
  std::string text(kMaxConfigBytes + 1, '\0');
  text.resize(stream->read(text));
  if (!stream->failure().empty()) return fail("read {}: {}", path, stream->failure());
  if (text.size() > kMaxConfigBytes)
    return fail("{}: is longer than {} MiB", path, kMaxConfigBytes >> 20);
  return parse_config(text, path);
}

}  // namespace

Result<Summary> import_directory(const std::string& path, const imports::Open& open,
                                 imports::Destination& into, const imports::Progress& progress) {
  const std::string directory = path.substr(0, path.find_last_not_of('/') + 1);
  SJ_TRY(config, read_config(directory, open));
  std::vector<std::string> paths;
  for (const Source& source : config.sources) paths.push_back(directory + "/" + source.file);
  Points points;
  std::size_t next = 0;
  SJ_TRY(summary, imports::import_all<Summary>(
                      paths, into,
                      [&](FileSummary& file) {
                        return SourceImport(config, next++, open, points, into, file).run(progress);
                      },
                      [](const FileSummary& file) {
                        return fmt::format("no stamp in {} rows{}{}", file.rows,
                                           file.failure.empty() ? "" : "; ", file.failure);
                      }));
  summary.points = points.schema().points.size();
  SJ_CHECK(into.finish("X-Lap"));
  return std::move(summary);
}

}  // namespace sojourn::xlap
