// Assembles the base station: queues, stages, threads. start() starts everything. stop() ends it in
// the pipeline's order; units in the pipeline get a moment to leave it. Owned by main's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "analysis/base/result.h"
#include "tests/basestation/air.h"
#include "tests/basestation/config.h"
#include "tests/basestation/context.h"
#include "tests/basestation/gtp.h"
#include "tests/basestation/mac.h"
#include "tests/basestation/neighbour.h"
#include "tests/basestation/pdcp.h"
#include "tests/basestation/phy.h"
#include "tests/basestation/queue.h"
#include "tests/basestation/truth_log.h"
#include "tests/basestation/uplink_mac.h"

namespace sojourn::basestation {

class Station {
 public:
  struct Sockets {
    UdpSocket core_out, station_in, station_out, core_in;
  };

  static Result<std::unique_ptr<Station>> build(const Config& config);
  // The object is not usable without the truth that build() opens: call that.
  Station(const Config& config, Sockets sockets);
  ~Station();
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  // Returns when all threads run and points can be hit.
  void start();
  // Begins the measurements of the summary now, and not at the start.
  void measure_from_now();
  Result<void> stop();
  // After stop().
  std::string summary() const;

 private:
  enum Thread : std::uint8_t {
    kTraffic,
    kDlGtp,
    kDlPdcp,
    kMac,
    kDlPhy,
    kAir,
    kUlPhy,
    kUlMac,
    kUlPdcp,
    kUlGtp,
    kSink,
    kThreads
  };
  Result<void> open_truth();
  template <typename Stage>
  void spawn(Thread thread, const char* name, Stage& stage);
  void spawn_neighbours();
  void join_all();

  Context context(std::size_t thread) { return {config_, flags_, logs_[thread]}; }
  QueuePlace name_queue(QueuePlace place);
  std::deque<Queue<Packet>> make_rlc_queues();
  Log::Tally tally(Direction direction) const;
  double measured_seconds() const;
  std::string direction_summary(Direction direction, const char* name, double seconds) const;

  const Config config_;
  RunFlags flags_;
  std::deque<Log> logs_;  // of each thread, the neighbours' last
  std::vector<truth::QueueName> queue_names_;
  std::unique_ptr<Writer> writer_;

  Queue<Packet> to_dl_pdcp_;
  std::deque<Queue<Packet>> to_rlc_;
  Queue<Transmission> to_dl_phy_;
  Queue<AirItem> to_air_;
  Queue<HarqFeedback> to_mac_feedback_;
  Queue<StatusTransfer> to_mac_statuses_;
  Queue<Transmission> to_ul_phy_;
  Queue<Transmission> to_ul_mac_;
  Queue<Packet> to_ul_pdcp_;
  Queue<Packet> to_ul_gtp_;
  std::vector<BufferStatus> buffers_;

  TrafficSource traffic_;
  GtpReceiver dl_gtp_;
  DownlinkPdcp dl_pdcp_;
  Mac mac_;
  DownlinkPhy dl_phy_;
  Air air_;
  UplinkPhy ul_phy_;
  UplinkMac ul_mac_;
  UplinkPdcp ul_pdcp_;
  GtpSender ul_gtp_;
  TrafficSink sink_;

  std::deque<Neighbour> neighbours_;
  std::latch started_;
  std::vector<std::thread> threads_;  // the stages', then the neighbours'
  std::uint64_t start_ns_ = 0;
  std::uint64_t measured_from_ns_ = 0;
  double cpu_before_s_ = 0;
  std::uint64_t stop_ns_ = 0;
};

}  // namespace sojourn::basestation
