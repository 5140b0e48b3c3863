#include "tests/cli/nr_uplink.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

namespace sojourn::cli_tests {
namespace {

constexpr std::uint64_t kSlot_us = 500;
constexpr std::uint64_t kSlotsOfFrame = 20;
constexpr std::uint64_t kFrames = 1024;
constexpr std::size_t kProcesses = 16;
constexpr unsigned kRounds = 4;
constexpr std::uint64_t kSequence =
    64;  // far below a real one's, so that it wraps every few seconds

struct Piece {
  std::size_t packet = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Block {
  std::vector<Piece> pieces;
  bool signalling = false;  // of the other bearer, whose units have no MAC points
  bool status = false;      // a status PDU is in it as well
  bool busy = false;
  unsigned round = 0;
  std::uint64_t due_slot = 0;
  std::optional<std::size_t> retx;         // the event that asked for this round
  std::optional<std::size_t> demodulated;  // in the round before
  std::optional<std::size_t> decoded;
};

// One packet of a bearer: sent in segments, and reassembled from those that arrived.
struct Sdu {
  std::uint64_t sn = 0;
  std::uint32_t bytes = 0;
  std::uint32_t next = 0;    // first byte not sent yet
  std::vector<Piece> again;  // lost: to be sent again
  std::vector<bool> have;    // by byte
  std::vector<std::size_t> held;
  std::size_t whole = 0;  // the event at which it was put together
  std::uint64_t whole_us = 0;
  bool done = false;
};

class Radio {
 public:
  Radio(std::uint32_t seed, std::size_t packets, NrShape shape)
      : random_(seed), wanted_(packets), shape_(std::move(shape)) {}

  NrUplink run() {
    while (made_.packets.size() + made_.late < wanted_) {
      ++slot_;
      now_us_ = std::max(now_us_, kStart_us + slot_ * kSlot_us);
      offer();
      if (slot_ % kSlotsOfFrame % 10 > 6) receive();
    }
    return std::move(made_);
  }

 private:
  static constexpr std::uint64_t kStart_us = 1'700'000'000'000'000;

  bool chance(unsigned percent) { return random_() % 100 < percent; }

  std::size_t event(const std::string& what, std::vector<std::size_t> parents) {
    now_us_ += random_() % shape_.apart_us;
    made_.text += fmt::format("{}.{:06} U {}\n", now_us_ / 1'000'000, now_us_ % 1'000'000, what);
    made_.events.push_back({std::move(parents), std::nullopt});
    return made_.events.size() - 1;
  }

  // The ids of a block, with its round before or behind the local ids.
  std::string ids_of(const std::string& ids, std::size_t id, unsigned round) const {
    if (!shape_.round.empty()) return fmt::format("{}{}::{}.hqpid{}", shape_.round, round, ids, id);
    return fmt::format("::{}.hqpid{}.hqround{}", ids, id, round);
  }

  std::string when() const {
    return fmt::format("fm{}.sl{}", slot_ / kSlotsOfFrame % kFrames, slot_ % kSlotsOfFrame);
  }

  void offer() {
    if (chance(2) && data_.size() - first_ < 8) {
      Sdu sdu;
      sdu.sn = data_.size() % kSequence;
      sdu.bytes = 20 + static_cast<std::uint32_t>(random_() % 300);
      sdu.have.assign(sdu.bytes, false);
      data_.push_back(std::move(sdu));
    }
  }

  // The next bytes that want to be sent, at most `room`.
  std::optional<Piece> pull(std::uint32_t room) {
    for (std::size_t i = first_; i < data_.size(); ++i) {
      auto& sdu = data_[i];
      if (sdu.done) continue;
      if (!sdu.again.empty()) {
        auto& lost = sdu.again.back();
        const Piece piece = {i, lost.begin, std::min(lost.end, lost.begin + room)};
        lost.begin = piece.end;
        if (lost.begin == lost.end) sdu.again.pop_back();
        return piece;
      }
      if (sdu.next == sdu.bytes) continue;
      const Piece piece = {i, sdu.next, std::min(sdu.bytes, sdu.next + room)};
      sdu.next = piece.end;
      return piece;
    }
    return std::nullopt;
  }

  void receive() {
    for (std::size_t id = 0; id < kProcesses; ++id)
      if (blocks_[id].busy && blocks_[id].due_slot <= slot_) {
        decode(id);
        return;
      }
    auto& block = blocks_[next_process_];
    if (block.busy) return;
    const auto id = next_process_;
    next_process_ = (next_process_ + 1) % kProcesses;
    block = {};
    block.busy = true;
    block.signalling = chance(4);
    block.status = chance(10);
    auto room = 12 + static_cast<std::uint32_t>(random_() % 150);
    for (int turn = 0; turn < 3 && room > 0 && !block.signalling; ++turn) {
      const auto piece = pull(room);
      if (!piece) break;
      room -= piece->end - piece->begin;
      block.pieces.push_back(*piece);
    }
    decode(id);
  }

  void decode(std::size_t id) {
    auto& block = blocks_[id];
    const auto ids = ids_of(when(), id, block.round);
    const bool just_comes = block.round > 0 && !block.retx;
    std::vector<std::size_t> before;
    if (just_comes) before = made_.events[*block.demodulated].parents;
    if (block.retx) before.push_back(*block.retx);
    const auto demodulated =
        event("phy.demodulatestart--phy.demodulateend " + ids, std::move(before));
    const auto decoded = event("phy.demodulateend--mac.decoded " + ids, {demodulated});
    if (just_comes) {
      made_.events[demodulated].repeat_of = block.demodulated;
      made_.events[decoded].repeat_of = block.decoded;
      rounds_.insert(demodulated);
    }
    block.demodulated = demodulated;
    block.decoded = decoded;
    if (chance(25)) {
      again(id, decoded);
      return;
    }
    const auto demuxed = event(fmt::format("mac.decoded--mac.demuxed len200{}{}.mcs9.ldpciter{}",
                                           shape_.round.empty() ? "" : ".", ids, 1 + random_() % 5),
                               {decoded});
    block.busy = false;
    if (block.signalling) signal();
    if (block.status) take_out(id, demuxed, 3);
    for (const auto& piece : block.pieces) arrive(id, demuxed, piece);
    if (chance(50)) std::ranges::rotate(free_, free_.begin() + 1);
  }

  // Another round, or none any more.
  void again(std::size_t id, std::size_t decoded) {
    auto& block = blocks_[id];
    if (block.round + 1 == kRounds) {
      event(fmt::format("mac.decoded--mac.retxdrop ::{}.hqpid{}", when(), id), {decoded});
      ++made_.lost_blocks;
      block.busy = false;
      for (const auto& piece : block.pieces) data_[piece.packet].again.push_back(piece);
      return;
    }
    block.due_slot = slot_ + 8 + random_() % 20;
    block.retx.reset();
    if (!shape_.asks_again || (shape_.unasked > 0 && chance(shape_.unasked))) {
      ++block.round;
      return;
    }
    const auto stamp =
        fmt::format("fmrtx{}.slrtx{}", slot_ / kSlotsOfFrame % kFrames, slot_ % kSlotsOfFrame);
    const auto asked =
        event(fmt::format("mac.decoded--mac.retx.highnoise ::{}.{}.hqpid{}", when(), stamp, id),
              {decoded});
    ++block.round;
    block.retx =
        event("mac.retx.highnoise--phy.demodulatestart " + ids_of(stamp, id, block.round), {asked});
    rounds_.insert(*block.retx);
    // Beside rounds that were not requested, this would look like two senders.
    if (shape_.unasked > 0 || !chance(6)) return;
    // The UE did not hear of it and sends the data anew, in another block: this round never comes.
    block.busy = false;
    for (const auto& piece : block.pieces) data_[piece.packet].again.push_back(piece);
  }

  std::size_t take_out(std::size_t id, std::size_t demuxed, std::uint32_t bytes) {
    // The buffer that was given back last is taken first.
    if (shape_.one_buffer) free_.assign(1, free_.front());
    buffer_ = free_.front();
    return event(fmt::format("mac.demuxed--rlc.decoded len{}::{}.lcid4.hqpid{}.MRbuf{}", bytes,
                             when(), id, buffer_),
                 {demuxed});
  }

  void arrive(std::size_t id, std::size_t demuxed, const Piece& piece) {
    auto& sdu = data_[piece.packet];
    const auto length = piece.end - piece.begin;
    if (!shape_.one_buffer) std::rotate(free_.begin(), free_.begin() + 1, free_.begin() + 5);
    const auto taken = take_out(id, demuxed, length + 3);
    const auto bytes = sdu.have.begin() + piece.begin;
    // Sent again although it is here: thrown away without a word.
    if (sdu.done || std::all_of(bytes, bytes + length, [](bool have) { return have; })) return;
    std::fill(bytes, bytes + length, true);
    sdu.held.push_back(put_aside(sdu.sn, piece.begin, length, {taken}));
    if (std::ranges::all_of(sdu.have, [](bool have) { return have; })) {
      put_together(sdu);
    } else if (chance(8)) {
      sdu.again.push_back(chance(50) ? piece : Piece{piece.packet, 0, sdu.next});
    }
  }

  std::size_t put_aside(std::uint64_t sn, std::uint32_t begin, std::uint32_t length,
                        std::vector<std::size_t> parents) {
    return event(fmt::format("rlc.decoded--rlc.reassembled len{}::MRbuf{}.p{}.si{}.sn{}.so{}",
                             length, buffer_, random_() % 2, begin == 0 ? 1 : 2, sn, begin),
                 std::move(parents));
  }

  // Packets of the signalling bearer have numbers of their own, too, and only points of RLC and
  // PDCP.
  void signal() {
    buffer_ = free_[random_() % free_.size()] + 1;
    const auto sn = signals_++ % kSequence;
    const auto bytes = 10 + static_cast<std::uint32_t>(random_() % 40);
    if (chance(70)) {
      const auto piece = put_aside(sn, 0, bytes, {});
      event(fmt::format("rlc.reassembled--pdcp.decoded len{}::sn{}", bytes, sn), {piece});
      return;
    }
    // A first piece whose second one never comes, because the bearer begins anew. Data has just had
    // its number, and will not have it again for a second and more.
    const auto used = data_.empty() ? 0 : data_.back().sn;
    put_aside((used + kSequence - 10) % kSequence, 0, chance(50) ? bytes : 2000, {});
    ++made_.leftovers;
  }

  void put_together(Sdu& sdu) {
    sdu.done = true;
    sdu.whole = event(fmt::format("rlc.reassembled--pdcp.decoded len{}::sn{}", sdu.bytes, sdu.sn),
                      sdu.held);
    sdu.whole_us = now_us_;
    const auto at = static_cast<std::size_t>(&sdu - data_.data());
    if (at != first_) {
      waiting_[at] = event(
          fmt::format("pdcp.decoded--pdcp.outoforder len{}::sn{}", sdu.bytes, sdu.sn), {sdu.whole});
      ++made_.reordered;
      return;
    }
    deliver(at, "pdcp.decoded", sdu.whole);
    for (++first_; first_ < data_.size() && data_[first_].done; ++first_)
      deliver(first_, "pdcp.outoforder", waiting_.at(first_));
  }

  void deliver(std::size_t at, const std::string& from, std::size_t before) {
    const auto& sdu = data_[at];
    if (chance(2)) {
      event(fmt::format("{}--pdcp.discarded.late ::sn{}", from, sdu.sn), {before});
      ++made_.late;
      return;
    }
    const auto delivered =
        event(fmt::format("{}--sdap.sdu len{}::sn{}", from, sdu.bytes, sdu.sn), {before});
    NrUplink::Packet packet;
    packet.out =
        event(fmt::format("sdap.sdu--gtp.out len{}::sn{}", sdu.bytes, sdu.sn), {delivered});
    packet.segments = sdu.held.size();
    collect(packet.out, packet.events);
    for (const auto each : packet.events) {
      packet.harq_rounds += rounds_.contains(each) ? 1 : 0;
    }
    made_.packets.push_back(std::move(packet));
  }

  void collect(std::size_t at, std::set<std::size_t>& into) const {
    if (!into.insert(at).second) return;
    for (const auto parent : made_.events[at].parents) collect(parent, into);
    if (const auto earlier = made_.events[at].repeat_of) collect(*earlier, into);
  }

  std::mt19937 random_;
  std::size_t wanted_;
  NrShape shape_;
  NrUplink made_;
  std::uint64_t now_us_ = kStart_us;
  std::uint64_t slot_ = 0;
  std::vector<Sdu> data_;
  std::size_t first_ = 0;                       // not delivered yet
  std::map<std::size_t, std::size_t> waiting_;  // out of order: packet to event
  std::uint64_t signals_ = 0;
  std::set<std::size_t> rounds_;  // events that asked for another round, or are one
  std::array<Block, kProcesses> blocks_;
  std::size_t next_process_ = 0;
  std::deque<std::uint64_t> free_ = {1931185666, 1931185671, 1931190024,
                                     1931190032, 1931190040, 1931198208};
  std::uint64_t buffer_ = 0;
};

}  // namespace

NrUplink make_nr_uplink(std::uint32_t seed, std::size_t packets, const NrShape& shape) {
  return Radio(seed, packets, shape).run();
}

}  // namespace sojourn::cli_tests
