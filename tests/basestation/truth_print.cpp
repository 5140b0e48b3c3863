#include "tests/basestation/truth_print.h"

#include <cstdio>

#include "tests/basestation/truth.h"
#include "userspace/base/fail_errno.h"

namespace sojourn::basestation {
namespace {

using truth::Truth;

char letter(truth::Direction direction) {
  return direction == truth::Direction::kDown ? 'D' : 'U';
}

void print_packet(const Truth& truth, const truth::PacketTruth& packet) {
  std::string fate = "in flight";
  if (packet.fate == truth::Fate::kDelivered) {
    fate = fmt::format("delivered {}", packet.ended_ns);
  } else if (packet.fate == truth::Fate::kDropped) {
    fate = fmt::format("dropped {} in {}", packet.ended_ns, truth.places[packet.place]);
  }
  fmt::print("packet {:#x} {} rnti {} drb {} bytes {} created {} {}\n", packet.id,
             letter(packet.direction), packet.rnti, packet.drb, packet.bytes, packet.created_ns,
             fate);
}

void print_hit(const Truth& truth, const truth::Hit& hit) {
  const truth::PointName& point = truth.points[hit.point];
  std::string line = fmt::format("hit {:#x} {} {} tid {} {} {}", hit.id, hit.before_ns,
                                 hit.after_ns, hit.tid, point.where, point.fields);
  for (std::size_t index = 0; index < hit.values.size(); ++index) {
    line += fmt::format("{}{}", index == 0 ? ' ' : ',', hit.values[index]);
  }
  for (const truth::HitId parent : hit.parents) line += fmt::format(" parent {:#x}", parent);
  if (hit.repeat_of != 0) line += fmt::format(" repeats {:#x}", hit.repeat_of);
  for (const truth::Piece& piece : hit.pieces) {
    line += fmt::format(" packet {:#x}[{},{})", piece.packet, piece.lo, piece.hi);
  }
  fmt::print("{}\n", line);
}

void print_queue_op(const Truth& truth, const truth::QueueOp& op) {
  fmt::print("queue {} {} {} depth {} item {:#x} tid {}\n", op.ts_ns, truth.queues[op.queue].name,
             op.action == truth::QueueAction::kEnqueue ? "in" : "out", op.depth, op.item, op.tid);
}

void print_preemption(const truth::Preemption& preemption) {
  fmt::print("preemption {} {} of tid {} by tid {} on cpu {}{}\n", preemption.begin_ns,
             preemption.end_ns, preemption.victim_tid, preemption.tid, preemption.cpu,
             preemption.has_precedence ? "" : ", as an equal");
}

}  // namespace

Result<void> print_truth(const std::string& path) {
  SJ_TRY(truth, truth::read_truth(path));
  for (const truth::PacketTruth& packet : truth.packets) print_packet(truth, packet);
  for (const truth::Hit& hit : truth.hits) print_hit(truth, hit);
  for (const truth::QueueOp& op : truth.queue_ops) print_queue_op(truth, op);
  for (const truth::Preemption& preemption : truth.preemptions) print_preemption(preemption);
  if (std::fflush(stdout) != 0) return fail_errno("write the truth's text");
  return {};
}

}  // namespace sojourn::basestation
