// SDAP and PDCP: headers and numbering on the way down (thread "dl-pdcp"), reordering on the way up
// (thread "ul-pdcp"). Every bearer carries one QoS flow, so SDAP is its one byte of header.
// Sequence numbers are 12 or 18 bits on the air and 32 bits (COUNT) inside.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "tests/basestation/context.h"
#include "tests/basestation/queue.h"

namespace sojourn::basestation {

class DownlinkPdcp {
 public:
  // One RLC queue for each bearer.
  DownlinkPdcp(Context context, Queue<Packet>& input, std::deque<Queue<Packet>>& rlc);
  void run();

 private:
  void process(Packet& packet);
  void drop_in_rlc(const Packet& packet);

  Context context_;
  Queue<Packet>& input_;
  std::deque<Queue<Packet>>& rlc_;
  StageFaults faults_;
  StageFaults rlc_faults_;
  std::vector<std::uint32_t> next_psn_;
};

// Puts one bearer's packets back in order. It has no points.
class Reordering {
 public:
  explicit Reordering(unsigned sn_bits) : modulus_(1U << sn_bits) {}

  // Returns false for a duplicate or a late packet. Otherwise the packets that are in order now are
  // appended to `out`.
  bool receive(const Packet& packet, std::uint64_t now, std::vector<Packet>& out);
  // Gives up missing packets when the timer has run out. (receive() does so when it gets too far.)
  void tick(std::uint64_t now, std::vector<Packet>& out);

 private:
  void give_up(std::vector<Packet>& out);
  void deliver_in_order(std::vector<Packet>& out);
  void restart_timer(std::uint64_t now);

  const std::uint32_t modulus_;
  std::uint32_t next_ = 0;        // COUNT to be delivered next
  std::uint32_t give_up_at_ = 0;  // PDUs below it are waited for no longer
  std::uint64_t timer_ns_ = 0;    // 0: off
  std::map<std::uint32_t, Packet> waiting_;
};

class UplinkPdcp {
 public:
  UplinkPdcp(Context context, Queue<Packet>& input, Queue<Packet>& gtp);
  void run();

 private:
  void process(Packet& packet, std::uint64_t now);
  void hand_over();

  Context context_;
  Queue<Packet>& input_;
  Queue<Packet>& gtp_;
  StageFaults faults_;
  std::vector<Reordering> reordering_;  // of each bearer
  std::vector<std::uint16_t> next_gsn_;
  std::vector<Packet> in_order_;
};

}  // namespace sojourn::basestation
