// Writes the figures of a running capture to an InfluxDB every few seconds, from a thread of its
// own that has only the rights of the files' owner. A slow or dead server never holds the capture
// up: unsent lines wait in bounded memory and are sent again later. When the memory is full the
// oldest lines are dropped. Every point is counted as written or as lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/metrics/influx_options.h"
#include "userspace/capture/metrics/metrics_outlet.h"
#include "userspace/capture/rights/rights.h"

namespace sojourn::capture {

class InfluxSender final : public MetricsOutlet {
 public:
  // The memory of lines that wait for the server: some minutes of figures.
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{4} << 20;
  // The timeouts for an answer, and for the last answer when the capture has ended.
  static constexpr std::chrono::seconds kPatience{10};
  static constexpr std::chrono::seconds kLastPatience{3};

  struct Totals {
    std::uint64_t written = 0;  // points
    std::uint64_t lost = 0;
    std::string why_lost;  // the last reason
  };

  // Looks the server's name up, once. Fails if the name is unknown.
  static Result<std::unique_ptr<InfluxSender>> start(InfluxOptions options, const FileOwner& owner);
  ~InfluxSender() override;

  void add_to(std::vector<metrics::Family>& families) override;
  void publish(const std::vector<metrics::Family>& families,
               const std::optional<model::ClockPair>& clock, bool is_last) override;

  // Returns new problems as lines for the user, each once. Any thread may call it.
  std::vector<std::string> take_messages();
  // Waits some seconds at most until all waiting lines are written.
  Totals finish();

 private:
  class Loop;
  explicit InfluxSender(std::unique_ptr<Loop> loop);

  std::unique_ptr<Loop> loop_;
};

}  // namespace sojourn::capture
