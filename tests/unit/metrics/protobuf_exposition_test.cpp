#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <protozero/pbf_reader.hpp>

#include "analysis/metrics/exposition.h"

namespace sojourn::metrics {
namespace {

using protozero::pbf_reader;

// The messages of a text, without the lengths before them.
std::vector<std::string> messages_of(const std::string& all) {
  std::vector<std::string> messages;
  const char* at = all.data();
  const char* const end = all.data() + all.size();
  while (at != end) {
    const auto length = protozero::decode_varint(&at, end);
    REQUIRE(length <= static_cast<std::uint64_t>(end - at));
    messages.emplace_back(at, static_cast<std::size_t>(length));
    at += length;
  }
  return messages;
}

struct Native {
  std::int32_t schema = 0;
  std::uint64_t zeros = 0;
  double zero_threshold = 0;
  std::vector<std::pair<int, std::uint64_t>> buckets;  // index and count
  std::vector<std::pair<double, std::uint64_t>> classic;
  std::uint64_t count = 0;
  double sum = 0;
  std::string exemplar;
};

std::string label_of(pbf_reader pair) {
  std::string text;
  while (pair.next()) text += (text.empty() ? "" : "=") + pair.get_string();
  return text;
}

void read_bucket(pbf_reader bucket, Native& native) {
  std::uint64_t count = 0;
  double bound = 0;
  while (bucket.next()) switch (bucket.tag()) {
      case 1:
        count = bucket.get_uint64();
        break;
      case 2:
        bound = bucket.get_double();
        break;
      case 3: {
        pbf_reader exemplar = bucket.get_message();
        REQUIRE(exemplar.next(1));
        native.exemplar = label_of(exemplar.get_message());
        break;
      }
      default:
        FAIL("an unknown field of a bucket");
    }
  native.classic.emplace_back(bound, count);
}

Native histogram_of(pbf_reader message) {
  Native native;
  std::vector<std::pair<int, unsigned>> spans;
  std::vector<std::int64_t> deltas;
  while (message.next()) switch (message.tag()) {
      case 1:
        native.count = message.get_uint64();
        break;
      case 2:
        native.sum = message.get_double();
        break;
      case 3:
        read_bucket(message.get_message(), native);
        break;
      case 5:
        native.schema = message.get_sint32();
        break;
      case 6:
        native.zero_threshold = message.get_double();
        break;
      case 7:
        native.zeros = message.get_uint64();
        break;
      case 12: {
        pbf_reader span = message.get_message();
        REQUIRE(span.next(1));
        const int offset = span.get_sint32();
        REQUIRE(span.next(2));
        spans.emplace_back(offset, span.get_uint32());
        break;
      }
      case 13:
        deltas.push_back(message.get_sint64());
        break;
      default:
        FAIL("an unknown field of a histogram");
    }
  int index = 0;
  std::int64_t count = 0;
  std::size_t at = 0;
  for (const auto& [offset, length] : spans) {
    index += offset;
    for (unsigned i = 0; i < length; ++i, ++index) {
      REQUIRE(at < deltas.size());
      count += deltas[at++];
      native.buckets.emplace_back(index, static_cast<std::uint64_t>(count));
    }
  }
  CHECK(at == deltas.size());
  return native;
}

TEST_CASE("a histogram has its native buckets, its classic ones and exemplars in protobuf") {
  LatencyHistogram times;
  times.add(0);
  for (int i = 0; i < 3; ++i) times.add(1'000'000'000);  // index 0
  times.add(1'050'000'000);                              // index 1
  times.add(Exemplar{.journey = 9, .value_ns = 1'900'000, .at_ns = 5});
  const std::vector<Family> families = {
      {.name = "sojourn_latency_seconds",
       .help = "Time.",
       .type = MetricType::kHistogram,
       .unit = "seconds",
       .samples = {{.labels = {{"direction", "D"}}, .value = times}}}};
  const auto messages = messages_of(exposition(families, Format::kProtobuf, {}));
  REQUIRE(messages.size() == 1);
  pbf_reader family(messages.front());
  REQUIRE(family.next(1));
  CHECK(family.get_string() == "sojourn_latency_seconds");
  REQUIRE(family.next(3));
  CHECK(family.get_enum() == 4);
  REQUIRE(family.next(4));
  pbf_reader metric = family.get_message();
  REQUIRE(metric.next(1));
  CHECK(label_of(metric.get_message()) == "direction=D");
  REQUIRE(metric.next(7));
  const Native native = histogram_of(metric.get_message());
  CHECK(native.schema == NativeBuckets::kSchema);
  CHECK(native.zeros == 1);
  CHECK(native.zero_threshold > 0);
  CHECK(native.count == 6);
  CHECK(native.sum == times.sum_ns() / 1e9);
  const int slow = NativeBuckets::bucket_of(1'900'000);
  CHECK(native.buckets == std::vector<std::pair<int, std::uint64_t>>{{slow, 1}, {0, 3}, {1, 1}});
  CHECK(native.classic.size() == LatencyHistogram::kBoundsNs.size());
  CHECK(native.classic.back() == std::pair<double, std::uint64_t>(10, 6));
  CHECK(native.exemplar == "journey=9");
}

TEST_CASE("a counter's family has the ending that its samples have, and its value") {
  const std::vector<Family> families = {{.name = "sojourn_events",
                                         .help = "Events.",
                                         .type = MetricType::kCounter,
                                         .unit = {},
                                         .samples = {{.labels = {}, .value = 12.0}}},
                                        {.name = "sojourn_nothing",
                                         .help = {},
                                         .type = MetricType::kGauge,
                                         .unit = {},
                                         .samples = {}},
                                        {.name = "sojourn_depth",
                                         .help = "Depth.",
                                         .type = MetricType::kGauge,
                                         .unit = {},
                                         .samples = {{.labels = {}, .value = 3.5}}}};
  const auto messages = messages_of(protobuf_exposition(families, {}));
  REQUIRE(messages.size() == 2);
  const auto value_of = [](const std::string& bytes, std::uint32_t tag) {
    pbf_reader family(bytes);
    REQUIRE(family.next(4));
    pbf_reader metric = family.get_message();
    REQUIRE(metric.next(tag));
    pbf_reader value = metric.get_message();
    REQUIRE(value.next(1));
    return value.get_double();
  };
  pbf_reader counter(messages.front());
  REQUIRE(counter.next(1));
  CHECK(counter.get_string() == "sojourn_events_total");
  CHECK(value_of(messages.front(), 3) == 12);
  CHECK(value_of(messages.back(), 2) == 3.5);
}

}  // namespace
}  // namespace sojourn::metrics
