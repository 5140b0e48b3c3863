// A pipeline and its traffic in a few lines of text, for tests: points as in the source of a
// target, events as "time thread point values...", the outcome as lines that can be compared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/journeys/rebuilder.h"

namespace sojourn::journeys {

class World {
 public:
  // One point a line: "D ip.in--pdcp.in len:rnti:drb.gsn".
  explicit World(std::string_view points);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Rules rules;
  CaptureMarks marks;

  // One event a line: "100 D ip.in--pdcp.in 1000 1 2 7" (time in ns, the point, its values) or,
  // with a thread and a stream: "100 t5 s1 D ip.in--pdcp.in ...". Lines are given in time order.
  void events(std::string_view lines);
  // The next event of stream 0 will have `count` missing events before it.
  void lose(std::uint64_t count, std::uint32_t stream = 0);

  // Closes the rebuild and returns the journeys in the order they came, each as
  //   "D complete 100..900: ip.in--pdcp.in@100 pdcp.in--pdcp.tx@110<0 ..."
  // `<0,2` names parents, `=3` the step that is repeated, `*` the step that made it whole.
  std::vector<std::string> journeys();
  const Totals& totals() const { return rebuilder_->totals(); }
  // "rlc.tx.am +100 +110 -150 ~200" (entered, left, given up), for one place.
  std::string stays(std::string_view place) const;
  // Sojourn times of all hops that end at a place's exit, in order: "pdcp.in 10 12".
  std::string hops(std::string_view place) const;
  const PointTotals& at(std::string_view point) const;

  struct Seen {
    Journey journey;  // without its steps
    std::string words;
    // "1 others in--a@100(1000 7)s0#4 more", of each step: why, and what else fitted (its values,
    // its event).
    std::vector<std::string> doubts;
    std::string inside;  // at the end, "a 100 b 120 until 900": the places, and since when
  };
  const std::vector<Seen>& seen() const { return seen_; }

 private:
  class Collector;
  void start();
  std::uint16_t point(std::string_view name) const;

  model::Schema schema_;
  std::unique_ptr<Collector> collector_;
  std::optional<Rebuilder> rebuilder_;
  std::vector<std::uint64_t> next_seq_;
  std::vector<Seen> seen_;
};

// The radio's points of docs/journeys.md, both directions.
std::string_view radio_points();

}  // namespace sojourn::journeys
