#include "tests/support/truth_trace.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "analysis/trace/writer.h"
#include "userspace/files/trace_file.h"

namespace sojourn::test {

namespace {

constexpr std::size_t kBlockEvents = 16'384;

}  // namespace

Result<void> write_as_trace(const truth::Truth& truth, const std::string& trace) {
  model::Schema schema;
  for (const truth::PointName& name : truth.points) {
    SJ_TRY(point, model::parse_point(name.where, name.fields));
    schema.points.push_back(std::move(point));
  }
  SJ_TRY(writer, files::create_trace(trace));
  SJ_CHECK(writer.write(schema));
  SJ_CHECK(writer.write(model::Stream{.id = 0, .engine = model::Engine::kImport}));
  model::EventBatch batch;
  std::uint64_t seq = 0;
  for (const truth::Hit& hit : truth.hits) {
    batch.append({hit.before_ns, seq++, 0, hit.tid, hit.point, hit.values});
    if (batch.size() < kBlockEvents) continue;
    SJ_CHECK(writer.write(batch));
    batch.clear();
  }
  SJ_CHECK(writer.write(batch));
  model::Capture capture;
  capture.engine = model::Engine::kImport;
  if (!truth.hits.empty()) {
    capture.open_ns = truth.hits.front().before_ns;
    capture.close_ns = truth.hits.back().before_ns + 1;
  }
  SJ_CHECK(writer.write(capture));
  return writer.finish();
}

}  // namespace sojourn::test
