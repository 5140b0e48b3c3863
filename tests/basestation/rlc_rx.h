// The receiving half of RLC, one object for each bearer, for the base station and for the simulated
// UEs: reassembly, and in acknowledged mode windows and status PDUs. Pure protocol: events are
// reported to RlcEvents at once, in the caller's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tests/basestation/packet.h"

namespace sojourn::basestation {

// An SDU of which at least one segment has arrived.
struct RxSdu {
  struct Interval {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };
  std::uint16_t rsn = 0;
  std::vector<Segment> segments;    // as they came; dropped once the SDU is delivered
  std::vector<Interval> intervals;  // received bytes: sorted, apart from each other
  std::uint64_t deadline_ns = 0;    // unacknowledged mode
  bool complete = false;

  const Packet& packet() const { return segments.front().packet; }
  bool covers(std::uint32_t from, std::uint32_t to) const;
  void add(const Segment& segment);
};

class RlcEvents {
 public:
  virtual ~RlcEvents() = default;
  virtual void delivered(const RxSdu& sdu) = 0;
  virtual void given_up(const RxSdu& sdu) = 0;  // incomplete for ever
  virtual void duplicate(const Segment& segment) = 0;
};

class RlcRx {
 public:
  virtual ~RlcRx() = default;

  virtual void receive(const Segment& segment, std::uint64_t now, RlcEvents& events) = 0;
  virtual void tick(std::uint64_t now, RlcEvents& events) = 0;
  // The status PDU that is due, without its bearer's identity.
  virtual std::optional<Status> take_status(std::uint64_t /*now*/) { return std::nullopt; }
};

class UmRx final : public RlcRx {
 public:
  void receive(const Segment& segment, std::uint64_t now, RlcEvents& events) override;
  void tick(std::uint64_t now, RlcEvents& events) override;

 private:
  std::uint32_t newest_ = kRsnModulus;  // numbers here do not wrap; starts so that none is negative
  std::map<std::uint32_t, RxSdu> partial_;
};

// The variables are those of 3GPP TS 38.322, 5.2.3.2 and 7.1. One differs: the sender's window
// start is in every PDU, so that the receiver skips SDUs that the sender has given up.
class AmRx final : public RlcRx {
 public:
  void receive(const Segment& segment, std::uint64_t now, RlcEvents& events) override;
  void tick(std::uint64_t now, RlcEvents& events) override;
  std::optional<Status> take_status(std::uint64_t now) override;

 private:
  void move_window(std::uint16_t window_start, RlcEvents& events);
  void store(std::uint32_t number, const Segment& segment, RlcEvents& events);
  void update_window();
  void update_timer(std::uint64_t now);
  void note_poll(std::uint32_t number);
  bool is_complete(std::uint32_t number) const;
  bool add_nacks(std::uint32_t number, Status& status) const;

  std::map<std::uint32_t, RxSdu> window_;  // not below next_; complete ones are kept as marks
  std::uint32_t next_ = 0;                 // lowest number that is not complete
  std::uint32_t next_highest_ = 0;         // one above the highest seen
  std::uint32_t highest_status_ = 0;       // a status may report numbers below it
  std::uint32_t timer_trigger_ = 0;
  std::uint64_t timer_ns_ = 0;         // 0: off
  std::optional<std::uint32_t> poll_;  // to be answered once highest_status_ is beyond it
  bool status_wanted_ = false;
  std::uint64_t status_prohibited_ns_ = 0;
};

std::unique_ptr<RlcRx> make_rlc_rx(std::uint8_t drb);

}  // namespace sojourn::basestation
