// Units that get their number as they are cut.
#include "analysis/journeys/match/sequence_numbering.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "analysis/journeys/match/sequence_number_queue.h"
#include "tests/unit/journeys/world.h"

namespace sojourn::journeys {
namespace {

using Lines = std::vector<std::string>;
using Place = std::optional<std::int64_t>;
constexpr std::uint64_t kMillisecond = 1'000'000;

// A line that wholes of some lengths join, and out of which pieces come, a microsecond after each
// other.
struct Line {
  SequenceNumberQueue line{0};
  std::uint64_t now_ns = 0;

  void come(std::uint64_t length, std::optional<std::uint64_t> number = {}) {
    line.add({.ts_ns = ++now_ns, .length = length, .number = number});
  }
  Place go(std::uint64_t number, std::uint64_t begin, std::uint64_t end) {
    return line.place_of({.ts_ns = ++now_ns, .number = number, .begin = begin, .end = end}, true);
  }
};

TEST_CASE("numbers go to units in the order in which they came") {
  Line line;
  for (const int length : {100, 200, 300}) line.come(length);
  CHECK(line.go(0, 0, 60) == 0);
  CHECK(line.go(0, 60, 100) == 0);
  CHECK(line.go(1, 0, 200) == 1);
  CHECK(line.go(0, 60, 100) == 0);  // sent again
  CHECK(line.go(2, 0, 300) == 2);
  CHECK(line.line.is_sure());
}

TEST_CASE("a number that is passed over is that of a unit of which no piece was seen") {
  Line line;
  for (const int length : {100, 200, 300}) line.come(length);
  CHECK(line.go(0, 0, 100) == 0);
  CHECK(line.go(2, 0, 300) == 2);
  CHECK(line.go(1, 0, 200) == 1);  // stamped late
}

TEST_CASE("numbers wrap, whatever their width") {
  for (const int bits : {5, 6, 10, 12, 18}) {
    CAPTURE(bits);
    const std::uint64_t all = (std::uint64_t{1} << bits) - 1;
    Line line;
    line.come(100, all - 1);
    CHECK(line.go(all - 1, 0, 100) == 0);
    for (int place = 1; place < 40; ++place) {
      line.come(100);
      const auto number = (all - 1 + static_cast<std::uint64_t>(place)) & all;
      REQUIRE(line.go(number, 0, 100) == place);
      REQUIRE(line.go((number - 1) & all, 0, 100) == place - 1);
    }
  }
}

TEST_CASE("a unit that leaves without a number takes none") {
  Line line;
  for (const int length : {100, 200, 300}) line.come(length);
  CHECK(line.go(0, 0, 100) == 0);
  CHECK(line.line.next_place() == 1);
  line.line.forget_next();
  CHECK(line.go(1, 0, 300) == 1);  // the present place of the third one
  CHECK_FALSE(line.line.next_place());
}

TEST_CASE("the number of a unit that was not seen is not the next one's") {
  Line line;
  line.come(100);
  CHECK(line.go(0, 0, 100) == 0);
  CHECK(line.go(1, 0, 200) == std::nullopt);
  CHECK_FALSE(line.line.is_sure());
  line.come(300);
  CHECK(line.go(2, 0, 300) == 1);
}

TEST_CASE("a piece from the middle of a unit whose beginning was not seen has no SDU") {
  Line line;
  line.come(100);
  CHECK(line.go(17, 60, 100) == std::nullopt);
  CHECK(line.go(18, 0, 100) == 0);
}

TEST_CASE("the first number is certain if the unit had the same one") {
  Line line;
  for (const std::uint64_t number : {40, 41, 42}) line.come(100, number);
  CHECK(line.go(41, 0, 100) == 1);
  CHECK(line.line.is_sure());
  Line other;
  other.come(100, 40);
  CHECK(other.go(7, 0, 100) == 0);
  CHECK_FALSE(other.line.is_sure());
}

TEST_CASE("a line that stands still has no unseen unit in it") {
  Line line;
  line.come(100);
  CHECK(line.go(7, 0, 100) == 0);
  CHECK_FALSE(line.line.is_sure());
  line.now_ns += 20 * kMillisecond;
  line.come(100);
  CHECK(line.line.is_sure());
  CHECK(line.go(8, 0, 100) == 1);
  // Another SDU waits, so a pause proves nothing yet.
  line.line.doubt();
  line.come(100);
  line.now_ns += 20 * kMillisecond;
  line.come(100);
  CHECK_FALSE(line.line.is_sure());
  // A longer pause proves it.
  line.now_ns += 1000 * kMillisecond;
  line.come(300);
  CHECK(line.line.is_sure());
  CHECK(line.go(9, 0, 300) == 4);
}

TEST_CASE("a gap in the numbers that units had before makes the line unsure") {
  Line line;
  line.come(100, 7);
  line.come(100, 8);
  CHECK(line.go(7, 0, 100) == 0);
  CHECK(line.line.is_sure());
  line.come(100, 10);
  CHECK_FALSE(line.line.is_sure());
}

// Twenty SDUs waited before the first one that was seen. Only their lengths differ.
TEST_CASE("lengths identify the numbers' SDUs if the queue's beginning was not seen") {
  std::mt19937 random(3);
  constexpr int kBefore = 20;
  constexpr int kAll = 200;
  std::vector<std::uint64_t> lengths(kAll);
  for (auto& length : lengths) length = 60 + random() % 4 * 100;
  Line line;
  int come = kBefore;
  int wrong = 0;
  for (int number = 0; number < kAll; ++number) {
    for (; come < kAll && come < number + kBefore; ++come)
      line.come(lengths[static_cast<std::size_t>(come)]);
    const auto place = line.go(1000 + static_cast<std::uint64_t>(number), 0,
                               lengths[static_cast<std::size_t>(number)]);
    const Place true_place = number < kBefore ? Place() : Place(number - kBefore);
    if (place == true_place) continue;
    ++wrong;
    CHECK_FALSE(line.line.is_sure());
  }
  CHECK(line.line.is_sure());
  CHECK(wrong <= 2 * kBefore);
}

TEST_CASE("lengths of one kind say nothing") {
  Line line;
  for (int i = 0; i < 100; ++i) {
    line.come(1400);
    CHECK(line.go(1000 + static_cast<std::uint64_t>(i), 0, 1400) == i);
  }
  CHECK_FALSE(line.line.is_sure());
}

TEST_CASE("an empty queue is forgotten") {
  Line line;
  line.come(100);
  CHECK(line.go(0, 0, 100) == 0);
  CHECK_FALSE(line.line.is_forgotten(line.now_ns + 2000 * kMillisecond));
  line.line.forget_first();
  CHECK_FALSE(line.line.is_forgotten(line.now_ns));
  CHECK(line.line.is_forgotten(line.now_ns + 2000 * kMillisecond));
}

// Each UE sends one unit, and is gone.
TEST_CASE("there are not more lines than some time's UEs") {
  constexpr std::uint64_t kUes = 5000;
  model::Schema schema;
  schema.points.push_back(*model::parse_point("D ip.in--rlc.tx", "len:rnti:lcid.psn"));
  schema.points.push_back(*model::parse_point("D rlc.tx--out", "len:rnti:lcid.sn.so"));
  const auto topology = *Topology::derive(schema, Rules{});
  UnitStore store(topology);
  SequenceNumbering numbering;
  for (std::uint64_t ue = 0; ue < kUes; ++ue) {
    const auto now_ns = (ue + 1) * 10 * kMillisecond;
    const std::array<std::uint64_t, 4> waits = {100, ue, 4, 0};
    const std::array<std::uint64_t, 5> cut = {100, ue, 4, 0, 0};
    auto& whole = *store.create({.ts_ns = now_ns, .point = 0, .values = waits}, 2 * ue + 1, 0);
    auto& piece = *store.create({.ts_ns = now_ns, .point = 1, .values = cut}, 2 * ue + 2, 0);
    store.retain(&whole);
    store.retain(&piece);
    whole.set(kListed);
    numbering.add(whole, topology.points[0]);
    CHECK(numbering.find(piece, topology.points[1], true).whole == &whole);
    whole.clear(kListed);
    store.release(&whole);
    store.release(&piece);
  }
  CHECK(numbering.lines() <= 1024);
}

constexpr const char* kCut = R"(
  D ip.in--rlc.tx len:rnti:lcid.psn
  D rlc.tx--rlc.drop :rnti:lcid.psn
  D rlc.tx--mac.mux len:rnti:lcid.sn.so
  D mac.mux--out len:rnti:lcid.sn.so
)";

TEST_CASE("a unit that is numbered as it is cut keeps its pieces together") {
  World world(kCut);
  world.events(R"(
    100 t1 D ip.in--rlc.tx 1000 1 4 70
    110 t1 D ip.in--rlc.tx 500 1 4 71
    120 t1 D ip.in--rlc.tx 300 1 4 72
    200 t2 D rlc.tx--mac.mux 600 1 4 0 0
    210 t2 D mac.mux--out 600 1 4 0 0
    220 t2 D rlc.tx--mac.mux 400 1 4 0 600
    230 t2 D mac.mux--out 400 1 4 0 600
    240 t2 D rlc.tx--mac.mux 500 1 4 1 0
    250 t2 D mac.mux--out 500 1 4 1 0
    260 t2 D rlc.tx--mac.mux 300 1 4 2 0
    270 t2 D mac.mux--out 300 1 4 2 0
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..230: ip.in--rlc.tx@100 rlc.tx--mac.mux@200<0 mac.mux--out@210<1 "
              "rlc.tx--mac.mux@220<0 mac.mux--out@230<3*",
              "D complete 110..250: ip.in--rlc.tx@110 rlc.tx--mac.mux@240<0 mac.mux--out@250<1*",
              "D complete 120..270: ip.in--rlc.tx@120 rlc.tx--mac.mux@260<0 mac.mux--out@270<1*"});
  for (const auto& seen : world.seen()) CHECK_FALSE(seen.journey.ambiguous);
}

TEST_CASE("a unit that is dropped before it is cut takes no number") {
  World world(kCut);
  world.events(R"(
    100 t1 D ip.in--rlc.tx 1000 1 4 70
    110 t1 D ip.in--rlc.tx 500 1 4 71
    130 t1 D rlc.tx--rlc.drop 1 4 70
    240 t2 D rlc.tx--mac.mux 500 1 4 0 0
    250 t2 D mac.mux--out 500 1 4 0 0
  )");
  CHECK(world.journeys() ==
        Lines{"D dropped 100..130: ip.in--rlc.tx@100 rlc.tx--rlc.drop@130<0",
              "D complete 110..250: ip.in--rlc.tx@110 rlc.tx--mac.mux@240<0 mac.mux--out@250<1*"});
}

TEST_CASE("lines of bearers and of UEs are lines of their own") {
  World world(kCut);
  world.events(R"(
    100 t1 D ip.in--rlc.tx 100 1 4 70
    110 t1 D ip.in--rlc.tx 100 1 5 70
    120 t1 D ip.in--rlc.tx 100 2 4 70
    200 t2 D rlc.tx--mac.mux 100 2 4 0 0
    210 t2 D rlc.tx--mac.mux 100 1 5 0 0
    220 t2 D rlc.tx--mac.mux 100 1 4 0 0
    230 t2 D mac.mux--out 100 1 4 0 0
    240 t2 D mac.mux--out 100 1 5 0 0
    250 t2 D mac.mux--out 100 2 4 0 0
  )");
  auto journeys = world.journeys();
  std::ranges::sort(journeys);
  CHECK(journeys ==
        Lines{"D complete 100..230: ip.in--rlc.tx@100 rlc.tx--mac.mux@220<0 mac.mux--out@230<1*",
              "D complete 110..240: ip.in--rlc.tx@110 rlc.tx--mac.mux@210<0 mac.mux--out@240<1*",
              "D complete 120..250: ip.in--rlc.tx@120 rlc.tx--mac.mux@200<0 mac.mux--out@250<1*"});
}

TEST_CASE("a number that no radio uses has no SDU, and the queue goes on") {
  World world(kCut);
  world.events(R"(
    100 t1 D ip.in--rlc.tx 100 1 4 70
    110 t1 D ip.in--rlc.tx 100 1 4 71
    200 t2 D rlc.tx--mac.mux 100 1 4 0 0
    210 t2 D mac.mux--out 100 1 4 0 0
    220 t2 D rlc.tx--mac.mux 100 1 4 18446744073709551615 0
    230 t2 D rlc.tx--mac.mux 100 1 4 1 0
    240 t2 D mac.mux--out 100 1 4 1 0
  )");
  CHECK(world.journeys() ==
        Lines{"D complete 100..210: ip.in--rlc.tx@100 rlc.tx--mac.mux@200<0 mac.mux--out@210<1*",
              "D complete 110..240: ip.in--rlc.tx@110 rlc.tx--mac.mux@230<0 mac.mux--out@240<1*",
              "D censored 220..220: rlc.tx--mac.mux@220"});
}

// Random traffic of some UEs and bearers, each with a queue of its own, over kCut's points: packets
// come, are dropped, sent in pieces, and sent again.
class Traffic {
 public:
  explicit Traffic(unsigned seed) : random_(seed) {
    for (int step = 0; step < 3000; ++step) {
      const auto which = random_() % kQueues;
      const auto dice = random_() % 20;
      if (dice < 6)
        come(which);
      else if (dice < 7)
        drop(which);
      else if (dice < 9)
        send_again(which);
      else
        send(which);
    }
  }

  const std::string& events() const { return events_; }
  // The times of each packet's events.
  std::set<std::set<std::uint64_t>> ways() const {
    std::set<std::set<std::uint64_t>> ways;
    for (const Packet& packet : packets_) ways.insert(packet.way);
    return ways;
  }

 private:
  static constexpr std::size_t kQueues = 6;

  struct Packet {
    std::uint64_t length = 0;
    std::uint64_t psn = 0;
    std::uint64_t sn = 0;
    std::uint64_t last_begin = 0;
    std::uint64_t sent = 0;
    std::set<std::uint64_t> way;
  };
  struct Queue {
    std::deque<std::size_t> waiting;
    std::optional<std::size_t> sending;  // something of it was sent already
    std::uint64_t next_psn = 0;
    std::uint64_t next_sn = 0;
  };

  void tell(Packet& packet, std::size_t which, std::string_view point, const std::string& values) {
    now_ns_ += 1 + random_() % 1000;
    packet.way.insert(now_ns_);
    events_ += fmt::format("{} t{} D {} {}\n", now_ns_, which + 1, point, values);
  }

  void come(std::size_t which) {
    auto& queue = queues_[which];
    queue.waiting.push_back(packets_.size());
    auto& packet = packets_.emplace_back();
    packet.length = 1 + random_() % 1500;
    packet.psn = queue.next_psn++;
    tell(packet, which, "ip.in--rlc.tx",
         fmt::format("{} {} {} {}", packet.length, which / 2, which % 2, packet.psn));
  }

  void drop(std::size_t which) {
    auto& queue = queues_[which];
    if (queue.waiting.empty() || queue.waiting.front() == queue.sending) return;
    auto& packet = packets_[queue.waiting.front()];
    queue.waiting.pop_front();
    tell(packet, which, "rlc.tx--rlc.drop",
         fmt::format("{} {} {}", which / 2, which % 2, packet.psn));
  }

  void send(std::size_t which) {
    auto& queue = queues_[which];
    if (queue.waiting.empty()) return;
    auto& packet = packets_[queue.waiting.front()];
    if (queue.sending != queue.waiting.front()) packet.sn = queue.next_sn++;
    queue.sending = queue.waiting.front();
    packet.last_begin = packet.sent;
    packet.sent = std::min(packet.length, packet.sent + 1 + random_() % 1000);
    send_piece(which, packet);
    if (packet.sent == packet.length) queue.waiting.pop_front();
  }

  void send_again(std::size_t which) {
    if (queues_[which].sending) send_piece(which, packets_[*queues_[which].sending]);
  }

  void send_piece(std::size_t which, Packet& packet) {
    const auto piece = fmt::format("{} {} {} {} {}", packet.sent - packet.last_begin, which / 2,
                                   which % 2, packet.sn, packet.last_begin);
    tell(packet, which, "rlc.tx--mac.mux", piece);
    tell(packet, which, "mac.mux--out", piece);
  }

  std::mt19937 random_;
  std::array<Queue, kQueues> queues_;
  std::vector<Packet> packets_;
  std::uint64_t now_ns_ = 0;
  std::string events_;
};

std::set<std::uint64_t> times_in(const std::string& words) {
  std::set<std::uint64_t> times;
  for (auto at = words.find('@'); at != std::string::npos; at = words.find('@', at + 1))
    times.insert(std::stoull(words.substr(at + 1)));
  return times;
}

TEST_CASE("each packet of random traffic that is numbered as it is cut has its own segments") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Traffic traffic(seed);
    World world(kCut);
    world.events(traffic.events());
    std::set<std::set<std::uint64_t>> ways;
    for (const auto& words : world.journeys()) ways.insert(times_in(words));
    CHECK(ways == traffic.ways());
    for (const auto& seen : world.seen()) CHECK_FALSE(seen.journey.ambiguous);
  }
}

TEST_CASE("if the units that waited at the start are unknown, the owner of a number is flagged") {
  World world(kCut);
  world.events(R"(
    100 t1 D ip.in--rlc.tx 100 1 4 70
    200 t2 D rlc.tx--mac.mux 100 1 4 12 0
    210 t2 D mac.mux--out 100 1 4 12 0
  )");
  CHECK(world.journeys().size() == 1);
  REQUIRE(world.seen().size() == 1);
  CHECK(world.seen()[0].journey.ambiguous);
  CHECK(world.seen()[0].doubts == Lines{"1 number"});
}

TEST_CASE("lost events make lines unsure") {
  World world(kCut);
  world.events(R"(
    100 t1 D ip.in--rlc.tx 100 1 4 70
    200 t2 D rlc.tx--mac.mux 100 1 4 0 0
    210 t2 D mac.mux--out 100 1 4 0 0
  )");
  world.lose(1);
  world.events(R"(
    300 t1 D ip.in--rlc.tx 100 1 4 71
    400 t2 D rlc.tx--mac.mux 100 1 4 1 0
    410 t2 D mac.mux--out 100 1 4 1 0
  )");
  CHECK(world.journeys().size() == 2);
  REQUIRE(world.seen().size() == 2);
  CHECK_FALSE(world.seen()[0].journey.ambiguous);
  CHECK(world.seen()[1].journey.ambiguous);
}

}  // namespace
}  // namespace sojourn::journeys
