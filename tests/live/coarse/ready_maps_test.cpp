// Maps that come with sojourn, on stand-ins: programs with the functions of the base station that a
// map is for, under the names of its linker, and with the memory layout of its sources.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>
#include <sched.h>

#include "tests/live/coarse/subject.h"
#include "tests/support/many_symbols.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::live {
namespace {

using nlohmann::json;

// Functions of a gnb of release 25.10, as far as they were noted when it ran.
constexpr std::string_view kObserved[] = {
    "23gtpu_tunnel_ngu_rx_impl11deliver_sduERNS_16gtpu_rx_sdu_infoE",
    "14pdcp_entity_tx10handle_sduENS_11byte_bufferE",
    "14pdcp_entity_tx14apply_securityENS_19pdcp_tx_buffer_infoE",
    "14pdcp_entity_tx30write_data_pdu_to_lower_layersEONS_16pdcp_tx_pdu_infoEb",
    "6srs_du15f1u_bearer_impl28handle_transmit_notificationEjj",
    "6srs_du15f1u_bearer_impl10handle_sduENS_17byte_buffer_chainE",
    "16rlc_tx_um_entity8pull_pduENS_4spanIhEE",
    "18mac_cell_processor27handle_slot_indication_implE",
    "20dl_sch_pdu_assembler18assemble_newtx_pduE",
    "38downlink_processor_multi_executor_impl13process_pdschE",
    "15ru_dummy_sector14handle_dl_dataE",
    "20pusch_processor_impl7processE",
    "14pdu_rx_handler13handle_rx_pduE",
    "16rlc_rx_um_entity10handle_pduENS_17byte_buffer_sliceE",
    "14pdcp_entity_rx10handle_pduENS_17byte_buffer_chainE",
    "14pdcp_entity_rx15handle_data_pduENS_11byte_bufferE",
    "14pdcp_entity_rx14apply_securityEO",
    "14pdcp_entity_rx16apply_reorderingE",
    "9srs_cu_up19sdap_entity_rx_impl10handle_pduE",
    "23gtpu_tunnel_ngu_tx_impl10handle_sduE"};

// The value that the first event that leaves the place has.
std::uint64_t value_at(const json& journey, const std::string& src, const std::string& id) {
  for (const json& event : journey.at("events"))
    if (event.at("src") == src) return event.at("ids").at(id).get<std::uint64_t>();
  FAIL("no event that leaves " << src << ": " << journey.dump());
  return 0;
}

// The stand-in's packet n goes in slot n, by the HARQ process n % 16, of which the last needs a
// second round, in the next slot. PDCP counts from 0, and the first packet is number 1. A status
// PDU may be in its block as well, but is no part of it.
void check_truth(const json& journey, std::uint64_t number, const std::string& phy) {
  constexpr std::uint64_t kSlots = 20'480;
  constexpr std::uint64_t kProcesses = 16;
  CAPTURE(journey.dump());
  CHECK(value_at(journey, phy, "slot") == number % kSlots);
  CHECK(value_at(journey, phy, "harq") == number % kProcesses);
  const bool is_repeated = number % kProcesses == kProcesses - 1;
  CHECK(journey.at("harq_retransmissions") == (is_repeated ? 1 : 0));
  const auto given_to_rlc = std::ranges::count_if(
      journey.at("events"), [](const json& event) { return event.at("dest") == "rlc.rx"; });
  CHECK(given_to_rlc == (journey.at("dir") == "U" ? 1 : 0));
  if (!is_repeated) return;
  const auto repeat = std::ranges::find_if(
      journey.at("events"), [](const json& event) { return event.contains("repeat_of"); });
  REQUIRE(repeat != journey.at("events").end());
  CHECK(repeat->at("src") == phy);
  CHECK(repeat->at("ids").at("slot") == (number + 1) % kSlots);
}

// All that comes to RLC, packets and status PDUs, is known to be of a block, but for what the start
// of the capture cut, and repeats nothing.
void check_blocks(const json& points) {
  const auto to_rlc = std::ranges::find_if(
      points, [](const json& point) { return point.at("name") == "mac.rx--rlc.rx"; });
  REQUIRE(to_rlc != points.end());
  CHECK(to_rlc->at("cut") < 5);
  CHECK(to_rlc->at("orphans") == 0);
  CHECK(to_rlc->at("repeats") == 0);
}

// The rule by which units come to a point, as it is printed.
std::string pair_to(const std::string& rules, const std::string& point) {
  const std::size_t at = rules.find("-> " + point);
  REQUIRE(at != std::string::npos);
  return rules.substr(at, rules.find('\n', at) - at);
}

// The points of a direction with its packets' numbers, and with its HARQ rounds.
struct Truth {
  std::string dir;
  std::string phy;
  std::string src;
  std::string id;
};

// Returns the number of packets with two rounds. Rounds of the first and the last one may be beyond
// the marks.
std::size_t check_direction(const std::vector<json>& all, const Truth& truth) {
  std::map<std::uint64_t, json> by_number;
  for (const json& journey : all)
    if (journey.at("dir") == truth.dir && journey.at("complete").get<bool>())
      by_number[value_at(journey, truth.src, truth.id) + 1] = journey;
  REQUIRE(by_number.size() > 100);
  // Each of them is whole.
  CHECK(by_number.rbegin()->first - by_number.begin()->first + 1 == by_number.size());
  by_number.erase(by_number.begin());
  by_number.erase(std::prev(by_number.end()));
  std::size_t repeats = 0;
  for (const auto& [number, journey] : by_number) {
    check_truth(journey, number, truth.phy);
    repeats += journey.at("harq_retransmissions").get<std::size_t>();
  }
  return repeats;
}

TEST_CASE("the map of a gNB finds its functions by the names they have, and follows packets") {
  need_root();
  const std::string program = GENERATE("gnb-O2", "gnb-O2-icf");
  CAPTURE(program);
  const auto file = tracee::ElfFile::open(coarse_path(program), program);
  REQUIRE(file);
  const auto functions = file->functions();
  REQUIRE(functions);
  for (const std::string_view name : kObserved) {
    CAPTURE(name);
    CHECK(std::ranges::any_of(*functions, [&](const tracee::FunctionSymbol& function) {
      return function.name.starts_with("_ZN6srsran" + std::string(name));
    }));
  }

  CHECK(std::ranges::any_of(*functions, [](const tracee::FunctionSymbol& function) {
    return function.name.ends_with(".cold");
  }));

  CoarseSubject target(program, test::contents(std::string(SJ_MAPS) + "/srsran-gnb.toml"));
  const bool is_folded =
      sojourn(target.with_map("list")).err.contains("srsran::rlc_rx_tm_entity::handle_pdu");
  CHECK(is_folded == (program == "gnb-O2-icf"));
  const test::Ended ended = target.record("500ms");
  // Each function has a thunk of the same name, and one radio unit is there of the four.
  CHECK_FALSE(ended.err.contains("not traced"));
  CHECK(ended.err.contains("looks like release 25.10"));
  CHECK(target.running());

  trace::Reader reader = open_trace(target.trace());
  std::vector<std::uint64_t> hits(reader.schema().points.size());
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::Point& point = reader.schema().points[batch[row].point];
      const Values values = values_of(point, batch[row]);
      ++hits[batch[row].point];
      // The stand-in's value, or nothing if a call around it is not known yet.
      const auto is = [&](const char* field, std::uint64_t wanted) {
        return !values.contains(field) || values.at(field) == wanted;
      };
      CAPTURE(point.name());
      CHECK(is("rnti", 0x4601));
      CHECK((!values.contains("harq") || values.at("harq") < 16));
      CHECK(is("qfi", 9));
      CHECK(is("len", 1000));
      CHECK(is("grant", point.src == "rlc.am.pull" ? 100 : 1200));
    }
    return true;
  }));
  CHECK(hits.size() == 22);
  for (std::size_t id = 0; id < hits.size(); ++id) {
    const model::Point& point = reader.schema().points[id];
    CAPTURE(point.name());
    CHECK(hits[id] > (point.src == "rlc.am.pull" ? 10 : 100));
  }

  const json figures = json::parse(sojourn_done({"report", "--json", target.trace()}));
  check_blocks(figures.at("points"));
  const json& journeys = figures.at("journeys");
  CHECK(journeys.at("D").at("complete") > 100);
  CHECK(journeys.at("D").at("incomplete") == 0);
  CHECK(journeys.at("D").at("ambiguous") == 0);
  CHECK(journeys.at("U").at("complete") > 100);
  CHECK(journeys.at("U").at("ambiguous") == 0);
  const std::string rules = sojourn_done({"report", target.trace(), "--explain-rules"});
  CHECK(pair_to(rules, "mac.rx--rlc.rx").contains("by bb  1:n"));
  const auto all = json_lines(sojourn_done({"journeys", "--json", target.trace()}));
  CHECK(check_direction(all, {.dir = "D", .phy = "mac.tx", .src = "rlc.tx", .id = "psn"}) > 4);
  CHECK(check_direction(all, {.dir = "U", .phy = "air", .src = "pdcp.crypto", .id = "count"}) > 4);
  // To the radio unit, and from there to the network, by the names that people know.
  const std::string report = sojourn_done({"report", target.trace()});
  CHECK(report.contains("D gtpu.rx -> ru"));
  CHECK(report.contains("U air -> network"));
}

TEST_CASE("a map says which rows a row that does not fit takes with it") {
  need_root();
  std::string map = test::contents(std::string(SJ_MAPS) + "/srsran-gnb.toml");
  const std::string row = "pdcp_entity_rx::apply_reordering\"\nnot_in";
  const std::size_t at = map.find(row);
  REQUIRE(at != std::string::npos);
  map.replace(at, 14, "pdcp_entity_rx2");
  CoarseSubject target("gnb-O2", map);
  const test::Ended ended = sojourn(target.with_map("list"));
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains("no function 'pdcp_entity_rx2::apply_reordering'"));
  CHECK(
      ended.err.contains("without U pdcp.reorder--sdap.rx journeys end at U pdcp.crypto--"
                         "pdcp.reorder, and begin anew at U sdap.rx--gtpu.tx\n"));
}

TEST_CASE("a path that lacks points is called by the ends that are there") {
  need_root();
  std::string map = test::contents(std::string(SJ_MAPS) + "/srsran-gnb.toml");
  for (const std::string function : {"sdap_entity_rx_impl::handle_pdu\"\nnot_in",
                                     "gtpu_tunnel_ngu_tx_impl::handle_sdu\"\ndirection"}) {
    const std::size_t at = map.find(function);
    REQUIRE(at != std::string::npos);
    map.insert(at, "not_");
  }
  CoarseSubject target("gnb-O2", map);
  target.record("500ms");
  const std::string report = sojourn_done({"report", target.trace()});
  CAPTURE(report);
  CHECK(report.contains("\nU from air "));
  CHECK(
      report.contains("U: 2 points of the map are not placed: sdap.rx--gtpu.tx, "
                      "gtpu.tx--network; journeys end before them"));
  CHECK(report.contains("\nD gtpu.rx -> ru "));
}

// With 200 MB of symbols, and real-time threads on all CPUs.
TEST_CASE("a target that leaves its tracer no CPU is traced, and its tracer says so") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string program = directory.path("gnb");
  test::copy_with_symbols(coarse_path("gnb-O2"), program, 900'000, 190);
  CHECK(std::filesystem::file_size(program) > 190'000'000);
  test::Child target({program, "real-time"});
  if (!target.wait_for_output("ready")) SKIP("no real-time threads here: " << target.wait().err);
  const std::string pid = std::to_string(target.pid());
  const std::string trace = directory.path("run.sjt");
  setenv("XDG_CACHE_HOME", directory.path("cache").c_str(), 1);
  const std::vector<std::string> record = {"record", "-p", pid,  "--map", "srsran-gnb",
                                           "--for",  "2s", "-o", trace,   "--allow-slow-sites"};
  // Interrupted while it still reads symbols, it has nothing to write.
  test::Child early(
      {"sh", "-c",
       "exec '" SJ_SOJOURN "' record -p " + pid + " --map srsran-gnb -o '" + trace + "' 2>&1"});
  REQUIRE(early.wait_for_output("it drains with SCHED_DEADLINE"));
  early.signal(SIGTERM);
  CHECK(early.wait().exit_code == -1);
  CHECK_FALSE(std::filesystem::exists(trace));
  CHECK_FALSE(std::filesystem::exists(trace + ".partial"));
  for (const bool is_known : {false, true}) {
    CAPTURE(is_known);
    const test::Ended ended = sojourn(record);
    CAPTURE(ended.err);
    REQUIRE(ended.exit_code == 0);
    CHECK(ended.err.contains("the target's real-time threads can take"));
    CHECK(ended.err.contains("it drains with SCHED_DEADLINE, 10 % of a CPU at most"));
    CHECK_FALSE(ended.err.contains("not traced"));
    CHECK_FALSE(ended.err.contains("stripped"));
    const json report = json::parse(sojourn_done({"report", "--json", trace}));
    CHECK(report.at("journeys").at("D").at("complete") > 100);
    CHECK(report.at("journeys").at("U").at("complete") > 100);
    CHECK(report.at("lost") == 0);
  }
  unsetenv("XDG_CACHE_HOME");
  CHECK(target.running());
  CHECK(std::filesystem::exists(directory.path("cache") + "/sojourn/functions"));
}

int policy_of(pid_t pid) {
  return sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK;
}

// A drain is short. Longer work with that priority would keep the target's threads from a CPU for
// milliseconds.
TEST_CASE("a tracer goes before the target's real-time threads to drain, and for nothing else") {
  need_root();
  constexpr int kDeadline = 6;
  const test::TemporaryDirectory directory;
  test::Child target({coarse_path("gnb-O2"), "real-time"});
  if (!target.wait_for_output("ready")) SKIP("no real-time threads here: " << target.wait().err);
  test::Child capture({"sh", "-c",
                       "exec '" SJ_SOJOURN "' record -p " + std::to_string(target.pid()) +
                           " --map srsran-gnb --allow-slow-sites --for 2s -o '" +
                           directory.path("run.sjt") + "' 2>&1"});
  REQUIRE(capture.wait_for_output("it drains with SCHED_DEADLINE"));
  CHECK(policy_of(capture.pid()) == SCHED_OTHER);
  REQUIRE(capture.wait_for_output("attached"));
  CHECK(policy_of(capture.pid()) == kDeadline);
  CHECK(capture.wait().exit_code == 0);
}

}  // namespace
}  // namespace sojourn::live
