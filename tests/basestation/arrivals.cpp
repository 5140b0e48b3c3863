#include "tests/basestation/arrivals.h"

namespace sojourn::basestation {
namespace {

// Half small (acknowledgements, speech), a fifth in the middle, the rest full-sized.
constexpr std::uint32_t kSmallMin = 40, kSmallMax = 120, kMiddle = 576, kLarge = 1400;
constexpr double kSmallShare = 0.5, kMiddleShare = 0.2;

}  // namespace

double PacketSize::mean() const {
  if (!mix) return (min + max) / 2.0;
  return kSmallShare * (kSmallMin + kSmallMax) / 2.0 + kMiddleShare * kMiddle +
         (1 - kSmallShare - kMiddleShare) * kLarge;
}

std::uint32_t PacketSize::largest() const {
  return mix ? kLarge : max;
}

Arrivals::Arrivals(const Config& config, Direction direction, std::uint64_t start_ns)
    : config_(config),
      burst_rate_((direction == Direction::kDown ? config.rate_dl : config.rate_ul) /
                  static_cast<double>(config.burst) / 1e9),
      random_(config.seed * 2 + static_cast<unsigned>(direction)),
      next_id_((static_cast<PacketId>(direction) << 56) + 1),
      start_ns_(start_ns) {
  start_burst();
}

Packet Arrivals::take() {
  Packet packet;
  packet.id = next_id_++;
  packet.rnti = config_.rnti_of(bearer_);
  packet.drb = config_.drb_of(bearer_);
  packet.bytes = size();
  if (--left_in_burst_ == 0) start_burst();
  return packet;
}

void Arrivals::start_burst() {
  if (burst_rate_ == 0) {
    due_ns_ = UINT64_MAX;
    return;
  }
  burst_at_ns_ += std::exponential_distribution<double>(burst_rate_)(random_);
  due_ns_ = start_ns_ + static_cast<std::uint64_t>(burst_at_ns_);
  bearer_ = static_cast<std::uint32_t>(random_() % config_.bearer_count());
  left_in_burst_ = config_.burst;
}

std::uint32_t Arrivals::size() {
  const auto between = [this](std::uint32_t min, std::uint32_t max) {
    return min + static_cast<std::uint32_t>(random_() % (max - min + 1));
  };
  if (!config_.size.mix) return between(config_.size.min, config_.size.max);
  const double draw = std::uniform_real_distribution<double>()(random_);
  if (draw < kSmallShare) return between(kSmallMin, kSmallMax);
  return draw < kSmallShare + kMiddleShare ? kMiddle : kLarge;
}

}  // namespace sojourn::basestation
