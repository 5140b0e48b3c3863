// Writes the figures of a running capture to an InfluxDB, every few seconds, in a thread of its own
// with the rights of the files' owner. A server that is slow or dead holds nobody up: what it does
// not take waits in bounded memory, is tried again, and is lost in the end, the oldest first. Every
// point is counted as written or as lost.
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
  // What may wait for a server that takes nothing: some minutes of figures.
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{4} << 20;
  // For an answer, and for the last one when the capture has ended.
  static constexpr std::chrono::seconds kPatience{10};
  static constexpr std::chrono::seconds kLastPatience{3};

  struct Totals {
    std::uint64_t written = 0;  // points
    std::uint64_t lost = 0;
    std::string why_lost;  // the last reason
  };

  // An error where the server's name is not known: it is looked up once.
  static Result<std::unique_ptr<InfluxSender>> start(InfluxOptions options, const FileOwner& owner);
  ~InfluxSender() override;

  void add_to(std::vector<metrics::Family>& families) override;
  void publish(const std::vector<metrics::Family>& families,
               const std::optional<model::ClockPair>& clock, bool is_last) override;

  // Any thread's: problems, each once, as a line for people.
  std::vector<std::string> take_messages();
  // Waits for what is left to be written, for seconds at most.
  Totals finish();

 private:
  class Loop;
  explicit InfluxSender(std::unique_ptr<Loop> loop);

  std::unique_ptr<Loop> loop_;
};

}  // namespace sojourn::capture
