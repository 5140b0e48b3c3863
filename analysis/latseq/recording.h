// A whole trace as LatSeq's own tools see a recording: events of D and U, with ids as those tools
// read them. Names are letters, values are digits, and a name that stands several times among the
// local ids holds a list. All of it is in memory, some 150 bytes an event. One thread owns it.
// LatSeq's rebuilder changes its input, so each rebuild needs a Recording of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/latseq/graph.h"
#include "analysis/latseq/name_table.h"
#include "analysis/trace/reader.h"

namespace sojourn::latseq {

constexpr std::uint32_t kOneValue = UINT32_MAX;

struct Id {
  NameId name = 0;
  std::uint32_t list = kOneValue;  // else an index into Recording::lists(); `value` is unused
  std::uint64_t value = 0;
};

// Names in the order of their first use, as in a Python dictionary.
using Ids = std::vector<Id>;

// Sets a name's value, which keeps its position.
void put(Ids& ids, const Id& id);

struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Measure {
  std::uint64_t ts_ns = 0;  // since 1970 where the trace knows the wall's clock
  std::uint64_t seq = 0;    // with the stream, which event of the trace it is
  std::uint32_t stream = 0;
  NameId src = 0;
  NameId dest = 0;
  bool uplink = false;
  Range properties;
  Range globals;
  Range locals;
};

class Recording {
 public:
  using Progress = std::function<void(std::uint64_t done, std::uint64_t of)>;

  static Result<Recording> read(trace::Reader& reader, const Progress& progress);

  // In order of time. An event of LatSeq's "no such terminal" (rnti 65535) is in the graph only.
  const std::vector<Measure>& measures() const { return measures_; }
  const Graph& graph() const { return graph_; }
  const NameTable& names() const { return names_; }
  NameTable& names() { return names_; }
  const std::vector<std::vector<std::uint64_t>>& lists() const { return lists_; }
  // The name of the recording.
  const std::string& file() const { return file_; }
  bool knows_wall_clock() const { return knows_wall_clock_; }

  std::span<const Id> ids(Range range) const {
    return std::span(pool_).subspan(range.begin, range.end - range.begin);
  }
  std::span<Id> ids(Range range) {
    return std::span(pool_).subspan(range.begin, range.end - range.begin);
  }
  Ids copy(Range range) const;
  void set_globals(std::uint32_t measure, const Ids& globals);

  // The first event that equals this one, its time included: LatSeq looks events up by their
  // contents.
  std::uint32_t first_equal(std::uint32_t measure) const;

  std::string segment(const Measure& measure) const;  // "src--dest"

 private:
  struct FieldPlan;
  struct PointPlan;

  PointPlan plan_of(const model::Point& point);
  void add(const model::EventView& event, PointPlan& plan, std::uint64_t ts_ns);
  Range add_ids(const model::EventView& event, const PointPlan& plan, model::Role role);
  void add_id(std::uint32_t begin, Id id, model::Role role);
  bool equal(const Measure& left, const Measure& right) const;
  bool equal(Range left, Range right) const;

  NameTable names_;
  Graph graph_;
  std::vector<Measure> measures_;
  std::vector<Id> pool_;
  std::vector<std::vector<std::uint64_t>> lists_;
  std::string file_;
  bool knows_wall_clock_ = false;
};

}  // namespace sojourn::latseq
