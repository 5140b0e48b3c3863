#include <cstdint>

#include <protozero/pbf_writer.hpp>

#include "analysis/metrics/exposition.h"

namespace sojourn::metrics {

namespace {

using protozero::pbf_tag_type;
using protozero::pbf_writer;

// The numbers of fields, by message of io.prometheus.client.
namespace metric_family {
constexpr pbf_tag_type kName = 1;
constexpr pbf_tag_type kHelp = 2;
constexpr pbf_tag_type kType = 3;
constexpr pbf_tag_type kMetric = 4;
constexpr pbf_tag_type kUnit = 5;
}  // namespace metric_family
namespace metric {
constexpr pbf_tag_type kLabel = 1;
constexpr pbf_tag_type kGauge = 2;
constexpr pbf_tag_type kCounter = 3;
constexpr pbf_tag_type kHistogram = 7;
}  // namespace metric
namespace label_pair {
constexpr pbf_tag_type kName = 1;
constexpr pbf_tag_type kValue = 2;
}  // namespace label_pair
constexpr pbf_tag_type kValue = 1;  // of Gauge and of Counter
namespace histogram {
constexpr pbf_tag_type kSampleCount = 1;
constexpr pbf_tag_type kSampleSum = 2;
constexpr pbf_tag_type kBucket = 3;
constexpr pbf_tag_type kSchema = 5;
constexpr pbf_tag_type kZeroThreshold = 6;
constexpr pbf_tag_type kZeroCount = 7;
constexpr pbf_tag_type kPositiveSpan = 12;
constexpr pbf_tag_type kPositiveDelta = 13;
}  // namespace histogram
namespace bucket {
constexpr pbf_tag_type kCumulativeCount = 1;
constexpr pbf_tag_type kUpperBound = 2;
constexpr pbf_tag_type kExemplar = 3;
}  // namespace bucket
namespace bucket_span {
constexpr pbf_tag_type kOffset = 1;
constexpr pbf_tag_type kLength = 2;
}  // namespace bucket_span
namespace exemplar {
constexpr pbf_tag_type kLabel = 1;
constexpr pbf_tag_type kValue = 2;
constexpr pbf_tag_type kTimestamp = 3;
}  // namespace exemplar
namespace timestamp {
constexpr pbf_tag_type kSeconds = 1;
constexpr pbf_tag_type kNanos = 2;
}  // namespace timestamp

// The least positive time that is not counted as zero: Prometheus's own default, 2^-128.
constexpr double kZeroThreshold = 2.938735877055719e-39;

// The values of io.prometheus.client.MetricType.
std::int32_t number_of(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return 0;
    case MetricType::kGauge:
      return 1;
    case MetricType::kHistogram:
      return 4;
  }
  return 3;  // untyped
}

void add_label(pbf_writer& message, pbf_tag_type tag, std::string_view name,
               std::string_view value) {
  pbf_writer pair(message, tag);
  pair.add_string(label_pair::kName, name.data(), name.size());
  pair.add_string(label_pair::kValue, value.data(), value.size());
}

void add_exemplar(pbf_writer& message, const Exemplar& packet,
                  const std::optional<model::ClockPair>& clock) {
  pbf_writer written(message, bucket::kExemplar);
  add_label(written, exemplar::kLabel, "journey", std::to_string(packet.journey));
  written.add_double(exemplar::kValue, static_cast<double>(packet.value_ns) / 1e9);
  if (!clock) return;
  const std::uint64_t at_ns = packet.at_ns + (clock->realtime_ns - clock->monotonic_ns);
  pbf_writer time(written, exemplar::kTimestamp);
  time.add_int64(timestamp::kSeconds, static_cast<std::int64_t>(at_ns / 1'000'000'000));
  time.add_int32(timestamp::kNanos, static_cast<std::int32_t>(at_ns % 1'000'000'000));
}

// Runs of buckets that are not empty, and each count as its difference from the one before.
void add_native(pbf_writer& message, const NativeBuckets& buckets) {
  message.add_sint32(histogram::kSchema, NativeBuckets::kSchema);
  message.add_double(histogram::kZeroThreshold, kZeroThreshold);
  message.add_uint64(histogram::kZeroCount, buckets.zeros());
  const auto& counts = buckets.counts();
  std::vector<std::int64_t> deltas;
  std::int64_t before = 0;
  int next = 0;  // the number that an offset of 0 means
  for (std::size_t at = 0; at < counts.size();) {
    const std::size_t first = at;
    for (; at < counts.size() && counts[at] != 0; ++at) {
      const auto count = static_cast<std::int64_t>(counts[at]);
      deltas.push_back(count - before);
      before = count;
    }
    if (at == first) {
      ++at;
      continue;
    }
    const int number = NativeBuckets::kFirst + static_cast<int>(first);
    pbf_writer span(message, histogram::kPositiveSpan);
    span.add_sint32(bucket_span::kOffset, number - next);
    span.add_uint32(bucket_span::kLength, static_cast<std::uint32_t>(at - first));
    next = NativeBuckets::kFirst + static_cast<int>(at);
  }
  for (const std::int64_t delta : deltas) message.add_sint64(histogram::kPositiveDelta, delta);
}

void add_histogram(pbf_writer& message, const LatencyHistogram& times,
                   const std::optional<model::ClockPair>& clock) {
  pbf_writer written(message, metric::kHistogram);
  written.add_uint64(histogram::kSampleCount, times.count());
  written.add_double(histogram::kSampleSum, times.sum_ns() / 1e9);
  std::uint64_t below = 0;
  for (std::size_t at = 0; at < LatencyHistogram::kBoundsNs.size(); ++at) {
    below += times.in_bucket(at);
    pbf_writer one(written, histogram::kBucket);
    one.add_uint64(bucket::kCumulativeCount, below);
    one.add_double(bucket::kUpperBound, static_cast<double>(LatencyHistogram::kBoundsNs[at]) / 1e9);
    if (times.exemplar(at)) add_exemplar(one, *times.exemplar(at), clock);
  }
  add_native(written, times.native());
}

void add_sample(pbf_writer& message, MetricType type, const Sample& sample,
                const std::optional<model::ClockPair>& clock) {
  pbf_writer written(message, metric_family::kMetric);
  for (const auto& [name, value] : sample.labels) add_label(written, metric::kLabel, name, value);
  if (const auto* const times = std::get_if<LatencyHistogram>(&sample.value))
    return add_histogram(written, *times, clock);
  pbf_writer value(written, type == MetricType::kCounter ? metric::kCounter : metric::kGauge);
  value.add_double(kValue, std::get<double>(sample.value));
}

}  // namespace

// Each family is a message with its length in front.
std::string protobuf_exposition(std::span<const Family> families,
                                const std::optional<model::ClockPair>& clock) {
  std::string all;
  for (const Family& family : families) {
    if (family.samples.empty()) continue;
    std::string bytes;
    pbf_writer message(bytes);
    message.add_string(metric_family::kName,
                       family.name + (family.type == MetricType::kCounter ? "_total" : ""));
    message.add_string(metric_family::kHelp, family.help);
    message.add_enum(metric_family::kType, number_of(family.type));
    for (const Sample& sample : family.samples) add_sample(message, family.type, sample, clock);
    if (!family.unit.empty()) message.add_string(metric_family::kUnit, family.unit);
    protozero::add_varint_to_buffer(&all, bytes.size());
    all += bytes;
  }
  return all;
}

}  // namespace sojourn::metrics
