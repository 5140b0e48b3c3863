#include "userspace/capture/metrics/feed_follower.h"

#include <cstring>
#include <utility>

#include <sys/resource.h>

#include "analysis/journeys/rules.h"
#include "analysis/trace/format.h"
#include "analysis/trace/meta.h"

namespace sojourn::capture {

namespace {

using trace::BlockHeader;
using trace::BlockType;

constexpr std::size_t kChunksAtOnce = 4;
constexpr std::uint64_t kOnTheWayNs = 200'000'000;  // from the stamp to the feed, besides flushing

double own_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

FeedFollower::FeedFollower(BlockFeed& feed, std::chrono::nanoseconds flush_period, std::size_t ues,
                           BlockFeed::Wake wake)
    : feed_(&feed),
      lag_ns_(static_cast<std::uint64_t>(flush_period.count()) + kOnTheWayNs),
      reader_(feed.join(std::move(wake), BlockFeed::Kind::kWatcher)),
      figures_(ues) {}

FeedFollower::~FeedFollower() {
  if (reader_) feed_->leave(reader_);
}

bool FeedFollower::follow() {
  if (!reader_) return false;
  const auto chunks = feed_->waiting(*reader_, kChunksAtOnce);
  for (const auto& chunk : chunks) take(*chunk);
  feed_->consume(*reader_, chunks.size());
  return !chunks.empty();
}

// A chunk is the beginning of a file, or one block.
void FeedFollower::take(std::span<const std::uint8_t> chunk) {
  std::uint64_t magic = 0;
  std::memcpy(&magic, chunk.data(), sizeof(magic));
  if (magic == trace::kFileMagic) chunk = chunk.subspan(sizeof(trace::FileHeader));
  if (chunk.size() < sizeof(BlockHeader)) return;
  BlockHeader header;
  std::memcpy(&header, chunk.data(), sizeof(header));
  if (!take_block(header, chunk.subspan(sizeof(header)))) ++unreadable_;
}

Result<void> FeedFollower::take_block(const BlockHeader& header,
                                      std::span<const std::uint8_t> payload) {
  SJ_TRY(raw, opener_.open(header, payload));
  switch (header.type) {
    case BlockType::kEvents:
      return take_events(header, raw);
    case BlockType::kSchema: {
      model::Schema schema;
      SJ_CHECK(trace::from_json(raw, schema));
      if (schema.points.size() == schema_.points.size()) return {};
      schema_ = std::move(schema);
      restart();
      return {};
    }
    case BlockType::kStream: {
      model::Stream stream;
      SJ_CHECK(trace::from_json(raw, stream));
      streams_.push_back(stream);
      if (links_) links_->add_stream(stream);
      break;
    }
    case BlockType::kTarget: {
      model::Target target;
      SJ_CHECK(trace::from_json(raw, target));
      targets_.push_back(std::move(target));
      break;
    }
    case BlockType::kCapture: {
      const std::uint64_t opened_ns = capture_.open_ns;
      SJ_CHECK(trace::from_json(raw, capture_));
      if (capture_.open_ns != opened_ns) restart();
      return {};
    }
    case BlockType::kLedger: {
      model::Ledger ledger;
      SJ_CHECK(trace::from_json(raw, ledger));
      figures_.note(ledger);
      return {};
    }
    case BlockType::kQueues: {
      model::QueueChanges changes;
      SJ_CHECK(trace::from_json(raw, changes));
      figures_.note(changes);
      queue_changes_.insert(queue_changes_.end(), changes.begin(), changes.end());
      return {};
    }
    case BlockType::kContext:
      return trace::from_json(raw, context_);
    case BlockType::kClock: {
      model::ClockPair clock;
      SJ_CHECK(trace::from_json(raw, clock));
      clock_ = clock;
      advance(clock.monotonic_ns);
      return {};
    }
    default:
      return {};
  }
  auto groups = model::groups_of(streams_, targets_);
  if (groups == groups_) return {};
  groups_ = std::move(groups);
  restart();
  return {};
}

Result<void> FeedFollower::take_events(const BlockHeader& header,
                                       std::span<const std::uint8_t> columns) {
  SJ_CHECK(decoder_.decode(columns, trace::summary_of(header), schema_, events_));
  figures_.consume(schema_, events_);
  if (rebuilder_) rebuilder_->take(events_);
  return {};
}

// Journeys that are under way are given up, but not the events that wait. It happens when points,
// processes or the open mark come, at the beginning mostly.
void FeedFollower::restart() {
  model::EventBatch waiting;
  if (rebuilder_) {
    late_ += rebuilder_->late();
    waiting = rebuilder_->take_waiting();
  }
  rebuilder_.reset();
  observers_.reset();
  slow_packets_.reset();
  auto topology = journeys::Topology::derive(schema_, journeys::Rules{});
  if (!topology) return;
  topology_ = std::move(*topology);
  figures_.begin(*topology_, schema_);
  slow_packets_.emplace(
      causes::TraceMetadata{schema_, context_, capture_, streams_, queue_changes_, targets_},
      *topology_, journeys::Rules{}, figures_);
  observers_.emplace(std::vector<journeys::Observer*>{&figures_, &*slow_packets_});
  links_ = std::make_shared<links::Resolver>(schema_, streams_);
  auto fresh = journeys::LiveRebuilder::create(
      schema_, journeys::Rules{}, {.open_ns = capture_.open_ns, .groups = groups_}, *observers_,
      [links = links_](model::EventBatch& events) { links->resolve(events); },
      [this](const model::EventBatch& events) { slow_packets_->consume(events); });
  if (!fresh) return;
  rebuilder_ = std::move(*fresh);
  rebuilder_->take(waiting);
}

void FeedFollower::advance(std::uint64_t clock_ns) {
  if (rebuilder_ && clock_ns > lag_ns_) rebuilder_->advance(clock_ns - lag_ns_);
  has_news_ = true;
}

void FeedFollower::finish() {
  if (rebuilder_) rebuilder_->finish();
  has_news_ = true;
}

std::vector<metrics::Family> FeedFollower::families() const {
  std::vector<metrics::Family> families = figures_.families(capture_.hit_cost_ps);
  const auto add = [&families](std::string name, metrics::MetricType type, std::string unit,
                               std::string help, double value) {
    families.push_back({.name = std::move(name),
                        .help = std::move(help),
                        .type = type,
                        .unit = std::move(unit),
                        .samples = {{.labels = {}, .value = value}}});
  };
  using enum metrics::MetricType;
  const BlockFeed::Totals totals = feed_->totals();
  add("sojourn_late_events", kCounter, "", "Events that came too late to be rebuilt.",
      static_cast<double>(late_ + (rebuilder_ ? rebuilder_->late() : 0)));
  add("sojourn_readers", kCounter, "", "Readers of the capture's stream, the metrics included.",
      static_cast<double>(totals.readers));
  add("sojourn_reader_lost_events", kCounter, "",
      "Events that readers lost as they were behind, the metrics included.",
      static_cast<double>(totals.lost));
  add("sojourn_tracer_cpu_seconds", kCounter, "seconds", "Processor time of the tracer itself.",
      own_cpu_seconds());
  add("sojourn_unreadable_blocks", kCounter, "", "Blocks that the metrics could not read.",
      static_cast<double>(unreadable_));
  return families;
}

}  // namespace sojourn::capture
