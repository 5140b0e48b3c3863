// Any bytes as data from elsewhere: recordings of other tracers, and texts of users. The first byte
// says the kind: '0' a LatSeq file, '1' a T recording, '2' event JSON, '3' rules, '4' a filter, '5'
// a schema, '6' an xlap.yml and, behind a form feed, the table for all of its data files, '7' lines
// of perf, '8' lines of bpftrace, '9' a map of hits, with lines of perf behind an empty line. An
// imported recording has to be a sound trace whose journeys can be rebuilt. Rules that are
// understood read back as the same. The output for a schema is JSON.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/event_json/event_json_importer.h"
#include "analysis/filter/event_filter.h"
#include "analysis/filter/journey_filter.h"
#include "analysis/hits/text_importer.h"
#include "analysis/imports/destination.h"
#include "analysis/journeys/rebuilder.h"
#include "analysis/journeys/rule_file.h"
#include "analysis/journeys/topology.h"
#include "analysis/latseq/latseq_importer.h"
#include "analysis/oai_t/oai_t_importer.h"
#include "analysis/schema_language/generate.h"
#include "analysis/schema_language/schema_parser.h"
#include "analysis/trace/byte_source.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"
#include "analysis/xlap/xlap_importer.h"
#include "tests/fuzz/fuzz_checks.h"
#include "tests/fuzz/memory_files.h"

namespace {

using namespace sojourn;
using fuzz::require;
using fuzz::understood;

const model::Schema& radio() {
  static const model::Schema schema{
      {*model::parse_point("D ip.in--pdcp.in", "len:rnti:drb.gsn"),
       *model::parse_point("D pdcp.in--rlc.tx.am", "len:rnti:drb.psn"),
       *model::parse_point("D rlc.tx.am--mac.mux", "len.round:rnti:drb.psn.rsn.so.lcid.lcid"),
       *model::parse_point("D mac.mux--out", "len:rnti:harq.slot"),
       *model::parse_point("U in--drop", "len:rnti:harq")}};
  return schema;
}

void rebuild(std::span<const std::uint8_t> trace) {
  auto reader = trace::Reader::open(std::make_unique<trace::MemorySource>("trace", trace));
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
  std::vector<std::uint8_t> trace;
  auto writer = trace::Writer::create(std::make_unique<fuzz::MemorySink>(trace));
  require(writer.has_value(), "a trace can be begun");
  auto into = imports::Destination::alone(*writer, "recording");
  require(into.has_value(), "a trace of its own can be begun");
  const std::array<std::string, 1> paths = {"recording"};
  const imports::Open open =
      [bytes](const std::string&) -> Result<std::unique_ptr<imports::ByteStream>> {
    return std::make_unique<fuzz::MemoryStream>(bytes);
  };
  const auto imported = import_files(std::span(paths), open, *into, [](auto, auto) {});
  if (!understood(imported.has_value())) return;
  require(writer->finish().has_value(), "a trace is finished");
  rebuild(trace);
}

void import_xlap(std::string_view bytes) {
  const auto between = std::min(bytes.find('\f'), bytes.size());
  const std::string_view config = bytes.substr(0, between);
  const std::string_view table = bytes.substr(std::min(between + 1, bytes.size()));
  import(bytes, [&](auto paths, const auto&, auto& into, const auto& progress) {
    const imports::Open open =
        [&](const std::string& path) -> Result<std::unique_ptr<imports::ByteStream>> {
      return std::make_unique<fuzz::MemoryStream>(path.ends_with(xlap::kConfigName) ? config
                                                                                    : table);
    };
    return xlap::import_directory(paths.front(), open, into, progress);
  });
}

void read_rules(std::string_view text) {
  const auto parsed = journeys::parse_rules(text, "rules");
  if (!understood(parsed.has_value())) return;
  const auto topology = journeys::Topology::derive(radio(), *parsed);
  if (!understood(topology.has_value())) return;
  const std::string said = journeys::rules_text(*topology, radio(), *parsed);
  const auto again = journeys::parse_rules(said, "said");
  require(again.has_value(), "what applies can be read");
  const auto same = journeys::Topology::derive(radio(), *again);
  require(same.has_value(), "what applies fits the schema");
  require(journeys::rules_text(*same, radio(), *again) == said, "what applies reads back as same");
}

void read_filter(const std::string& text) {
  const auto parsed = filter::parse(text);
  if (!understood(parsed.has_value())) return;
  filter::BindContext around;
  around.threads = {{7, "mac"}, {8, "ul-phy"}};
  const auto of_journeys = filter::JourneyFilter::compile(*parsed, radio(), around);
  const auto of_events = filter::EventFilter::compile(*parsed, radio(), around);
  if (!understood(of_events.has_value())) return;
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

void read_schema(const std::string& text) {
  const auto parsed = schema_language::parse(text, "schema");
  if (!understood(parsed.has_value())) return;
  const std::string json = schema_language::generate_json(*parsed, "schema");
  require(nlohmann::json::accept(json), "a schema becomes JSON");
  require(!schema_language::generate_header(*parsed, "schema").empty(), "a schema has a header");
}

void import_hits(std::string_view bytes, hits::Tracer tracer, hits::PointMap map) {
  import(bytes, [&](auto paths, const auto& open, auto& into, const auto& progress) {
    return hits::import_texts(paths, tracer, std::move(map), {}, open, into, progress);
  });
}

void import_mapped(std::string_view bytes) {
  const std::size_t end = bytes.find("\n\n");
  if (!understood(end != std::string_view::npos)) return;
  auto map = hits::PointMap::parse(bytes.substr(0, end), "map");
  if (!understood(map.has_value())) return;
  import_hits(bytes.substr(end + 2), hits::Tracer::kPerf, std::move(*map));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] < '0' || data[0] > '9') return -1;  // not for the corpus
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case '0':
      import(bytes, latseq::import_files);
      break;
    case '1':
      import(bytes, oai_t::import_files);
      break;
    case '2':
      import(bytes, [](auto paths, const auto& open, auto& into, const auto& progress) {
        return event_json::import_files(paths, std::nullopt, open, into, progress);
      });
      break;
    case '3':
      read_rules(bytes);
      break;
    case '4':
      read_filter(bytes);
      break;
    case '5':
      read_schema(bytes);
      break;
    case '6':
      import_xlap(bytes);
      break;
    case '7':
      import_hits(bytes, hits::Tracer::kPerf, {});
      break;
    case '8':
      import_hits(bytes, hits::Tracer::kBpftrace, {});
      break;
    default:
      import_mapped(bytes);
  }
  return 0;
}
