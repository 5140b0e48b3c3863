#include "analysis/energy/packet_energy.h"

namespace sojourn::energy {

namespace {

double mean_square_s2(const statistics::Distribution& latency_ns) {
  const auto n = static_cast<double>(latency_ns.count());
  const double mean_s = latency_ns.mean() * 1e-9;
  const double stdev_s = latency_ns.stdev() * 1e-9;
  return mean_s * mean_s + stdev_s * stdev_s * (n - 1) / n;
}

}  // namespace

PacketEnergy packet_energy(std::optional<double> joules, const statistics::Distribution& down_ns,
                           const statistics::Distribution& up_ns) {
  PacketEnergy all;
  all.packets = down_ns.count() + up_ns.count();
  if (joules && all.packets != 0) all.joules = *joules / static_cast<double>(all.packets);
  const std::array latencies = {&down_ns, &up_ns};
  for (std::size_t at = 0; at < latencies.size(); ++at) {
    DirectionEnergy& one = all.directions[at];
    one.packets = latencies[at]->count();
    if (!joules || one.packets == 0) continue;
    one.joules = *joules / static_cast<double>(one.packets);
    one.energy_delay_2 = *all.joules * mean_square_s2(*latencies[at]);
  }
  return all;
}

}  // namespace sojourn::energy
