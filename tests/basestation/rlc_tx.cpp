#include "tests/basestation/rlc_tx.h"

#include <algorithm>
#include <ranges>

namespace sojourn::basestation {
namespace {

constexpr std::uint32_t kSmallestCut = 16;
constexpr std::size_t kAmWindow = 512;  // far below half of the numbers: none is reused in flight
constexpr unsigned kPollPdus = 32;
constexpr unsigned kMaxRetransmissions = 8;
constexpr std::uint64_t kPollRetransmitNs = 60 * kMillisecond;

}  // namespace

std::uint32_t RlcTx::cut(std::uint32_t left, std::uint32_t room) {
  if (room < kPduHeaderBytes) return 0;
  room -= kPduHeaderBytes;
  if (left <= room) return left;
  return room >= kSmallestCut ? room : 0;
}

std::optional<Segment> UmTx::pull(std::uint32_t room, std::uint64_t /*now*/) {
  if (room < kPduHeaderBytes + kSmallestCut) return std::nullopt;
  if (!current_) current_ = input_.take_one(log_);
  if (!current_) return std::nullopt;
  const std::uint32_t len = cut(current_->pdu_bytes() - so_, room);
  if (len == 0) return std::nullopt;

  Segment segment;
  segment.packet = *current_;
  segment.rsn = rsn_;
  segment.so = so_;
  segment.len = len;
  so_ += len;
  if (so_ == current_->pdu_bytes()) {
    current_.reset();
    so_ = 0;
    rsn_ = static_cast<std::uint16_t>((rsn_ + 1U) % kRsnModulus);
  }
  return segment;
}

bool AmTx::has_data() const {
  if (!lost_.empty()) return true;
  if (!window_.empty() && !window_.back().wholly_sent()) return true;
  return !window_full() && input_.size() != 0;
}

bool AmTx::window_full() const {
  return window_.size() >= kAmWindow;
}

AmTx::Sdu* AmTx::sdu(std::uint32_t number) {
  const std::uint32_t index = number - first_;
  return index < window_.size() ? &window_[index] : nullptr;
}

std::optional<Segment> AmTx::pull(std::uint32_t room, std::uint64_t now) {
  if (room < kPduHeaderBytes + kSmallestCut) return std::nullopt;
  auto pulled = pull_lost(room);
  if (!pulled) pulled = pull_new(room);
  if (pulled) set_poll(*pulled, now);
  return pulled;
}

std::optional<Segment> AmTx::pull_lost(std::uint32_t room) {
  while (!lost_.empty()) {
    Lost& lost = lost_.front();
    const Sdu* again = sdu(lost.number);
    if (again == nullptr || again->done) {
      lost_.pop_front();
      continue;
    }
    const std::uint32_t len = cut(lost.to - lost.from, room);
    if (len == 0) return std::nullopt;
    Segment pulled = segment(*again, lost.number, lost.from, len);
    for (const SentPiece& piece : again->sent) {
      if (piece.so <= pulled.so && pulled.so < piece.end) pulled.repeat_of = piece.hit;
    }
    ++retransmissions_;
    lost.from += len;
    if (lost.from == lost.to) lost_.pop_front();
    return pulled;
  }
  return std::nullopt;
}

std::optional<Segment> AmTx::pull_new(std::uint32_t room) {
  if (window_.empty() || window_.back().wholly_sent()) {
    if (window_full()) return std::nullopt;
    auto packet = input_.take_one(log_);
    if (!packet) return std::nullopt;
    window_.emplace_back().packet = *packet;
  }
  Sdu& newest = window_.back();
  const std::uint32_t len = cut(newest.packet.pdu_bytes() - newest.next_so, room);
  if (len == 0) return std::nullopt;
  const auto number = first_ + static_cast<std::uint32_t>(window_.size()) - 1;
  const Segment pulled = segment(newest, number, newest.next_so, len);
  newest.next_so += len;
  return pulled;
}

Segment AmTx::segment(const Sdu& sdu, std::uint32_t number, std::uint32_t so,
                      std::uint32_t len) const {
  Segment made;
  made.packet = sdu.packet;
  made.rsn = static_cast<std::uint16_t>(number % kRsnModulus);
  made.window_start = static_cast<std::uint16_t>(first_ % kRsnModulus);
  made.so = so;
  made.len = len;
  return made;
}

void AmTx::set_poll(Segment& segment, std::uint64_t now) {
  const bool last =
      lost_.empty() && window_.back().wholly_sent() && (window_full() || input_.size() == 0);
  if (!last && ++pdus_without_poll_ < kPollPdus) return;
  pdus_without_poll_ = 0;
  segment.poll = true;
  if (poll_timer_ns_ != 0) return;  // the earlier poll is still to be answered
  polled_ = first_ + static_cast<std::uint32_t>(window_.size()) - 1;
  poll_timer_ns_ = now + kPollRetransmitNs;
}

void AmTx::note_hit(const Segment& segment) {
  const std::uint32_t ahead = (segment.rsn - first_) % kRsnModulus;
  if (Sdu* sent = sdu(first_ + ahead)) {
    sent->sent.push_back({segment.so, segment.end(), segment.hit});
  }
}

void AmTx::on_status(const Status& status, RlcProgress& progress) {
  const std::uint32_t acked = (status.ack_rsn - first_) % kRsnModulus;
  if (acked > window_.size()) return;  // older than the window
  for (std::uint32_t number = first_; number != first_ + acked; ++number) {
    Sdu& told = *sdu(number);
    if (told.done) continue;
    const auto rsn = static_cast<std::uint16_t>(number % kRsnModulus);
    auto missing = status.nacks | std::views::filter([&](auto& nack) { return nack.rsn == rsn; });
    if (missing.empty()) {
      if (!told.wholly_sent()) continue;
      told.done = true;
      progress.acknowledged.push_back({told.packet, rsn});
    } else if (may_retransmit(number, progress)) {
      for (const Nack& nack : missing) retransmit(number, nack.from, nack.to);
    }
  }
  if (first_ + acked > polled_) poll_timer_ns_ = 0;
  slide_window();
}

void AmTx::tick(std::uint64_t now, RlcProgress& progress) {
  if (poll_timer_ns_ == 0 || now < poll_timer_ns_) return;
  poll_timer_ns_ = now + kPollRetransmitNs;
  if (window_.empty() || !lost_.empty()) return;  // the next PDU will poll
  if (may_retransmit(first_, progress)) retransmit(first_, 0, kToSduEnd);
  slide_window();
}

bool AmTx::may_retransmit(std::uint32_t number, RlcProgress& progress) {
  Sdu& again = *sdu(number);
  if (++again.retransmissions <= kMaxRetransmissions) return true;
  again.done = true;
  again.next_so = again.packet.pdu_bytes();  // half sent: the rest is not sent either
  progress.given_up.push_back({again.packet, static_cast<std::uint16_t>(number % kRsnModulus)});
  return false;
}

void AmTx::retransmit(std::uint32_t number, std::uint32_t from, std::uint32_t to) {
  to = std::min(to, sdu(number)->next_so);
  const bool known = std::ranges::any_of(lost_, [&](const Lost& lost) {
    return lost.number == number && lost.from < to && from < lost.to;
  });
  if (from < to && !known) lost_.push_back({number, from, to});
}

void AmTx::slide_window() {
  while (!window_.empty() && window_.front().done) {
    window_.pop_front();
    ++first_;
  }
  if (window_.empty()) poll_timer_ns_ = 0;
}

std::unique_ptr<RlcTx> make_rlc_tx(std::uint8_t drb, Queue<Packet>& input, Log& log) {
  if (is_am(drb)) return std::make_unique<AmTx>(input, log);
  return std::make_unique<UmTx>(input, log);
}

}  // namespace sojourn::basestation
