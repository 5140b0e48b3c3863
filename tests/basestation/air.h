// Thread "air": the radio channel and all UEs behind it. It loses transport blocks, answers with
// HARQ feedback, receives the downlink's RLC and sends its status PDUs, and makes the uplink's
// traffic: packets, their RLC, and a transport block for each grant. Nothing in here is a part of
// the base station, so no point is hit.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "tests/basestation/arrivals.h"
#include "tests/basestation/context.h"
#include "tests/basestation/mac.h"
#include "tests/basestation/mux.h"
#include "tests/basestation/queue.h"
#include "tests/basestation/rlc_rx.h"

namespace sojourn::basestation {

class Air final : private RlcEvents {
 public:
  Air(Context context, Queue<AirItem>& input, Queue<HarqFeedback>& feedback,
      Queue<Transmission>& phy, std::vector<BufferStatus>& buffers);
  void run();

  std::uint64_t rlc_retransmissions() const;

 private:
  struct Ue {
    std::vector<MuxBearer> bearers;
    std::vector<std::unique_ptr<RlcRx>> rlc_rx;
    std::array<std::shared_ptr<const TransportBlock>, kHarqProcesses> uplink;
    std::size_t turn = 0;
  };

  void offer_traffic(Arrivals& arrivals);
  void receive(const Transmission& transmission);
  void use(const Grant& grant);
  void send(const Grant& grant);
  void tick();
  void take_status(Ue& ue, std::uint16_t rnti, std::size_t bearer);
  void report_buffer(std::uint16_t rnti);
  void report_progress();
  bool lost() { return chance_(channel_) < context_.config.air_loss; }
  Ue& ue(std::uint16_t rnti) { return ues_[static_cast<std::size_t>(rnti - kFirstRnti)]; }

  void delivered(const RxSdu& sdu) override;
  void given_up(const RxSdu& sdu) override;
  void duplicate(const Segment& segment) override;

  Context context_;
  Queue<AirItem>& input_;
  Queue<HarqFeedback>& feedback_;
  Queue<Transmission>& phy_;
  std::vector<BufferStatus>& buffers_;
  std::mt19937_64 channel_;
  std::uniform_real_distribution<double> chance_{0.0, 1.0};
  std::deque<Queue<Packet>> rlc_queues_;
  std::vector<std::uint32_t> next_psn_;
  std::vector<Ue> ues_;
  std::uint64_t now_ = 0;
  RlcProgress progress_;
};

}  // namespace sojourn::basestation
