// Attributes of each complete packet besides its times: its owner, its size, its path, the place
// where it stayed longest, the cause that took most of its time, its segments and repeats, threads
// and CPUs, the number of packets ahead of it, the time of the second. A value has the filter that
// finds its packets, if there is one. Memory: 4 bytes for each packet and attribute, of at most
// kMaxPackets of a direction. One thread owns an AttributeCollector.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/differential/traits.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::differential {

class AttributeCollector : public journeys::Observer {
 public:
  static constexpr std::size_t kMaxPackets = 2'000'000;
  // An attribute with more values is put into "other" beyond them.
  static constexpr std::size_t kMaxValues = 256;

  struct About {
    const model::Schema& schema;
    const journeys::Topology& topology;
    const std::vector<model::Stream>& streams;
    std::map<std::uint32_t, std::string> thread_names;
    std::uint64_t origin_ns = 0;
  };
  using IsSlow = std::function<bool(const journeys::Journey&)>;

  // Without `is_slow` the slowest hundredth of each direction is slow. `about` outlives it.
  AttributeCollector(const About& about, IsSlow is_slow);

  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;
  // Sets the cause of a journey that was observed before. At most once for each journey.
  void note_cause(model::Direction direction, std::uint64_t journey, std::string cause);
  void finish();

  // In the order in which packets began; attributes that all packets share are left out.
  const PacketAttributes& of(model::Direction direction) const {
    return tables_[index_of(direction)];
  }
  const std::vector<float>& latencies_ns(model::Direction direction) const {
    return rows_[index_of(direction)].latency_ns;
  }
  // The latency above which a packet is slow, where `is_slow` was not given.
  std::uint64_t slow_from_ns(model::Direction direction) const {
    return rows_[index_of(direction)].slow_from_ns;
  }
  std::uint64_t left_out() const { return left_out_; }

 private:
  struct Column {
    std::string name;
    std::vector<std::string> values;
    std::vector<std::string> conditions;  // by value
    std::unordered_map<std::string, std::uint32_t> known;
    std::vector<std::uint32_t> of;
  };
  // The numbers of one field of a point, or of its threads or CPUs, with the index of each in the
  // column, so that a number becomes text once. Only so many are remembered.
  struct Numbers {
    static constexpr std::size_t kMost = 4096;
    Column* column = nullptr;
    std::unordered_map<std::uint64_t, std::uint32_t> index;
  };
  // An id that is an attribute: a field of a point.
  struct Id {
    std::size_t field = 0;
    Numbers numbers;
  };
  // The attributes that each event of a point may add.
  struct AtPoint {
    std::vector<Id> ids;
    Numbers threads;
    Numbers cpus;
  };
  struct Rows {
    std::vector<std::uint64_t> start_ns;
    std::vector<std::uint64_t> end_ns;
    std::vector<float> latency_ns;
    std::vector<bool> is_slow;
    std::unordered_map<std::uint64_t, std::size_t> unexplained;  // rows of journeys without a cause
    std::map<std::string, Column> columns;
    std::vector<AtPoint> at_points;
    std::vector<std::vector<std::string>> paths;  // the places of each value of "path"
    std::map<std::vector<model::PointId>, std::uint32_t> path_of;  // by points in order
    std::uint64_t slow_from_ns = 0;
  };

  static std::size_t index_of(model::Direction direction) {
    return direction == model::Direction::kUplink ? 1 : 0;
  }
  // Sets a value of the packet that was begun last. Returns whether the attribute had no such value
  // yet; only then `condition` is called.
  template <typename Condition>
  bool set(Rows& rows, const std::string& name, std::string value, const Condition& condition);
  template <typename Name, typename Text, typename Condition>
  static void set_number(Rows& rows, Numbers& numbers, const Name& name, std::uint64_t number,
                         const Text& text, const Condition& condition);
  static Column& column_of(Rows& rows, const std::string& name);
  template <typename Condition>
  static bool put(Column& column, std::size_t row, std::string value, const Condition& condition);
  std::vector<AtPoint> points_with_ids() const;
  void note_ids(Rows& rows, const journeys::Step& step);
  void note_thread(Rows& rows, const journeys::Step& step);
  void note_cpu(Rows& rows, const journeys::Step& step);
  void note_length(Rows& rows, const journeys::Step& own);
  void note_repeats(Rows& rows, const journeys::Journey& journey);
  std::string condition_at(const journeys::Step& step, std::string_view word,
                           std::int64_t number) const;
  void note_path(Rows& rows, const journeys::Journey& journey);
  void set_path(Rows& rows, const std::vector<model::PointId>& points);
  std::vector<std::string> path_conditions(const Rows& rows) const;
  void note_ahead(Rows& rows);
  void decide_slow(Rows& rows);
  PacketAttributes table_of(Rows& rows) const;

  const About& about_;
  IsSlow is_slow_;
  std::unordered_map<std::uint32_t, std::int32_t> cpus_;  // by stream
  std::array<Rows, 2> rows_;
  std::array<PacketAttributes, 2> tables_;
  std::uint64_t left_out_ = 0;
  // By point; a condition is empty if the point's name cannot be quoted.
  std::vector<std::string> point_conditions_;
  std::vector<std::string> point_names_;
  std::vector<std::optional<std::size_t>> unread_;
  std::vector<model::PointId> points_on_way_;  // of the journey at hand
};

}  // namespace sojourn::differential
