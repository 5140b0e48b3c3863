// The figures of each direction, UE, bearer, path, hop, layer, point or thread (`sojourn report
// --by`). Journeys count when they are complete; points and threads count events. Journeys close
// out of order: they are put in order within a window before gaps and jitter are taken. Memory
// grows with the groups (at most kMaxGroups are distinguished), not with the trace. One thread owns
// a Groups.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"
#include "analysis/statistics/arrival_series.h"
#include "analysis/statistics/distribution.h"

namespace sojourn::report {

enum class By : std::uint8_t { kDirection, kUe, kBearer, kPath, kHop, kLayer, kPoint, kThread };
std::optional<By> by_from(std::string_view name);
std::string_view name(By by);  // "direction"
constexpr bool counts_events(By by) {
  return by == By::kPoint || by == By::kThread;
}
constexpr bool counts_stays(By by) {
  return by == By::kHop || by == By::kLayer;
}

struct Group {
  char direction = 'D';  // ' ': of all
  std::string name;
  statistics::Distribution times_ns;    // latencies or stays; none of events
  std::uint64_t at_one_point = 0;       // journeys that were seen there only: they have no latency
  statistics::Distribution changes_ns;  // the difference of each to the one before
  statistics::ArrivalSeries arrivals;   // of entering units (uplink, hops: of leaving ones)
  std::optional<double> bytes;          // bytes that went through; unset: unknown
  std::uint64_t disorder = 0;           // later than the window waits: in no gap and no change

  double jitter_ns() const { return changes_ns.mean(); }
  std::uint64_t journeys() const { return times_ns.count() + at_one_point; }
};

class Groups : public journeys::Observer {
 public:
  static constexpr std::size_t kMaxGroups = 100'000;

  // The arguments must outlive it.
  Groups(By by, const model::Schema& schema, const journeys::Topology& topology,
         std::map<std::uint32_t, std::string> thread_names);

  void on_journey(const journeys::Journey& journey) override;
  void on_stay(const journeys::Stay& stay) override;
  // Returns false if the event is not of the target, or if events are not counted.
  bool on_event(const model::EventView& event);
  void finish();

  By by() const { return by_; }
  // The name of the journey's group, where journeys are counted.
  std::string name_of(const journeys::Journey& journey) const;
  // By direction, those with most first.
  const std::vector<Group>& all() const { return groups_; }

 private:
  struct Waiting {
    std::uint64_t at_ns = 0;
    std::uint64_t serial = 0;
    std::optional<std::uint64_t> took_ns;
    std::uint32_t group = 0;

    bool operator<(const Waiting& other) const {  // a heap has the greatest in front
      return at_ns != other.at_ns ? at_ns > other.at_ns : serial > other.serial;
    }
  };
  struct Last {
    std::uint64_t at_ns = 0;
    std::optional<std::uint64_t> took_ns;
  };

  std::uint32_t group_of(char direction, std::string name);
  void add(std::uint32_t group, std::uint64_t at_ns, std::optional<std::uint64_t> took_ns,
           std::optional<std::uint64_t> bytes);
  void settle_oldest();
  void count_threads_bytes();
  std::string bearer(const journeys::Journey& journey) const;
  std::string path(const journeys::Journey& journey) const;
  std::string thread(std::uint32_t tid) const;
  std::optional<std::uint64_t> bytes_of(model::PointId point,
                                        std::span<const std::uint64_t> values) const;
  std::optional<std::uint64_t> bytes_of(const journeys::Stay& stay) const;

  By by_;
  const model::Schema& schema_;
  const journeys::Topology& topology_;
  std::map<std::uint32_t, std::string> thread_names_;
  std::vector<Group> groups_;
  std::vector<Last> last_;  // by group
  std::map<std::pair<char, std::string>, std::uint32_t> known_;
  // Bytes by thread and point: a thread reports the same bytes at several points.
  std::map<std::pair<std::uint32_t, model::PointId>, double> told_bytes_;
  std::map<std::uint32_t, std::uint32_t> by_number_;  // groups of pairs, points, threads
  std::vector<Waiting> window_;
  std::uint64_t serial_ = 0;
};

}  // namespace sojourn::report
