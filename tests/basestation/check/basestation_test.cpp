// The base station keeps its promises: run it, then question the truth that it wrote.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fmt/format.h>
#include <signal.h>

#include "tests/basestation/check/child.h"
#include "tests/basestation/check/questions.h"

namespace sojourn::basestation {
namespace {

using truth::Fate;
using truth::Hit;
using truth::Truth;

std::set<std::uint64_t> values_of(const Questions& ask, std::string_view where,
                                  std::string_view field) {
  std::set<std::uint64_t> values;
  for (const Hit* hit : ask.hits(where)) values.insert(ask.value(*hit, field));
  return values;
}

std::size_t repeats_in(const std::vector<const Hit*>& hits) {
  return static_cast<std::size_t>(
      std::ranges::count_if(hits, [](const Hit* hit) { return hit->repeat_of != 0; }));
}

void check_all_rules(const Questions& ask) {
  CHECK(ask.parents_come_first() == "");
  CHECK(ask.repeats_come_later() == "");
  CHECK(ask.fields_name_the_packet() == "");
  CHECK(ask.delivered_packets_are_covered() == "");
  CHECK(ask.unfinished_packets_have_no_output() == "");
  CHECK(ask.queues_add_up() == "");
  CHECK(ask.harq_rounds_follow("D mac.harq.down--phy.out.proc") == "");
  CHECK(ask.harq_rounds_follow("U phy.in.ant--phy.in.proc") == "");
  CHECK(ask.am_repeats_cover_sent_bytes() == "");
  CHECK(ask.am_numbers_are_free_when_used() == "");
}

TEST_CASE("the default load keeps all rules and hits every point of a run without trouble") {
  const Truth truth = run_for_truth({"--duration", "2"});
  const Questions ask(truth);
  check_all_rules(ask);
  for (const truth::PointName& point : truth.points) {
    INFO(point.where);
    if (!point.where.ends_with("--drop")) CHECK_FALSE(ask.hits(point.where).empty());
  }
  const auto delivered = [&](truth::Direction direction) {
    return std::ranges::count_if(truth.packets, [&](auto& packet) {
      return packet.direction == direction && packet.fate == Fate::kDelivered;
    });
  };
  CHECK(delivered(truth::Direction::kDown) > 0);
  CHECK(delivered(truth::Direction::kUp) > 0);
}

TEST_CASE("blocks carry several packets and packets are spread over several blocks") {
  const Truth truth = run_for_truth({"--duration", "1", "--ues", "4"});
  const Questions ask(truth);
  const auto shares = [](const Hit* hit) { return hit->parents.size() > 1; };
  CHECK(std::ranges::any_of(ask.hits("D mac.mux--mac.harq.down"), shares));
  CHECK(std::ranges::any_of(ask.hits("U rlc.rx.am--pdcp.rx"), shares));
  CHECK(values_of(ask, "D rlc.seg.um--mac.mux", "so").size() > 1);
  CHECK(values_of(ask, "D rlc.seg.am--mac.mux", "so").size() > 1);
}

TEST_CASE("a bad air brings every HARQ round, exhausted blocks and RLC retransmissions") {
  const Truth truth = run_for_truth({"--duration", "3", "--air-loss", "0.4", "--ues", "5"});
  const Questions ask(truth);
  check_all_rules(ask);
  const std::set<std::uint64_t> all_rounds = {0, 1, 2, 3};
  CHECK(values_of(ask, "D mac.harq.down--phy.out.proc", "round") == all_rounds);
  CHECK(values_of(ask, "U phy.in.ant--phy.in.proc", "round") == all_rounds);
  CHECK_FALSE(ask.hits("D mac.harq.down--drop").empty());
  CHECK_FALSE(ask.hits("U phy.in.proc--drop").empty());
  CHECK_FALSE(ask.hits("U rlc.rx.um--drop").empty());
  CHECK(repeats_in(ask.hits("D rlc.tx.am--rlc.seg.am")) > 0);
  CHECK(ask.dropped_in("mac.harq.down") > 0);
  CHECK(ask.dropped_in("phy.in.proc") > 0);
  const bool am_was_dropped = std::ranges::any_of(truth.packets, [&](auto& packet) {
    return packet.drb % 2 == 0 && packet.fate == Fate::kDropped &&
           truth.places[packet.place] == "mac.harq.down";
  });
  CHECK_FALSE(am_was_dropped);
}

TEST_CASE("an air that destroys everything ends in drops after the last retransmission") {
  const Truth truth =
      run_for_truth({"--duration", "2", "--air-loss", "1", "--ues", "2", "--rate-dl", "500"});
  const Questions ask(truth);
  check_all_rules(ask);
  CHECK(ask.dropped_in("rlc.tx.am") == ask.hits("D rlc.tx.am--drop").size());
  CHECK(ask.dropped_in("rlc.tx.am") > 0);
  CHECK(ask.hits("D rlc.tx.am--rlc.ack").empty());
  CHECK(std::ranges::count(truth.packets, Fate::kDelivered, &truth::PacketTruth::fate) == 0);
}

TEST_CASE("sequence numbers count on and wrap") {
  const Truth truth =
      run_for_truth({"--duration", "3", "--ues", "1", "--pdcp-sn", "12", "--air-loss", "0.1"});
  const Questions ask(truth);
  check_all_rules(ask);
  CHECK(ask.numbers_count_on("D pdcp.in--pdcp.tx", "psn", 4096) == "");
  CHECK(ask.numbers_count_on("D ip.in--pdcp.in", "gsn", 65536) == "");
  CHECK(ask.numbers_count_on("U pdcp.rx--gtp.tx", "gsn", 65536) == "");
  CHECK(ask.hits("D pdcp.in--pdcp.tx").size() > 2 * 4096);
  CHECK(*values_of(ask, "D pdcp.in--pdcp.tx", "psn").rbegin() == 4095);
  CHECK(*values_of(ask, "D rlc.tx.am--rlc.seg.am", "rsn").rbegin() == 4095);
  CHECK(*values_of(ask, "U rlc.rx.um--pdcp.rx", "rsn").rbegin() == 4095);
}

TEST_CASE("a GTP-U sequence number wraps at 16 bits") {
  const Truth truth = run_for_truth({"--duration", "3", "--ues", "1", "--bearers", "1", "--rate-dl",
                                     "45000", "--rate-ul", "0", "--size", "64"});
  const Questions ask(truth);
  CHECK(ask.hits("D ip.in--pdcp.in").size() > 65536);
  const auto gsns = values_of(ask, "D ip.in--pdcp.in", "gsn");
  CHECK(*gsns.rbegin() == 65535);
}

TEST_CASE("uplink packets leave in the order of their PDCP numbers") {
  const Truth truth = run_for_truth({"--duration", "2", "--ues", "3", "--air-loss", "0.2"});
  const Questions ask(truth);
  std::map<std::uint64_t, std::uint64_t> last;  // psn of each bearer; 18 bits do not wrap in 2 s
  bool in_order = true;
  for (const Hit* hit : ask.hits("U pdcp.rx--gtp.tx")) {
    const std::uint64_t bearer = ask.value(*hit, "rnti") << 8 | ask.value(*hit, "drb");
    const std::uint64_t psn = ask.value(*hit, "psn");
    if (last.contains(bearer)) in_order = in_order && psn > last[bearer];
    last[bearer] = psn;
  }
  CHECK(last.size() == 6);
  CHECK(in_order);
}

TEST_CASE("a planted drop ends packets at its point") {
  const Truth truth = run_for_truth({"--duration", "1", "--drop", "pdcp.in:0.1", "--drop",
                                     "pdcp.rx:0.1", "--drop", "rlc.tx:0.1"});
  const Questions ask(truth);
  check_all_rules(ask);
  CHECK(ask.dropped_in("pdcp.in") > 0);
  CHECK(ask.dropped_in("pdcp.in") == ask.hits("D pdcp.in--drop").size());
  CHECK(ask.dropped_in("pdcp.rx") > 0);
  CHECK(ask.dropped_in("pdcp.rx") == ask.hits("U pdcp.rx--drop").size());
  CHECK(ask.dropped_in("rlc.tx.um") > 0);
  CHECK(ask.dropped_in("rlc.tx.um") == ask.hits("D rlc.tx.um--drop").size());
  CHECK(ask.dropped_in("rlc.tx.am") == ask.hits("D rlc.tx.am--drop").size());
}

TEST_CASE("planted drops of transport blocks are repaired by RLC AM") {
  const Truth truth = run_for_truth(
      {"--duration", "2", "--ues", "5", "--drop", "mac:0.02", "--drop", "phy.in:0.02"});
  const Questions ask(truth);
  check_all_rules(ask);
  CHECK_FALSE(ask.hits("D mac.harq.down--drop").empty());
  CHECK_FALSE(ask.hits("U phy.in.proc--drop").empty());
  CHECK(repeats_in(ask.hits("D rlc.tx.am--rlc.seg.am")) > 0);
}

TEST_CASE("a slow stage fills the queue before it, and the overflow is dropped at its point") {
  const Truth truth = run_for_truth({"--duration", "3", "--slow-stage", "pdcp.in:1000"});
  const Questions ask(truth);
  check_all_rules(ask);
  std::uint32_t deepest = 0;
  for (const truth::QueueOp& op : truth.queue_ops) {
    if (truth.queues[op.queue].name == "dl-pdcp") deepest = std::max(deepest, op.depth);
  }
  CHECK(deepest == 4096);
  CHECK_FALSE(ask.hits("D pdcp.in--drop").empty());
}

TEST_CASE("a sleeping stage sleeps") {
  const Truth truth =
      run_for_truth({"--duration", "1", "--rate-dl", "1000", "--sleep-stage", "pdcp.in:30000:100"});
  const Questions ask(truth);
  check_all_rules(ask);
  const auto& hits = ask.hits("D pdcp.in--pdcp.tx");
  REQUIRE(hits.size() > 300);
  const auto gap_ns = [&](std::size_t unit) {
    return hits[unit]->before_ns - hits[unit - 1]->after_ns;
  };
  CHECK(gap_ns(99) >= 30'000'000);
  CHECK(gap_ns(199) >= 30'000'000);
}

TEST_CASE("a preempted stage does nothing while its neighbour has the CPU") {
  const Truth truth = run_for_truth({"--duration", "2", "--preempt", "pdcp.in:10000:50"});
  const Questions ask(truth);
  check_all_rules(ask);
  REQUIRE_FALSE(truth.preemptions.empty());
  std::set<std::uint32_t> stage;
  for (const Hit* hit : ask.hits("D pdcp.in--pdcp.tx")) stage.insert(hit->tid);
  for (const truth::Preemption& preemption : truth.preemptions) {
    CHECK(stage.contains(preemption.victim_tid));
    CHECK(preemption.tid != preemption.victim_tid);
    CHECK(preemption.begin_ns < preemption.end_ns);
  }
  if (!truth.preemptions.front().has_precedence)
    SKIP("SCHED_FIFO is not permitted here: whether the neighbour has precedence is not tested");
  std::size_t inside = 0;
  for (const truth::Preemption& preemption : truth.preemptions)
    for (const Hit& hit : truth.hits)
      inside += hit.tid == preemption.victim_tid && hit.before_ns > preemption.begin_ns &&
                        hit.after_ns < preemption.end_ns
                    ? 1
                    : 0;
  CHECK(inside == 0);
}

TEST_CASE("the same seed offers the same traffic, another seed another") {
  const auto traffic = [](const char* seed) {
    const Truth truth = run_for_truth({"--duration", "1", "--seed", seed});
    std::map<std::uint64_t, std::tuple<unsigned, unsigned, unsigned>> offered;
    for (const truth::PacketTruth& packet : truth.packets) {
      offered[packet.id] = {packet.rnti, packet.drb, packet.bytes};
    }
    return offered;
  };
  const auto first = traffic("7"), again = traffic("7"), other = traffic("8");
  const auto agree = [](const auto& some, const auto& more) {
    return std::ranges::all_of(some, [&](const auto& packet) {
      const auto found = more.find(packet.first);
      return found == more.end() || found->second == packet.second;
    });
  };
  REQUIRE(first.size() > 1000);
  CHECK(agree(first, again));
  CHECK_FALSE(agree(first, other));
}

TEST_CASE("packets have the sizes and bursts that were asked for") {
  const Truth truth =
      run_for_truth({"--duration", "1", "--size", "100:200", "--burst", "10", "--bearers", "4"});
  std::set<std::uint32_t> sizes;
  for (const truth::PacketTruth& packet : truth.packets) {
    sizes.insert(packet.bytes);
    const auto burst_first = (packet.id & 0xffffffff) - 1;
    const truth::PacketTruth* first = truth.find_packet(packet.id - burst_first % 10);
    REQUIRE(first != nullptr);
    REQUIRE(packet.rnti == first->rnti);
    REQUIRE(packet.drb == first->drb);
  }
  CHECK(*sizes.begin() == 100);
  CHECK(*sizes.rbegin() == 200);
}

TEST_CASE("SIGTERM and SIGINT end it cleanly with its summary and the whole truth") {
  const int number = GENERATE(SIGTERM, SIGINT);
  const TemporaryDirectory directory;
  Child child({"--ready-fd", "3", "--truth", directory.path("truth")});
  REQUIRE(child.wait_for_ready_line() == "ready\n");
  child.signal(number);
  const Ended ended = child.wait();
  CHECK(ended.exit_code == 0);
  CHECK(ended.err == "");
  CHECK(ended.out.starts_with("sj-basestation: 20 UEs"));
  const auto truth = truth::read_truth(directory.path("truth"));
  CHECK(truth.has_value());
}

TEST_CASE("wrong options end with code 2 and name the option") {
  const auto [option, value] =
      GENERATE(std::pair("--ues", "0"), std::pair("--bearers", "x"), std::pair("--size", "3"),
               std::pair("--size", "200:100"), std::pair("--pdcp-sn", "13"),
               std::pair("--drop", "ip.in:0.5"), std::pair("--drop", "pdcp.in:2"),
               std::pair("--drop", "pdcp.in:nan"), std::pair("--slow-stage", "nowhere:5"),
               std::pair("--slow-stage", "mac"), std::pair("--sleep-stage", "mac:5"),
               std::pair("--preempt", "mac:5"), std::pair("--preempt", "mac:1000:1"),
               std::pair("--preempt", "nowhere:5:5"), std::pair("--air-loss", "1.5"),
               std::pair("--no-such-option", "1"));
  const Ended ended = run_station({option, value});
  INFO(option << ' ' << value);
  CHECK(ended.exit_code == 2);
  CHECK(ended.err.find(option) != std::string::npos);
  CHECK(ended.out == "");
}

TEST_CASE("a failure at run time ends with code 1 and names the file") {
  const Ended ended = run_station({"--duration", "1", "--truth", "/no/such/directory/truth"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err == "sj-basestation: open /no/such/directory/truth: No such file or directory\n");
}

TEST_CASE("help lists the places for faults") {
  const Ended ended = run_station({"--help"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.find("ip.in, pdcp.in, rlc.tx, mac, phy.out") != std::string::npos);
}

TEST_CASE("a truth file that was cut or damaged is refused") {
  const TemporaryDirectory directory;
  const std::string path = directory.path("truth");
  REQUIRE(run_station({"--duration", "0.1", "--ues", "1", "--rate-dl", "1000", "--rate-ul", "1000",
                       "--truth", path})
              .exit_code == 0);
  std::ifstream file(path, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(file), {});
  const auto read_back = [&](std::string_view bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return truth::read_truth(path).has_value();
  };
  REQUIRE(read_back(whole));
  REQUIRE(whole.size() > 2000);
  for (std::size_t cut = 0; cut < 2000; cut += 7) REQUIRE_FALSE(read_back(whole.substr(0, cut)));
  CHECK_FALSE(read_back(whole.substr(0, whole.size() - 1)));
  CHECK_FALSE(read_back(whole + "x"));
  // Damage of a plain value may go unseen; it must never do harm.
  for (std::size_t at = 8; at < 3000 && at < whole.size(); at += 11) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    (void)read_back(damaged);
  }
}

TEST_CASE("printed truth has a line for each record") {
  const TemporaryDirectory directory;
  const std::string path = directory.path("truth");
  REQUIRE(run_station({"--duration", "0.2", "--truth", path}).exit_code == 0);
  const auto truth = truth::read_truth(path);
  REQUIRE(truth.has_value());
  const Ended printed = run_station({"--print-truth", path});
  CHECK(printed.exit_code == 0);
  CHECK(static_cast<std::size_t>(std::ranges::count(printed.out, '\n')) ==
        truth->hits.size() + truth->packets.size() + truth->queue_ops.size());
}

}  // namespace
}  // namespace sojourn::basestation
