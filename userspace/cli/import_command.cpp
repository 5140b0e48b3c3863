// `sojourn import`: another tracer's recording as a trace, for every command that reads one.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "analysis/base/shell_word.h"
#include "analysis/event_json/event_json_importer.h"
#include "analysis/hits/text_importer.h"
#include "analysis/imports/destination.h"
#include "analysis/latseq/latseq_importer.h"
#include "analysis/oai_t/oai_t_importer.h"
#include "analysis/present/imports/import_json.h"
#include "analysis/present/imports/import_text.h"
#include "analysis/trace/block.h"
#include "analysis/trace/byte_sink.h"
#include "analysis/trace/format.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"
#include "analysis/xlap/xlap_importer.h"
#include "userspace/base/fail_errno.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/output_file.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/units.h"
#include "userspace/ctf/ctf_importer.h"
#include "userspace/files/file_stream.h"
#include "userspace/files/text_file.h"
#include "userspace/files/trace_file.h"

namespace sojourn::cli {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::string output;
  std::string from = "latseq";
  std::string onto;
  std::string began;
  std::string map;
  std::string clock;
  std::string shift;
  bool json = false;
};

constexpr std::string_view kStandardInput = "-";

// "runs/x" of "runs/x/".
std::filesystem::path without_end(const std::string& input) {
  std::filesystem::path path(input);
  return path.has_filename() ? path : path.parent_path();
}

// "runs/x.lseq.gz" becomes "runs/x.sjt".
std::string trace_name(const std::string& input) {
  std::filesystem::path path = without_end(input);
  if (path.extension() == ".gz") path.replace_extension();
  return path.replace_extension(".sjt").string();
}

// A pipe is not looked at, as nothing of it can be read twice.
bool is_trace(const std::string& input) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(input, error)) return false;
  const auto source = files::open_source(input);
  trace::FileHeader header;
  return source &&
         (*source)->read_at(0, {reinterpret_cast<std::uint8_t*>(&header), sizeof(header)}) &&
         trace::is_sound(header);
}

// Checks that the inputs exist and are for importing, before the trace is begun.
Result<void> check_inputs(const ImportOptions& options) {
  for (const std::string& input : options.files) {
    if (input == kStandardInput && isatty(STDIN_FILENO) != 0)
      return fail("standard input is the terminal: give a file, or pipe the recording");
    if (input != kStandardInput && access(input.c_str(), R_OK) != 0)
      return fail_errno("open {}", input);
    std::error_code error;
    const bool is_directory = std::filesystem::is_directory(input, error);
    if (is_directory && options.from != "xlap" && options.from != "ctf")
      return fail("open {}: is a directory", input);
    if (!is_directory && options.from == "xlap")
      return fail("open {}: the directory of an {} is wanted", input, xlap::kConfigName);
    if (!is_directory && options.from == "ctf") return fail("open {}: not a directory", input);
    if (is_trace(input))
      return fail("{}: is a trace of sojourn already, which every command reads: sojourn report {}",
                  input, shell_word(input));
  }
  return {};
}

Result<void> check_output(const ImportOptions& options) {
  std::error_code error;
  for (const std::string& input : options.files)
    if (std::filesystem::equivalent(input, options.output, error))
      return fail("write {}: it is the file to import", options.output);
  if (!options.onto.empty() && std::filesystem::equivalent(options.onto, options.output, error))
    return fail("write {}: it is the trace to import onto", options.output);
  return {};
}

// General tracers, whose events get their points by a map.
bool has_hits(const ImportOptions& options) {
  return options.from == "perf" || options.from == "bpftrace" || options.from == "ctf";
}

imports::Clock clock_of(const ImportOptions& options) {
  return has_hits(options) && options.clock != "wall" ? imports::Clock::kMonotonic
                                                      : imports::Clock::kWall;
}

Result<imports::Destination> destination(const ImportOptions& options, trace::Writer& writer,
                                         const imports::Progress& progress) {
  if (options.onto.empty()) {
    const std::string& first = options.files.front();
    return imports::Destination::alone(
        writer, first == kStandardInput ? "standard input" : without_end(first).filename().string(),
        clock_of(options));
  }
  SJ_TRY(recorded, files::open_trace(options.onto));
  SJ_CHECK(require_as_recorded(recorded, "import onto"));
  return imports::Destination::beside(recorded, writer, progress, clock_of(options));
}

// "1.5s", "-20ms"
Result<hits::TimeShift> parse_shift(std::string_view text) {
  hits::TimeShift shift;
  shift.is_back = text.starts_with('-');
  if (shift.is_back || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return shift;
  SJ_TRY(ns, parse_time(text));
  shift.ns = ns;
  return shift;
}

// Says by which clock hits were placed.
std::string clock_text(const ImportOptions& options) {
  const std::string_view clock = clock_of(options) == imports::Clock::kMonotonic
                                     ? "CLOCK_MONOTONIC of the machine"
                                     : "nanoseconds since 1970";
  return fmt::format("  times are taken for {}{}\n", clock,
                     options.shift.empty() ? "" : fmt::format(", with {} added", options.shift));
}

// `import_files` is the importer of the files' format.
template <typename Import>
Result<void> import_to(const ImportOptions& options, trace::Writer& writer, Import import_files) {
  ProgressLine line("bytes");
  const imports::Progress progress = [&](std::uint64_t done, std::uint64_t of) {
    line.update(done, of);
  };
  SJ_TRY(into, destination(options, writer, progress));
  SJ_TRY(imported, import_files(options.files, into, progress));
  line.clear();
  SJ_CHECK(writer.finish());
  if (options.json) {
    const auto document = present::import_json(imported, options.output, writer.bytes());
    return print_data(document.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) +
                      "\n");
  }
  for (const auto& file : imported.files) tell("{}", present::import_text(file));
  if (has_hits(options)) tell("{}", clock_text(options));
  tell("{}   {}, {} of {}{}\nnext: sojourn report {}\n", options.output, bytes(writer.bytes()),
       counted(imported.events(), "event"), counted(imported.points, "point"),
       options.onto.empty() ? "" : fmt::format(", beside those of {}", options.onto),
       shell_word(options.output));
  return {};
}

// The trace as a file. An unfinished one is removed, as its source is still there.
class TraceFile : public trace::ByteSink {
 public:
  explicit TraceFile(OutputFile file) : file_(std::move(file)) {}

  Result<void> append(std::span<const std::uint8_t> bytes) override {
    size_ += bytes.size();
    return file_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  std::uint64_t size() const override { return size_; }
  Result<void> finish() override { return file_.finish(); }
  void abandon() override {}  // an unfinished OutputFile leaves nothing behind
  const std::string& put_aside() const override { return put_aside_; }

 private:
  OutputFile file_;
  std::uint64_t size_ = 0;
  std::string put_aside_;
};

template <typename Import>
Result<void> run(const ImportOptions& options, Import import_files) {
  SJ_CHECK(check_inputs(options));
  SJ_CHECK(check_output(options));
  // Readable by its owner only, as a recording is.
  SJ_TRY(file, OutputFile::create(options.output, 0600));
  SJ_TRY(writer, trace::Writer::create(std::make_unique<TraceFile>(std::move(file))));
  return import_to(options, writer, import_files);
}

Result<void> run_srsran(const ImportOptions& options) {
  std::optional<std::uint64_t> began_ns;
  if (!options.began.empty()) {
    SJ_TRY(ns, parse_time(options.began));
    began_ns = ns;
  }
  return run(options, [&](const auto& paths, auto& into, const auto& progress) {
    return event_json::import_files(paths, began_ns, files::open_stream, into, progress);
  });
}

Result<void> run_t(const ImportOptions& options) {
  return run(options, [](const auto& paths, auto& into, const auto& progress) {
    return oai_t::import_files(paths, files::open_stream, into, progress);
  });
}

Result<void> run_xlap(const ImportOptions& options) {
  return run(options, [](const auto& paths, auto& into, const auto& progress) {
    return xlap::import_directory(paths.front(), files::open_stream, into, progress);
  });
}

Result<void> run_hits(const ImportOptions& options) {
  hits::PointMap map;
  if (!options.map.empty()) {
    SJ_TRY(text, files::read_text(options.map, "map is"));
    SJ_TRY(parsed, hits::PointMap::parse(text, options.map));
    map = std::move(parsed);
  }
  SJ_TRY(shift, parse_shift(options.shift));
  if (options.from == "ctf")
    return run(options, [&](const auto& paths, auto& into, const auto& /*progress*/) {
      return ctf::import_directories(paths, clock_of(options), map, shift, into);
    });
  const auto tracer = options.from == "perf" ? hits::Tracer::kPerf : hits::Tracer::kBpftrace;
  return run(options, [&](const auto& paths, auto& into, const auto& progress) {
    return hits::import_texts(paths, tracer, map, shift, files::open_gzip_stream, into, progress);
  });
}

Result<void> run_latseq(const ImportOptions& options) {
  return run(options, [](const auto& paths, auto& into, const auto& progress) {
    return latseq::import_files(paths, files::open_gzip_stream, into, progress);
  });
}

}  // namespace

Action define_import(Arguments& arguments) {
  auto options = std::make_shared<ImportOptions>();
  arguments
      .add_option("files", options->files,
                  "The recordings, e.g. run.lseq (also gzipped), record.raw, perf.txt, "
                  "lttng-traces/run; of X-Lap the directory; or - for standard input. Each becomes "
                  "one stream of the trace")
      .type_name("FILE")
      .required();
  arguments
      .add_option(
          "-o,--output", options->output,
          "The trace to write: it appears once it is complete; default: the first file's name "
          "with .sjt")
      .type_name("FILE")
      .check(check_output_file);
  Argument from =
      arguments.add_option("--from", options->from,
                           "Which tracer wrote them: LatSeq, OpenAirInterface's T tracer (t), the "
                           "event tracer of srsRAN "
                           "and OCUDU (srsran), X-Lap (xlap), perf, bpftrace, or LTTng (ctf)");
  from.capture_default_str();
  choose_from(from, {"latseq", "t", "srsran", "xlap", "perf", "bpftrace", "ctf"});
  arguments
      .add_option("--onto", options->onto,
                  "A trace that sojourn recorded at the same time. The output is a copy of it with "
                  "the recordings' events added at their times")
      .type_name("TRACE");
  arguments
      .add_option("--began", options->began,
                  "With --from srsran: when the program started, as the time since 1970, if its "
                  "events do not contain it: 1732320000.5s, or $(date -d '2024-11-23 10:00' +%ss)")
      .type_name("TIME")
      .check([](const std::string& text) {
        const auto since_1970 = parse_time(text);
        return since_1970 ? "" : since_1970.error().text();
      });
  arguments
      .add_option(
          "--map", options->map,
          "With perf, bpftrace and ctf: a file that says which of their events are which points; "
          "without, each event is a scalar (docs/imports.md)")
      .type_name("FILE");
  Argument clock = arguments.add_option(
      "--clock", options->clock,
      "With perf, bpftrace and ctf: what their times are, CLOCK_MONOTONIC (mono, the default) or "
      "nanoseconds since 1970 (wall)");
  choose_from(clock, {"mono", "wall"});
  arguments
      .add_option("--shift", options->shift,
                  "With perf, bpftrace and ctf: a time to add to theirs, e.g. 1.5s or -20ms")
      .type_name("TIME")
      .check([](const std::string& text) {
        const auto shift = parse_shift(text);
        return shift ? "" : shift.error().text();
      });
  arguments.add_flag("--json", options->json,
                     "Print what was read and what was skipped as one JSON object");
  arguments.footer(
      "latseq  raw recordings, whose cycle counts become times by their clock lines, and converted "
      "ones (docs/latseq.md)\n"
      "t       record.raw, as the T tracer's `record -o` writes it; its messages become scalars "
      "(docs/oai-t.md)\n"
      "srsran  the JSON that a build with tracing writes; its spans become scalars with a field "
      "dur_ns (docs/srsran-events.md)\n"
      "xlap    a directory with an xlap.yml and the tables that it names; cycle stamps become "
      "times "
      "(docs/xlap.md)\n"
      "perf    what `perf script --ns` prints of `perf record -k CLOCK_MONOTONIC` "
      "(docs/imports.md)\n"
      "bpftrace  lines of its printf: nsecs, probe, name=number ... (docs/imports.md)\n"
      "ctf     a directory in the Common Trace Format, as LTTng writes it (docs/imports.md)\n"
      "\n"
      "A line that holds no event is skipped, and counted by reason.\n"
      "--json: {\"trace\", \"bytes\", \"events\", \"points\", \"files\": [{\"file\", \"lines\", "
      "\"events\", \"outside\", \"headers\", \"blank\", \"clock_lines\", \"skipped\": {reason: "
      "{\"count\", \"first_line\", \"why\"}}, \"fields_left_out\", \"unended\", \"cycle_stamps\", "
      "\"before_clock\", \"after_clock\", \"disordered\", \"first_ns\", \"last_ns\", "
      "\"failure\"}]}");
  arguments.when_parsed([options] {
    if (!options->began.empty() && options->from != "srsran")
      refuse_usage("--began goes with --from srsran only: the other formats contain their times");
    if (options->from == "xlap" && options->files.size() != 1)
      refuse_usage("--from xlap takes one directory");
    const auto inputs = std::ranges::count(options->files, kStandardInput);
    if (inputs > 1) refuse_usage("standard input (-) can be read once");
    if (inputs == 1 && options->output.empty() && options->files.front() == kStandardInput)
      refuse_usage("standard input (-) has no name: say with -o what to write");
    if (!has_hits(*options) &&
        !(options->map.empty() && options->clock.empty() && options->shift.empty()))
      refuse_usage("--map, --clock and --shift are of --from perf, bpftrace and ctf");
  });
  return [options] {
    if (options->output.empty()) options->output = trace_name(options->files.front());
    if (options->from == "srsran") return run_srsran(*options);
    if (options->from == "xlap") return run_xlap(*options);
    if (has_hits(*options)) return run_hits(*options);
    return options->from == "t" ? run_t(*options) : run_latseq(*options);
  };
}

}  // namespace sojourn::cli
