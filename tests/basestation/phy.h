// The physical layer: thread "dl-phy" hands transmissions to the air; thread "ul-phy" decodes
// receptions, informs the scheduler, and gives up a block after its last round.
#pragma once

#include <array>
#include <vector>

#include "tests/basestation/context.h"
#include "tests/basestation/queue.h"

namespace sojourn::basestation {

class DownlinkPhy {
 public:
  DownlinkPhy(Context context, Queue<Transmission>& input, Queue<AirItem>& air);
  void run();

 private:
  Context context_;
  Queue<Transmission>& input_;
  Queue<AirItem>& air_;
  StageFaults faults_;
};

class UplinkPhy {
 public:
  UplinkPhy(Context context, Queue<Transmission>& input, Queue<Transmission>& mac,
            Queue<HarqFeedback>& feedback);
  void run();

 private:
  void receive(Transmission& transmission);
  void drop(const Transmission& transmission);

  Context context_;
  Queue<Transmission>& input_;
  Queue<Transmission>& mac_;
  Queue<HarqFeedback>& feedback_;
  StageFaults faults_;
  std::vector<std::array<HitId, kHarqProcesses>> last_hit_;  // of each UE's processes
};

}  // namespace sojourn::basestation
