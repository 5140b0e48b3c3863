// The sending half of RLC, one object for each bearer, for the base station and for the simulated
// UEs. Pure protocol: it has neither points nor threads; the caller of pull() reports. Each SDU has
// its own number (rsn), even if it is not segmented.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tests/basestation/queue.h"

namespace sojourn::basestation {

// The results of a status PDU.
struct RlcProgress {
  struct Sdu {
    Packet packet;
    std::uint16_t rsn = 0;
  };
  std::vector<Sdu> acknowledged;
  std::vector<Sdu> given_up;  // retransmitted too often

  void clear() {
    acknowledged.clear();
    given_up.clear();
  }
};

class RlcTx {
 public:
  virtual ~RlcTx() = default;

  virtual bool has_data() const = 0;
  // The next segment whose PDU fits into `room` bytes.
  virtual std::optional<Segment> pull(std::uint32_t room, std::uint64_t now) = 0;
  // The hit of a segment that was pulled, for the retransmission that may repeat it.
  virtual void note_hit(const Segment& /*segment*/) {}
  virtual void on_status(const Status& /*status*/, RlcProgress& /*progress*/) {}
  virtual void tick(std::uint64_t /*now*/, RlcProgress& /*progress*/) {}
  virtual std::uint64_t retransmissions() const { return 0; }

 protected:
  RlcTx(Queue<Packet>& input, Log& log) : input_(input), log_(log) {}

  // Returns how much of `left` bytes to send now: all, a useful part, or nothing.
  static std::uint32_t cut(std::uint32_t left, std::uint32_t room);

  Queue<Packet>& input_;
  Log& log_;
};

class UmTx final : public RlcTx {
 public:
  UmTx(Queue<Packet>& input, Log& log) : RlcTx(input, log) {}

  bool has_data() const override { return current_ || input_.size() != 0; }
  std::optional<Segment> pull(std::uint32_t room, std::uint64_t now) override;

 private:
  std::optional<Packet> current_;
  std::uint32_t so_ = 0;
  std::uint16_t rsn_ = 0;
};

class AmTx final : public RlcTx {
 public:
  AmTx(Queue<Packet>& input, Log& log) : RlcTx(input, log) {}

  bool has_data() const override;
  std::optional<Segment> pull(std::uint32_t room, std::uint64_t now) override;
  void note_hit(const Segment& segment) override;
  void on_status(const Status& status, RlcProgress& progress) override;
  // Sends the oldest SDU again, and so a poll, when no status came in time.
  void tick(std::uint64_t now, RlcProgress& progress) override;
  std::uint64_t retransmissions() const override { return retransmissions_; }

 private:
  struct SentPiece {
    std::uint32_t so = 0;
    std::uint32_t end = 0;
    HitId hit = 0;
  };
  struct Sdu {
    Packet packet;
    std::uint32_t next_so = 0;  // bytes below were sent at least once
    unsigned retransmissions = 0;
    bool done = false;  // acknowledged or given up
    std::vector<SentPiece> sent;

    bool wholly_sent() const { return next_so == packet.pdu_bytes(); }
  };
  // Bytes to be sent again. Numbers here count from 0 and do not wrap.
  struct Lost {
    std::uint32_t number = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };

  bool window_full() const;
  Sdu* sdu(std::uint32_t number);
  std::optional<Segment> pull_lost(std::uint32_t room);
  std::optional<Segment> pull_new(std::uint32_t room);
  Segment segment(const Sdu& sdu, std::uint32_t number, std::uint32_t so, std::uint32_t len) const;
  void set_poll(Segment& segment, std::uint64_t now);
  void retransmit(std::uint32_t number, std::uint32_t from, std::uint32_t to);
  // Counts one more retransmission of this SDU; false when that is one too many.
  bool may_retransmit(std::uint32_t number, RlcProgress& progress);
  void slide_window();

  std::deque<Sdu> window_;
  std::uint32_t first_ = 0;  // number of window_.front()
  std::deque<Lost> lost_;
  unsigned pdus_without_poll_ = 0;
  std::uint32_t polled_ = 0;         // the newest number when the timer started
  std::uint64_t poll_timer_ns_ = 0;  // 0: off
  std::uint64_t retransmissions_ = 0;
};

std::unique_ptr<RlcTx> make_rlc_tx(std::uint8_t drb, Queue<Packet>& input, Log& log);

}  // namespace sojourn::basestation
