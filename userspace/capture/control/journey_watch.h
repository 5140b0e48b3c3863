// Tests conditions on whole journeys while a capture runs: journeys are rebuilt behind the events,
// up to the capture's watermark. The sink's thread owns it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/journey_filter.h"
#include "analysis/filter/syntax.h"
#include "analysis/journeys/live_rebuilder.h"
#include "analysis/links/resolver.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::capture {

class JourneyWatch final : journeys::Observer {
 public:
  // Called with the condition's index and the time at which the journey ended.
  using Fire = std::function<void(std::size_t condition, std::uint64_t end_ns)>;

  static Result<void> check(const filter::Expression& condition, const model::Schema& schema);

  JourneyWatch(std::vector<filter::Expression> conditions, Fire fire);

  void adapt(const model::Schema& schema);
  void add_stream(const model::Stream& stream);
  void know_threads(filter::ThreadNames threads);
  void add_target(const model::Target& target);
  void begin(std::uint64_t open_ns);

  void take(const model::EventBatch& events);
  // Leaves events out because rebuilding takes too long, and begins anew behind them.
  void skip(const model::EventBatch& events);
  // All events before the watermark have been passed in.
  void advance(std::uint64_t watermark_ns);

  // The number of events that were not used: they came too late, or were skipped.
  std::uint64_t left_out() const { return left_out_ + (rebuilder_ ? rebuilder_->late() : 0); }

 private:
  void on_journey(const journeys::Journey& journey) override;
  void regroup();
  void restart();

  std::vector<filter::Expression> conditions_;
  Fire fire_;
  model::Schema schema_;
  std::vector<model::Stream> streams_;
  filter::ThreadNames threads_;
  std::vector<model::Target> targets_;
  std::vector<std::uint16_t> groups_;  // see Marks
  std::vector<std::optional<filter::JourneyFilter>>
      filters_;                             // by condition; empty: it does not fit the schema
  std::shared_ptr<links::Resolver> links_;  // the rebuilder's, as functions are copied
  std::optional<journeys::LiveRebuilder> rebuilder_;
  std::uint64_t open_ns_ = 0;
  bool is_behind_ = false;
  bool has_news_ = true;  // the filters do not know the newest schema or streams yet
  std::uint64_t left_out_ = 0;
};

}  // namespace sojourn::capture
