// Recording only some points, or only some events: the kept events agree with the base station's
// own record, and the others are counted.
#include <algorithm>
#include <map>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/live/programs.h"
#include "tests/live/truth_pairing.h"

namespace sojourn::live {
namespace {

constexpr std::uint64_t kRnti = 0x4603;

// Every point of the base station has an rnti: its place among the point's values.
std::vector<std::size_t> rnti_fields(const truth::Truth& truth) {
  std::vector<std::size_t> fields;
  for (const truth::PointName& point : truth.points) {
    const auto parsed = model::parse_point(point.where, point.fields);
    REQUIRE(parsed);
    REQUIRE(parsed->field("rnti"));
    fields.push_back(*parsed->field("rnti"));
  }
  return fields;
}

void require_exact(trace::Reader& reader, const truth::Truth& wanted) {
  const std::uint64_t error_ns = reader.capture().stamp_error_ns;
  auto pairing = pair_with_truth(reader, wanted, error_ns);
  if (!pairing) FAIL(pairing.error().text());
  CHECK(reader.gaps().empty());
  for (const auto& difference : pairing->differences) UNSCOPED_INFO(difference);
  CHECK(pairing->differences.empty());
  CHECK(pairing->observations.size() > 100);
  CHECK(pairing->observations.size() >= pairing->hits_between_marks);
  CHECK(pairing->observations.size() <= pairing->hits_between_marks + pairing->hits_on_a_mark);
}

std::string words(const model::Point& point) {
  return fmt::format("{} {}", letter(point.direction), point.name());
}

struct Counts {
  std::map<std::string, std::uint64_t> by_point;
  std::map<std::uint32_t, std::uint64_t> by_stream;
  std::uint64_t filtered = 0;
};

// Kept and filtered ones together by point; by stream what has a number.
Counts count(trace::Reader& reader) {
  Counts counts;
  const auto& points = reader.schema().points;
  const auto merged = reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      ++counts.by_point[words(points[batch.point()[row]])];
      ++counts.by_stream[batch.stream()[row]];
    }
    return true;
  });
  REQUIRE(merged);
  for (const model::LedgerEntry& entry : reader.ledger()) {
    REQUIRE(entry.cause == model::LossCause::kFiltered);
    counts.by_point[words(points.at(entry.point))] += entry.count;
    counts.filtered += entry.count;
  }
  return counts;
}

TEST_CASE("record --where keeps one UE's events, all of them and no other, and counts the rest") {
  const std::string engine = GENERATE("bpf", "ring");
  // The first is decided in BPF, the second can only be in the collector.
  const std::string expression = GENERATE("rnti == 0x4603", "rnti * 2 == 0x4603 * 2");
  CAPTURE(engine, expression);
  if (engine == "bpf") need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--air-loss", "0.1"});
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "2s", "-o", trace,
                "--engine", engine, "--budget", "none", "--ring-size",
                engine == "ring" ? "2M" : "16M", "--where", expression});
  truth::Truth truth = station.finish();
  trace::Reader reader = open_trace(trace);
  const auto hits = count_hits(truth, reader.capture(), reader.capture().stamp_error_ns);
  const auto rnti = rnti_fields(truth);
  std::erase_if(truth.hits,
                [&](const truth::Hit& hit) { return hit.values[rnti[hit.point]] != kRnti; });
  require_exact(reader, truth);
  const Counts counts = count(reader);
  CHECK(counts.filtered > 10'000);
  for (std::size_t point = 0; point < truth.points.size(); ++point) {
    const std::string& name = truth.points[point].where;
    const auto counted = counts.by_point.find(name);
    const std::uint64_t seen = counted == counts.by_point.end() ? 0 : counted->second;
    CAPTURE(name, seen);
    CHECK(seen >= hits[point].least);
    CHECK(seen <= hits[point].most);
  }
  const auto& of_streams = reader.capture().stream_hits;
  for (std::uint32_t stream = 0; stream < of_streams.size(); ++stream) {
    const auto counted = counts.by_stream.find(stream);
    CHECK(of_streams[stream] == (counted == counts.by_stream.end() ? 0 : counted->second));
  }
  const auto checked = nlohmann::json::parse(sojourn_done({"check", trace, "--json"}));
  CHECK(checked["losses"] == "complete");
  CHECK(checked["lost"] == 0);
  CHECK(checked["filtered"] == counts.filtered);
}

TEST_CASE("lost and filtered events are distinguished, and together they are all hits") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "2s", "-o", trace,
                "--engine", "bpf", "--budget", "none", "--ring-size", "64K", "--poll", "200ms",
                "--where", "rnti != 0x4603"});
  const auto checked = nlohmann::json::parse(sojourn_done({"check", trace, "--json"}));
  CHECK(checked["losses"] == "accounted");
  CHECK(checked["unaccounted"] == 0);
  CHECK(checked["lost"] > 1000);
  CHECK(checked["filtered"] > 1000);
  CHECK(checked["missing"] == checked["lost"]);
}

TEST_CASE("record --points arms the points that match and no other") {
  const std::string engine = GENERATE("bpf", "ring");
  CAPTURE(engine);
  if (engine == "bpf") need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "1s", "-o", trace,
                "--engine", engine, "--budget", "none", "--points", "rlc.*", "--points", "D mac.*",
                "--points", "!*--drop"});
  truth::Truth wanted = station.finish();
  const auto is_wanted = [](const std::string& where) {
    return (where.substr(2).starts_with("rlc.") || where.starts_with("D mac.")) &&
           !where.ends_with("--drop");
  };
  std::erase_if(wanted.hits,
                [&](const truth::Hit& hit) { return !is_wanted(wanted.points[hit.point].where); });

  trace::Reader reader = open_trace(trace);
  CHECK(reader.ledger().empty());
  CHECK(std::ranges::all_of(reader.schema().points,
                            [&](const model::Point& point) { return is_wanted(words(point)); }));
  require_exact(reader, wanted);
}

TEST_CASE("points that an expression can never be true of are not armed") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "1s", "-o", trace,
                "--where", "dir == U && src !~ phy.*"});
  trace::Reader reader = open_trace(trace);
  CHECK(reader.ledger().empty());
  CHECK(reader.events() > 0);
  for (const model::Point& point : reader.schema().points) {
    CHECK(point.direction == model::Direction::kUplink);
    CHECK_FALSE(point.src.starts_with("phy."));
  }
}

TEST_CASE("a pattern or a name that the target does not have is an error before it is attached") {
  Station station;
  const auto refused = [&](const std::string& option, const std::string& value,
                           const std::string& expected) {
    const auto ended = sojourn({"record", "-p", std::to_string(station.pid()), option, value});
    CHECK(ended.exit_code == 1);
    CHECK(ended.err.contains(expected));
  };
  refused("--points", "rlx.*", "--points: no point matches rlx.*");
  refused("--points", "pdcp.in--pdcp.tz", "did you mean pdcp.in--pdcp.tx?");
  refused("--where", "rnit == 5", "did you mean rnti?\n  rnit == 5\n  ^~~~\n");
  refused("--where", "dir == D && dir == U", "--where: true of no point's events");
}

}  // namespace
}  // namespace sojourn::live
