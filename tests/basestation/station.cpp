#include "tests/basestation/station.h"

#include <pthread.h>
#include <sys/resource.h>

namespace sojourn::basestation {
namespace {

constexpr std::size_t kStageQueue = 4096;
constexpr std::size_t kRlcQueue = 1024;
constexpr std::uint64_t kDrainNs = 200 * kMillisecond;

std::deque<Log> make_logs(std::uint16_t count) {
  std::deque<Log> logs;
  for (std::uint16_t thread = 0; thread < count; ++thread) logs.emplace_back(thread);
  return logs;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Result<std::unique_ptr<Station>> Station::build(const Config& config) {
  SJ_TRY(core_out, UdpSocket::bind_loopback());
  SJ_TRY(station_in, UdpSocket::bind_loopback());
  SJ_TRY(station_out, UdpSocket::bind_loopback());
  SJ_TRY(core_in, UdpSocket::bind_loopback());
  SJ_CHECK(core_out.connect_to(station_in));
  SJ_CHECK(station_in.connect_to(core_out));  // accepts no other packets
  SJ_CHECK(station_out.connect_to(core_in));
  SJ_CHECK(core_in.connect_to(station_out));
  auto station =
      std::make_unique<Station>(config, Sockets{std::move(core_out), std::move(station_in),
                                                std::move(station_out), std::move(core_in)});
  SJ_CHECK(station->open_truth());
  return station;
}

Station::Station(const Config& config, Sockets sockets)
    : config_(config),
      logs_(make_logs(static_cast<std::uint16_t>(kThreads + config.faults.preempts().size()))),
      to_dl_pdcp_(name_queue({.capacity = kStageQueue,
                              .name = "dl-pdcp",
                              .producer = "dl-gtp",
                              .consumer = "dl-pdcp"})),
      to_rlc_(make_rlc_queues()),
      // Its capacity is the number of HARQ processes, so the scheduler never has to wait.
      to_dl_phy_(name_queue({.capacity = config.ues * kHarqProcesses,
                             .name = "dl-phy",
                             .producer = "mac",
                             .consumer = "dl-phy"})),
      to_air_(name_queue(
          {.capacity = 2 * config.ues * kHarqProcesses, .name = "air", .consumer = "air"})),
      to_mac_feedback_(name_queue({.capacity = 2 * config.ues * kHarqProcesses,
                                   .name = "mac.feedback",
                                   .consumer = "mac"})),
      to_mac_statuses_(name_queue({.capacity = kStageQueue,
                                   .name = "mac.statuses",
                                   .producer = "ul-mac",
                                   .consumer = "mac"})),
      to_ul_phy_(name_queue({.capacity = config.ues * kHarqProcesses,
                             .name = "ul-phy",
                             .producer = "air",
                             .consumer = "ul-phy"})),
      to_ul_mac_(name_queue(
          {.capacity = kStageQueue, .name = "ul-mac", .producer = "ul-phy", .consumer = "ul-mac"})),
      to_ul_pdcp_(name_queue({.capacity = kStageQueue,
                              .name = "ul-pdcp",
                              .producer = "ul-mac",
                              .consumer = "ul-pdcp"})),
      to_ul_gtp_(name_queue({.capacity = kStageQueue,
                             .name = "ul-gtp",
                             .producer = "ul-pdcp",
                             .consumer = "ul-gtp"})),
      buffers_(config.ues),
      traffic_(context(kTraffic), std::move(sockets.core_out)),
      dl_gtp_(context(kDlGtp), std::move(sockets.station_in), to_dl_pdcp_),
      dl_pdcp_(context(kDlPdcp), to_dl_pdcp_, to_rlc_),
      mac_(context(kMac), {to_rlc_, to_mac_feedback_, to_mac_statuses_, to_dl_phy_, to_air_},
           buffers_),
      dl_phy_(context(kDlPhy), to_dl_phy_, to_air_),
      air_(context(kAir), to_air_, to_mac_feedback_, to_ul_phy_, buffers_),
      ul_phy_(context(kUlPhy), to_ul_phy_, to_ul_mac_, to_mac_feedback_),
      ul_mac_(context(kUlMac), to_ul_mac_, to_ul_pdcp_, to_mac_statuses_),
      ul_pdcp_(context(kUlPdcp), to_ul_pdcp_, to_ul_gtp_),
      ul_gtp_(context(kUlGtp), std::move(sockets.station_out), to_ul_gtp_),
      sink_(context(kSink), std::move(sockets.core_in)),
      started_(static_cast<std::ptrdiff_t>(logs_.size())),
      threads_(logs_.size()) {
  for (const Preempt& preempt : config_.faults.preempts())
    neighbours_.emplace_back(context(kThreads + neighbours_.size()), preempt);
}

Station::~Station() {
  join_all();
}

QueuePlace Station::name_queue(QueuePlace place) {
  place.id = static_cast<std::uint16_t>(queue_names_.size());
  queue_names_.push_back({place.name, static_cast<std::uint32_t>(place.capacity)});
  return place;
}

std::deque<Queue<Packet>> Station::make_rlc_queues() {
  std::deque<Queue<Packet>> queues;
  for (std::uint32_t bearer = 0; bearer < config_.bearer_count(); ++bearer) {
    const std::uint8_t drb = config_.drb_of(bearer);
    const std::uint16_t rnti = config_.rnti_of(bearer);
    queues.emplace_back(name_queue(
        {.capacity = kRlcQueue,
         .name = fmt::format("rlc.tx.{} rnti {:#x} drb {}", is_am(drb) ? "am" : "um", rnti, drb),
         .producer = "dl-pdcp",
         .consumer = "mac",
         .group = rnti}));
  }
  return queues;
}

Result<void> Station::open_truth() {
  if (config_.truth_path.empty()) return {};
  SJ_TRY(writer, Writer::open(config_.truth_path, queue_names_));
  writer_ = std::move(writer);
  for (Log& log : logs_) log.set_writer(writer_.get());
  return {};
}

template <typename Stage>
void Station::spawn(Thread thread, const char* name, Stage& stage) {
  threads_[thread] = std::thread([this, thread, name, &stage] {
    pthread_setname_np(pthread_self(), name);
    logs_[thread].bind_to_this_thread();
    for (Neighbour& neighbour : neighbours_)
      if (neighbour.preempt().thread == name) neighbour.pin_victim();
    started_.arrive_and_wait();
    stage.run();
    logs_[thread].flush();
  });
}

void Station::spawn_neighbours() {
  for (std::size_t index = 0; index < neighbours_.size(); ++index) {
    const std::size_t thread = kThreads + index;
    threads_[thread] = std::thread([this, thread, index] {
      pthread_setname_np(pthread_self(), "neighbour");
      logs_[thread].bind_to_this_thread();
      started_.arrive_and_wait();
      neighbours_[index].run();
      logs_[thread].flush();
    });
  }
}

void Station::measure_from_now() {
  measured_from_ns_ = now_ns();
  cpu_before_s_ = cpu_seconds();
  for (Log& log : logs_) log.measure_from(measured_from_ns_);
}

void Station::start() {
  start_ns_ = now_ns();
  measured_from_ns_ = start_ns_;
  spawn(kSink, "sink", sink_);
  spawn(kUlGtp, "ul-gtp", ul_gtp_);
  spawn(kUlPdcp, "ul-pdcp", ul_pdcp_);
  spawn(kUlMac, "ul-mac", ul_mac_);
  spawn(kUlPhy, "ul-phy", ul_phy_);
  spawn(kAir, "air", air_);
  spawn(kDlPhy, "dl-phy", dl_phy_);
  spawn(kMac, "mac", mac_);
  spawn(kDlPdcp, "dl-pdcp", dl_pdcp_);
  spawn(kDlGtp, "dl-gtp", dl_gtp_);
  spawn(kTraffic, "traffic", traffic_);
  spawn_neighbours();
  started_.wait();
}

Result<void> Station::stop() {
  stop_ns_ = now_ns();
  flags_.offering = false;
  sleep_until_ns(stop_ns_ + kDrainNs);
  join_all();
  if (!writer_) return {};
  Writer::Totals totals;
  for (const Log& log : logs_) {
    totals.hits += log.totals().hits;
    totals.queue_ops += log.totals().queue_ops;
    totals.packets += log.totals().packets;
    totals.fates += log.totals().fates;
    totals.preemptions += log.totals().preemptions;
  }
  return writer_->finish(totals);
}

void Station::join_all() {
  flags_.offering = false;
  flags_.working = false;
  to_dl_pdcp_.close();
  for (Queue<Packet>& queue : to_rlc_) queue.close();
  to_dl_phy_.close();
  to_air_.close();
  to_mac_feedback_.close();
  to_mac_statuses_.close();
  to_ul_phy_.close();
  to_ul_mac_.close();
  to_ul_pdcp_.close();
  to_ul_gtp_.close();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

Log::Tally Station::tally(Direction direction) const {
  Log::Tally sum;
  for (const Log& log : logs_) {
    const Log::Tally& part = log.tally(direction);
    sum.created += part.created;
    sum.delivered += part.delivered;
    sum.measured_bytes += part.measured_bytes;
    sum.latencies.add(part.latencies);
    for (std::size_t place = 0; place < kPlaces.size(); ++place) {
      sum.dropped[place] += part.dropped[place];
    }
  }
  return sum;
}

double Station::measured_seconds() const {
  return static_cast<double>(stop_ns_ - measured_from_ns_) / 1e9;
}

std::string Station::direction_summary(Direction direction, const char* name,
                                       double seconds) const {
  const Log::Tally sum = tally(direction);
  std::string line =
      fmt::format("{}  {:>10} offered {:>10} delivered  {:>9.0f} packets/s  {:>6.1f} Mbit/s\n",
                  name, sum.created, sum.delivered, static_cast<double>(sum.delivered) / seconds,
                  static_cast<double>(sum.measured_bytes) * 8 / 1e6 / measured_seconds());
  const auto us = [&](std::uint64_t permille) {
    return static_cast<double>(sum.latencies.permille(permille)) / 1000;
  };
  line += fmt::format("  latency {:>10.1f} us p50 {:>10.1f} us p99 {:>10.1f} us p99.9\n", us(500),
                      us(990), us(999));
  for (std::size_t place = 0; place < kPlaces.size(); ++place) {
    if (sum.dropped[place] == 0) continue;
    line += fmt::format("          {:>10} dropped, whole or in part, in {}\n", sum.dropped[place],
                        kPlaces[place]);
  }
  return line;
}

std::string Station::summary() const {
  const double seconds = static_cast<double>(stop_ns_ - start_ns_) / 1e9;
  const Mac::Counters& mac = mac_.counters();
  std::string text = fmt::format("sj-basestation: {} UEs, {} bearers each, {:.1f} s\n", config_.ues,
                                 config_.bearers, seconds);
  text += direction_summary(Direction::kDown, "downlink", seconds);
  text += direction_summary(Direction::kUp, "uplink  ", seconds);
  text += fmt::format(
      "slots     {:>10}, {} begun late; {} downlink blocks\n"
      "HARQ      {:>10} retransmissions both ways, {} downlink blocks lost\n"
      "RLC       {:>10} retransmissions down, {} up\n",
      mac.slots, mac.late_slots, mac.blocks, mac.harq_retransmissions, mac.harq_lost,
      mac_.rlc_retransmissions(), air_.rlc_retransmissions());
  if (dl_gtp_.malformed() != 0) {
    text += fmt::format("GTP-U     {:>10} malformed packets refused\n", dl_gtp_.malformed());
  }
  const double cpu = cpu_seconds() - cpu_before_s_;
  text += fmt::format("CPU       {:>10.2f} s, {:.0f} % of one core; sink got {} packets\n", cpu,
                      100 * cpu / measured_seconds(), sink_.received());
  return text;
}

}  // namespace sojourn::basestation
