// Thread "ul-mac": takes transport blocks apart, reassembles RLC SDUs for PDCP, and carries status
// PDUs between the uplink and the scheduler.
#pragma once

#include <memory>
#include <vector>

#include "tests/basestation/context.h"
#include "tests/basestation/queue.h"
#include "tests/basestation/rlc_rx.h"

namespace sojourn::basestation {

class UplinkMac final : private RlcEvents {
 public:
  UplinkMac(Context context, Queue<Transmission>& input, Queue<Packet>& pdcp,
            Queue<StatusTransfer>& statuses);
  void run();

 private:
  void demultiplex(const Transmission& transmission, std::uint64_t now);
  void receive(Segment segment, const Transmission& transmission, std::uint64_t now);
  void tick(std::uint64_t now);
  void send_status(std::uint32_t bearer, std::uint64_t now);

  void delivered(const RxSdu& sdu) override;
  void given_up(const RxSdu& sdu) override;
  void duplicate(const Segment& segment) override;

  Context context_;
  Queue<Transmission>& input_;
  Queue<Packet>& pdcp_;
  Queue<StatusTransfer>& statuses_;
  StageFaults faults_;
  std::vector<std::unique_ptr<RlcRx>> rlc_;  // of each bearer
  std::vector<Packet> reassembled_;
};

}  // namespace sojourn::basestation
