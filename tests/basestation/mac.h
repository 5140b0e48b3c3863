// The MAC of the base station. Thread "mac" keeps the slot clock: in each slot it hands out HARQ
// retransmissions first, then new transport blocks and uplink grants, to some UEs in turn. It owns
// the sending RLC of the downlink. It never waits for another stage.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "tests/basestation/context.h"
#include "tests/basestation/mux.h"
#include "tests/basestation/queue.h"

namespace sojourn::basestation {

// The waiting uplink data of a UE as the scheduler knows it: the buffer status report of this air.
// Written by the air's thread, read by the scheduler's.
struct BufferStatus {
  std::atomic<bool> has_data = false;
  std::atomic<std::uint32_t> grants_seen = 0;
};

struct MacQueues {
  std::deque<Queue<Packet>>& rlc;  // of each bearer
  Queue<HarqFeedback>& feedback;
  Queue<StatusTransfer>& statuses;
  Queue<Transmission>& phy;
  Queue<AirItem>& air;  // for the grants
};

class Mac {
 public:
  Mac(Context context, MacQueues queues, std::vector<BufferStatus>& buffers);
  void run();

  struct Counters {
    std::uint64_t slots = 0;
    std::uint64_t late_slots = 0;  // begun more than one slot too late
    std::uint64_t blocks = 0;
    std::uint64_t harq_retransmissions = 0;
    std::uint64_t harq_lost = 0;
  };
  const Counters& counters() const { return counters_; }
  std::uint64_t rlc_retransmissions() const;

 private:
  struct DownProcess {
    std::shared_ptr<const TransportBlock> block;  // null: free
    HitId last_hit = 0;
    std::uint8_t round = 0;
    bool retransmit = false;
  };
  struct UpProcess {
    bool busy = false;
    bool retransmit = false;
    std::uint8_t round = 0;
    std::uint32_t bytes = 0;
  };
  struct Ue {
    std::uint16_t rnti = 0;
    std::vector<MuxBearer> bearers;
    std::size_t turn = 0;
    std::array<DownProcess, kHarqProcesses> down;
    std::array<UpProcess, kHarqProcesses> up;
    // Processes are used in a circle, so that no block lags more than their number behind.
    std::uint8_t next_down = 0;
    std::uint8_t next_up = 0;
    std::uint32_t grants = 0;
  };

  void run_slot();
  void read_feedback();
  void read_down_feedback(Ue& ue, const HarqFeedback& feedback);
  void read_up_feedback(Ue& ue, const HarqFeedback& feedback) const;
  void read_statuses();
  void report(const RlcProgress& progress);

  void schedule_downlink();
  bool send_again(Ue& ue);
  bool send_new(Ue& ue);
  std::shared_ptr<TransportBlock> build(Ue& ue, std::uint8_t harq);
  void place_segment(Segment& segment, RlcTx& tx);
  void transmit(DownProcess& process);
  void lose(DownProcess& process);

  void schedule_uplink();
  bool grant_again(Ue& ue);
  bool grant_new(Ue& ue);
  void grant(Ue& ue, std::uint8_t harq);

  std::uint32_t grant_bytes(double mean);
  Ue& ue(std::uint16_t rnti) { return ues_[static_cast<std::size_t>(rnti - kFirstRnti)]; }

  Context context_;
  MacQueues queues_;
  std::vector<BufferStatus>& buffers_;
  StageFaults faults_;
  StageFaults rlc_faults_;
  std::mt19937_64 channel_;
  double mean_grant_dl_;
  double mean_grant_ul_;
  std::vector<Ue> ues_;
  std::size_t first_dl_ = 0;  // the UE whose turn it is
  std::size_t first_ul_ = 0;
  std::uint32_t slot_ = 0;
  std::uint64_t now_ = 0;
  std::vector<HarqFeedback> feedback_;
  std::vector<StatusTransfer> statuses_;
  RlcProgress progress_;
  Counters counters_;
};

}  // namespace sojourn::basestation
