// What comes from elsewhere, as any bytes: recordings of other tracers, rule files, filters. The
// first byte says as which of them. What is imported has to be a sound trace, whose journeys can be
// rebuilt, whatever they are; what is understood of rules reads back as the same.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "analysis/event_json/event_json_importer.h"
#include "analysis/filter/event_filter.h"
#include "analysis/filter/journey_filter.h"
#include "analysis/imports/destination.h"
#include "analysis/journeys/rebuilder.h"
#include "analysis/journeys/rule_file.h"
#include "analysis/journeys/topology.h"
#include "analysis/latseq/latseq_importer.h"
#include "analysis/oai_t/oai_t_importer.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"
#include "userspace/files/file_stream.h"
#include "userspace/files/trace_file.h"

namespace {

using namespace sojourn;

void require(bool truth, std::string_view what) {
  if (truth) return;
  fmt::print(stderr, "not so: {}\n", what);
  std::abort();
}

// Where the kernel keeps it in memory, so that the disk does not set the pace.
class Folder {
 public:
  Folder() {
    std::string name = "/dev/shm/foreign-fuzz-XXXXXX";
    require(mkdtemp(name.data()) != nullptr, "a folder can be made");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

const model::Schema& radio() {
  static const model::Schema schema{
      {*model::parse_point("D ip.in--pdcp.in", "len:rnti:drb.gsn"),
       *model::parse_point("D pdcp.in--rlc.tx.am", "len:rnti:drb.psn"),
       *model::parse_point("D rlc.tx.am--mac.mux", "len.round:rnti:drb.psn.rsn.so.lcid.lcid"),
       *model::parse_point("D mac.mux--out", "len:rnti:harq.slot"),
       *model::parse_point("U in--drop", "len:rnti:harq")}};
  return schema;
}

void rebuild(const std::string& trace) {
  auto reader = files::open_trace(trace);
  require(reader.has_value(), "what was imported is a trace");
  require(reader->damage().empty(), "what was imported is whole");
  journeys::Observer nobody;
  auto rebuilder = journeys::Rebuilder::create(reader->schema(), {}, {}, nobody);
  if (!rebuilder) return;
  const auto merged = reader->merge([&](const model::EventBatch& events) {
    rebuilder->consume(events);
    return true;
  });
  rebuilder->finish();
  if (merged) require(rebuilder->totals().events == reader->events(), "every event was looked at");
}

template <typename Import>
void import(std::string_view bytes, Import import_files) {
  static const Folder folder;
  const std::string input = folder.path("recording");
  const std::string output = folder.path("run.sjt");
  std::ofstream(input, std::ios::binary) << bytes;
  auto writer = files::create_trace(output);
  require(writer.has_value(), "a trace can be begun");
  auto into = imports::Destination::alone(*writer, "recording");
  require(into.has_value(), "a trace of its own can be begun");
  const std::array paths = {input};
  if (!import_files(std::span<const std::string>(paths), *into)) {
    writer->abandon();
    return;
  }
  require(writer->finish().has_value(), "a trace is finished");
  rebuild(output);
}

void read_rules(std::string_view text) {
  const auto parsed = journeys::parse_rules(text, "rules");
  if (!parsed) return;
  const auto topology = journeys::Topology::derive(radio(), *parsed);
  if (!topology) return;
  const std::string said = journeys::rules_text(*topology, radio(), *parsed);
  const auto again = journeys::parse_rules(said, "said");
  require(again.has_value(), "what applies can be read");
  const auto same = journeys::Topology::derive(radio(), *again);
  require(same.has_value(), "what applies fits the schema");
  require(journeys::rules_text(*same, radio(), *again) == said, "what applies reads back as same");
}

void read_filter(const std::string& text) {
  const auto parsed = filter::parse(text);
  if (!parsed) return;
  filter::BindContext around;
  around.threads = {{7, "mac"}, {8, "ul-phy"}};
  const auto of_journeys = filter::JourneyFilter::compile(*parsed, radio(), around);
  const auto of_events = filter::EventFilter::compile(*parsed, radio(), around);
  if (!of_events) return;
  require(of_journeys.has_value(), "what is known of events is known of journeys");
  const std::array<std::uint64_t, 8> values = {0, 1, UINT64_MAX, 0x4601, 1000, 7, 3, 3};
  std::size_t matching = 0;
  for (std::size_t point = 0; point < radio().points.size(); ++point)
    matching +=
        (*of_events)({.ts_ns = 5,
                      .seq = 0,
                      .stream = 0,
                      .tid = 7,
                      .point = static_cast<model::PointId>(point),
                      .values = std::span(values).first(radio().points[point].fields.size())})
            ? 1
            : 0;
  const bool may_be = of_events->span().from_ns <= 5 && 5 <= of_events->span().until_ns;
  require(matching == 0 || may_be, "nothing matches outside of the time that an expression leaves");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto nothing = [](auto, auto) {};
  switch (data[0] % 5) {
    case 0:
      import(bytes, [&](auto paths, auto& into) {
        return latseq::import_files(paths, files::open_gzip_stream, into, nothing).has_value();
      });
      break;
    case 1:
      import(bytes, [&](auto paths, auto& into) {
        return oai_t::import_files(paths, files::open_stream, into, nothing).has_value();
      });
      break;
    case 2:
      import(bytes, [&](auto paths, auto& into) {
        return event_json::import_files(paths, std::nullopt, files::open_stream, into, nothing)
            .has_value();
      });
      break;
    case 3:
      read_rules(bytes);
      break;
    default:
      read_filter(bytes);
  }
  return 0;
}
