#include "tests/basestation/check/questions.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace sojourn::basestation {
namespace {

using truth::Hit;
using truth::HitId;
using truth::PacketId;
using truth::Piece;

std::vector<std::string> split_fields(std::string_view words) {
  std::vector<std::string> names(1);
  for (const char c : words) {
    if (c == '.' || c == ':') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  return names;
}

bool carries(const Hit& hit, PacketId packet) {
  return std::ranges::find(hit.pieces, packet, &Piece::packet) != hit.pieces.end();
}

bool covers(std::vector<Piece> pieces, std::uint32_t bytes) {
  std::ranges::sort(pieces, {}, &Piece::lo);
  std::uint32_t covered = 0;
  for (const Piece& piece : pieces) {
    if (piece.lo <= covered) covered = std::max(covered, piece.hi);
  }
  return covered == bytes;
}

}  // namespace

Questions::Questions(const truth::Truth& truth) : truth_(truth), by_point_(truth.points.size()) {
  for (const truth::PointName& point : truth.points) fields_.push_back(split_fields(point.fields));
  for (const Hit& hit : truth.hits) by_point_[hit.point].push_back(&hit);
}

const std::vector<const Hit*>& Questions::hits(std::string_view where) const {
  static const std::vector<const Hit*> kNone;
  const auto point = std::ranges::find(truth_.points, where, &truth::PointName::where);
  if (point == truth_.points.end()) return kNone;
  return by_point_[static_cast<std::size_t>(point - truth_.points.begin())];
}

std::size_t Questions::field_index(std::uint16_t point, std::string_view field) const {
  const auto& names = fields_[point];
  const auto found = std::ranges::find(names, field);
  return found == names.end() ? std::string::npos : static_cast<std::size_t>(found - names.begin());
}

std::uint64_t Questions::value(const Hit& hit, std::string_view field) const {
  return hit.values[field_index(hit.point, field)];
}

std::size_t Questions::dropped_in(std::string_view place) const {
  return static_cast<std::size_t>(std::ranges::count_if(truth_.packets, [&](auto& packet) {
    return packet.fate == truth::Fate::kDropped && truth_.places[packet.place] == place;
  }));
}

std::string Questions::show(const Hit& hit) const {
  return fmt::format("hit {:#x} of {} at {} ({})", hit.id, truth_.points[hit.point].where,
                     hit.before_ns, fmt::join(hit.values, ","));
}

std::string Questions::parents_come_first() const {
  for (const Hit& hit : truth_.hits) {
    if (hit.before_ns > hit.after_ns) return show(hit) + " ends before it begins";
    for (const HitId parent_id : hit.parents) {
      const Hit* parent = truth_.find_hit(parent_id);
      if (parent == nullptr) return fmt::format("{} has no parent {:#x}", show(hit), parent_id);
      if (parent->after_ns > hit.before_ns)
        return show(hit) + " is before its parent " + show(*parent);
    }
  }
  return {};
}

std::string Questions::repeats_come_later() const {
  for (const Hit& hit : truth_.hits) {
    if (hit.repeat_of == 0) continue;
    const Hit* earlier = truth_.find_hit(hit.repeat_of);
    if (earlier == nullptr) return show(hit) + " repeats nothing";
    if (earlier->point != hit.point) return show(hit) + " repeats another point";
    if (earlier->after_ns > hit.before_ns) return show(hit) + " repeats what comes later";
  }
  return {};
}

std::string Questions::fields_name_the_packet() const {
  for (const Hit& hit : truth_.hits) {
    if (hit.values.size() != fields_[hit.point].size()) return show(hit) + " has wrong values";
    const std::size_t drb = field_index(hit.point, "drb");
    for (const Piece& piece : hit.pieces) {
      const truth::PacketTruth* packet = truth_.find_packet(piece.packet);
      if (packet == nullptr) return show(hit) + " carries a packet that was never made";
      if (value(hit, "rnti") != packet->rnti) return show(hit) + " has another UE's packet";
      if (drb != std::string::npos && hit.values[drb] != packet->drb) {
        return show(hit) + " has another bearer's packet";
      }
      if (piece.lo > piece.hi || piece.hi > packet->bytes) {
        return show(hit) + " carries bytes beyond its packet";
      }
    }
  }
  return {};
}

bool Questions::is_input(const Hit& hit) const {
  const std::string& where = truth_.points[hit.point].where;
  return where.starts_with("D ip.in--") || where.starts_with("U phy.in.ant--");
}

bool Questions::is_output(const Hit& hit) const {
  const std::string& where = truth_.points[hit.point].where;
  return where.ends_with("--phy.out.ant") || where.ends_with("--ip.out");
}

bool Questions::reaches_input(const Hit& output, PacketId packet) const {
  std::deque<const Hit*> open = {&output};
  for (; !open.empty(); open.pop_front()) {
    if (is_input(*open.front())) return true;
    for (const HitId id : open.front()->parents) {
      const Hit* parent = truth_.find_hit(id);
      if (parent != nullptr && carries(*parent, packet)) open.push_back(parent);
    }
  }
  return false;
}

std::string Questions::delivered_packets_are_covered() const {
  std::unordered_map<PacketId, std::vector<Piece>> out;
  std::unordered_map<PacketId, std::vector<Piece>> in;
  for (const Hit& hit : truth_.hits) {
    for (const Piece& piece : hit.pieces) {
      if (is_input(hit)) in[piece.packet].push_back(piece);
      if (!is_output(hit)) continue;
      if (!reaches_input(hit, piece.packet)) return show(hit) + " came out but never in";
      out[piece.packet].push_back(piece);
    }
  }
  for (const truth::PacketTruth& packet : truth_.packets) {
    if (packet.fate != truth::Fate::kDelivered) continue;
    if (!covers(in[packet.id], packet.bytes)) {
      return fmt::format("packet {:#x} was delivered but did not come in whole", packet.id);
    }
    if (!covers(out[packet.id], packet.bytes)) {
      return fmt::format("packet {:#x} was delivered but did not go out whole", packet.id);
    }
  }
  return {};
}

// Uplink only: on the air the base station cannot know what arrived.
std::string Questions::unfinished_packets_have_no_output() const {
  for (const Hit* hit : hits("U gtp.tx--ip.out")) {
    for (const Piece& piece : hit->pieces) {
      if (truth_.find_packet(piece.packet)->fate != truth::Fate::kDelivered) {
        return show(*hit) + " sent a packet that was not delivered";
      }
    }
  }
  return {};
}

std::string Questions::queues_add_up() const {
  struct State {
    std::uint64_t order = 0;
    std::uint64_t last_ns = 0;
    std::deque<std::uint64_t> items;
  };
  std::vector<State> states(truth_.queues.size());
  for (const truth::QueueOp& op : truth_.queue_ops) {
    const truth::QueueName& queue = truth_.queues[op.queue];
    State& state = states[op.queue];
    const auto wrong = [&](std::string_view what) {
      return fmt::format("queue {}, operation {}: {}", queue.name, op.order, what);
    };
    if (op.order != state.order++) return wrong("an operation is missing");
    if (op.ts_ns < state.last_ns) return wrong("earlier than the one before");
    state.last_ns = op.ts_ns;
    if (op.action == truth::QueueAction::kEnqueue) {
      state.items.push_back(op.item);
    } else {
      if (state.items.empty()) return wrong("taken from an empty queue");
      if (state.items.front() != op.item) return wrong("not first in, first out");
      state.items.pop_front();
    }
    if (op.depth != state.items.size()) return wrong("depth is not ins minus outs");
    if (op.depth > queue.capacity) return wrong("deeper than it can be");
  }
  return {};
}

std::string Questions::numbers_count_on(std::string_view where, std::string_view field,
                                        std::uint64_t modulus) const {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> next;
  for (const Hit* hit : hits(where)) {
    auto& expected = next[{value(*hit, "rnti"), value(*hit, "drb")}];
    if (value(*hit, field) != expected) {
      return fmt::format("{} where {} {} should come", show(*hit), field, expected);
    }
    expected = (expected + 1) % modulus;
  }
  return {};
}

std::string Questions::harq_rounds_follow(std::string_view where) const {
  for (const Hit* hit : hits(where)) {
    const std::uint64_t round = value(*hit, "round");
    if ((round == 0) != (hit->repeat_of == 0)) return show(*hit) + " confuses round and repeat";
    if (round == 0) continue;
    const Hit& earlier = *truth_.find_hit(hit->repeat_of);
    if (value(earlier, "round") + 1 != round || value(earlier, "rnti") != value(*hit, "rnti") ||
        value(earlier, "harq") != value(*hit, "harq") ||
        value(earlier, "slot") >= value(*hit, "slot") ||
        value(earlier, "len") != value(*hit, "len")) {
      return show(*hit) + " does not repeat " + show(earlier);
    }
  }
  return {};
}

std::string Questions::am_repeats_cover_sent_bytes() const {
  std::map<PacketId, std::uint64_t> sent;  // bytes below were sent before
  for (const Hit* hit : hits("D rlc.tx.am--rlc.seg.am")) {
    const std::uint64_t so = value(*hit, "so");
    const std::uint64_t end = so + value(*hit, "len");
    std::uint64_t& before = sent[hit->pieces.front().packet];
    if (hit->repeat_of == 0) {
      if (so != before) return show(*hit) + " is new but does not go on where the last one ended";
      before = end;
      continue;
    }
    const Hit& earlier = *truth_.find_hit(hit->repeat_of);
    const std::uint64_t earlier_so = value(earlier, "so");
    if (end > before) return show(*hit) + " repeats bytes that were never sent";
    if (value(earlier, "rsn") != value(*hit, "rsn") || so < earlier_so ||
        so >= earlier_so + value(earlier, "len")) {
      return show(*hit) + " does not repeat " + show(earlier);
    }
  }
  return {};
}

std::string Questions::am_numbers_are_free_when_used() const {
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // rnti, drb, rsn
  std::map<Key, std::uint64_t> psn_of;
  std::map<Key, Key> number_of;  // rnti, drb, psn: for drops, which have no rsn
  for (const Hit& hit : truth_.hits) {
    const std::string& where = truth_.points[hit.point].where;
    if (!where.starts_with("D rlc.tx.am--")) continue;
    const std::uint64_t rnti = value(hit, "rnti"), drb = value(hit, "drb"), psn = value(hit, "psn");
    if (where.ends_with("--drop")) {
      if (const auto number = number_of.find({rnti, drb, psn}); number != number_of.end()) {
        psn_of.erase(number->second);
      }
      continue;
    }
    const Key key{rnti, drb, value(hit, "rsn")};
    if (where.ends_with("--rlc.ack")) {
      const auto owner = psn_of.find(key);
      if (owner == psn_of.end() || owner->second != psn) return show(hit) + " acknowledges nothing";
      psn_of.erase(owner);
      continue;
    }
    number_of[{rnti, drb, psn}] = key;
    if (psn_of.emplace(key, psn).first->second != psn)
      return show(hit) + " uses a number in flight";
  }
  return {};
}

}  // namespace sojourn::basestation
