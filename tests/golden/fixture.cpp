#include "tests/golden/fixture.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/writer.h"
#include "tests/support/child.h"
#include "userspace/base/fail_errno.h"
#include "userspace/files/trace_file.h"

namespace sojourn::golden {
namespace {

struct Fixture {
  model::Schema schema;
  model::Target target;
  model::Capture capture;
  model::Ledger ledger;
  model::Context context;
  std::vector<model::ClockPair> clocks;
  std::set<std::uint32_t> rings;                      // streams
  std::map<std::uint32_t, model::EventBatch> events;  // by stream
};

Result<std::uint16_t> find_point(const model::Schema& schema, const std::string& name) {
  for (std::size_t i = 0; i < schema.points.size(); ++i) {
    const auto& point = schema.points[i];
    if (std::string(1, letter(point.direction)) + " " + point.name() == name)
      return static_cast<std::uint16_t>(i);
  }
  return fail("no point '{}'", name);
}

Result<void> add_event(Fixture& fixture, std::istringstream& words, std::uint64_t ts_ns) {
  model::EventView event;
  std::string direction;
  std::string where;
  event.ts_ns = ts_ns;
  words >> event.stream >> event.tid >> direction >> where;
  SJ_TRY(point, find_point(fixture.schema, direction + " " + where));
  event.point = point;
  std::vector<std::uint64_t> values;
  for (std::uint64_t value = 0; words >> value;) values.push_back(value);
  if (values.size() != fixture.schema.points[point].fields.size())
    return fail("wrong number of values for {}", where);
  auto& batch = fixture.events[event.stream];
  event.seq = batch.size();
  event.values = values;
  batch.append(event);
  return {};
}

Result<void> add_line(Fixture& fixture, const std::string& line) {
  std::istringstream words(line);
  std::string first;
  if (!(words >> first) || first.starts_with('#')) return {};
  if (first == "target") {
    words >> fixture.target.name >> fixture.target.pid;
  } else if (first == "capture") {
    auto& capture = fixture.capture;
    words >> capture.open_ns >> capture.close_ns >> capture.tracer_cpu_ns >> capture.target_cpu_ns;
    capture.ended_by = "duration";
  } else if (first == "cost") {  // of a hit of the next point, in picoseconds, and its spread
    words >> fixture.capture.hit_cost_ps.emplace_back() >>
        fixture.capture.hit_spread_ps.emplace_back();
  } else if (first == "shed") {  // the number of a point, and when it was off
    auto& span = fixture.capture.shed.emplace_back();
    words >> span.point >> span.from_ns >> span.until_ns;
  } else if (first == "unplaced") {
    std::getline(words >> std::ws, fixture.capture.unplaced.emplace_back());
  } else if (first == "point") {
    std::string direction;
    std::string where;
    std::string fields;
    words >> direction >> where >> fields;
    SJ_TRY(point, model::parse_point(direction + " " + where, fields));
    fixture.schema.points.push_back(point);
  } else if (first == "thread") {
    auto& name = fixture.context.names.emplace_back();
    words >> name.id;
    std::getline(words >> std::ws, name.name);
  } else if (first == "ring") {
    std::uint32_t stream = 0;
    words >> stream;
    fixture.rings.insert(stream);
  } else if (first == "clock") {
    auto& pair = fixture.clocks.emplace_back();
    words >> pair.monotonic_ns >> pair.realtime_ns >> pair.tai_ns >> pair.error_ns;
  } else if (first == "lost") {
    model::LedgerEntry entry;
    words >> entry.stream >> entry.point >> entry.count;
    fixture.ledger.push_back(entry);
  } else {
    return add_event(fixture, words, std::stoull(first));
  }
  return {};
}

}  // namespace

Result<void> write_trace(const std::string& path, const std::string& trace) {
  std::ifstream file(path);
  if (!file) return fail_errno("open {}", path);
  Fixture fixture;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number)
    if (auto added = add_line(fixture, line); !added)
      return fail("{}:{}: {}", path, number, added.error().text());
  SJ_TRY(writer, files::create_trace(trace));
  SJ_CHECK(writer.write(fixture.schema));
  SJ_CHECK(writer.write(fixture.target));
  for (const model::ClockPair& pair : fixture.clocks) SJ_CHECK(writer.write(pair));
  for (const auto& [id, batch] : fixture.events) {
    model::Stream stream;
    stream.id = id;
    const bool is_ring = fixture.rings.contains(id);
    if (is_ring) stream.engine = model::Engine::kRing;
    stream.cpu = is_ring ? -1 : static_cast<std::int32_t>(id);
    SJ_CHECK(writer.write(stream));
    SJ_CHECK(writer.write(batch));
  }
  if (!fixture.context.empty()) SJ_CHECK(writer.write(fixture.context));
  SJ_CHECK(writer.write(fixture.ledger));
  SJ_CHECK(writer.write(fixture.capture));
  return writer.finish();
}

void compare(const std::string& path, const std::string& text) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  if (std::getenv("SJ_GOLDEN_UPDATE") != nullptr) test::write_contents(path, text);
  INFO(path);
  CHECK(text == test::contents(path));
}

}  // namespace sojourn::golden
