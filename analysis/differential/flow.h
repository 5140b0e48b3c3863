// The order of points in every packet: Lamport's happens-before over a trace's journeys, reduced to
// direct predecessors (its transitive reduction). Times alone do not make an edge, because two
// threads may always come in one order by chance. An edge has a path as its evidence: ids that tie
// the two events, one thread that did both, or a wakeup from the one thread to the other. Memory
// grows with the square of the points of packets. One thread owns a Flow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/context/thread_states.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::differential {

struct FlowOptions {
  double least_share = 1;            // of packets, in which an order must hold
  std::uint64_t clock_error_ns = 0;  // stamps of different threads that are nearer order nothing
  // The hosts of a merged trace: two stamps of one host are ordered if they are further apart
  // than twice its own error.
  std::vector<model::MergedHost> hosts = {};
};

// Two points of one direction.
struct FlowEdge {
  std::string from;
  std::string to;
  std::uint64_t packets = 0;    // packets that were seen at both
  std::uint64_t before = 0;     // of them: `from` first,
  std::uint64_t after = 0;      // `to` first,
  std::uint64_t too_near = 0;   // or nearer than the clocks' error
  std::uint64_t by_ids = 0;     // packets in which ids tie `to` to `from`,
  std::uint64_t by_thread = 0;  // in which one thread did both,
  std::uint64_t by_wakeup = 0;  // or the thread of `from` woke that of `to` in between

  std::string evidence() const;  // "ids, thread"
};

struct FlowOfDirection {
  char direction = 'D';
  std::uint64_t packets = 0;
  std::vector<std::string> points = {};  // in an order that holds for all edges
  std::vector<FlowEdge> edges = {};      // directly before
  std::vector<FlowEdge> by_chance = {};  // always in this order, and nothing ties them
  std::vector<FlowEdge> either = {};     // in either order, from packet to packet: concurrent
};

class Flow : public journeys::Observer {
 public:
  static constexpr std::size_t kMaxPoints = 512;  // of a direction

  Flow(const model::Schema& schema, const FlowOptions& options);

  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;
  // Takes a batch of events after the rebuild had it: wakeups count as evidence.
  void consume(const model::EventBatch& events);
  void finish();

  std::vector<FlowOfDirection> directions() const;
  std::uint64_t left_out() const { return left_out_; }  // packets, beyond kMaxPoints

 private:
  struct Seen {
    model::PointId point = 0;
    std::uint32_t tid = 0;
    std::uint64_t ts_ns = 0;
    std::size_t host = 0;
  };
  struct Packet {
    model::Direction direction = model::Direction::kDownlink;
    std::vector<Seen> points;  // the first event at each, in time order
    std::vector<std::pair<model::PointId, model::PointId>> ties;  // by ids: from, to
  };
  struct Cell {
    std::uint64_t before = 0;
    std::uint64_t too_near = 0;
    std::uint64_t by_ids = 0;
    std::uint64_t by_thread = 0;
    std::uint64_t by_wakeup = 0;
    std::uint64_t asked = 0;  // packets in which wakeups were looked for
  };
  class Matrix {
   public:
    std::size_t index_of(model::PointId point);  // makes room
    Cell& at(std::size_t from, std::size_t to) { return cells_[from * room_ + to]; }
    const Cell& at(std::size_t from, std::size_t to) const { return cells_[from * room_ + to]; }
    const std::vector<model::PointId>& points() const { return points_; }
    bool knows(model::PointId point) const { return indexes_.contains(point); }

    std::uint64_t packets = 0;

   private:
    std::map<model::PointId, std::size_t> indexes_;
    std::vector<model::PointId> points_;
    std::size_t room_ = 0;
    std::vector<Cell> cells_;
  };

  void add(const Packet& packet);
  // The distance up to which two stamps order nothing.
  std::uint64_t clock_error_ns(const Seen& one, const Seen& other) const;
  bool woke(std::uint32_t waker, std::uint32_t woken, std::uint64_t after_ns,
            std::uint64_t until_ns) const;
  FlowOfDirection flow_of(const Matrix& matrix, char direction) const;
  FlowEdge edge_of(const Matrix& matrix, std::size_t from, std::size_t to) const;
  bool is_ordered(const Matrix& matrix, std::size_t from, std::size_t to) const;
  bool has_evidence(const Cell& cell) const;

  const model::Schema& schema_;
  FlowOptions options_;
  context::ContextPoints context_;
  Matrix matrices_[2];
  std::vector<Packet> pending_;
  // When a thread woke another, of the last seconds.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::uint64_t>> wakeups_;
  std::uint64_t left_out_ = 0;
};

}  // namespace sojourn::differential
