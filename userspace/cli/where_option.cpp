#include "userspace/cli/where_option.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/pipeline/trace_marks.h"
#include "analysis/profile/sampled_work.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

namespace {

filter::BindContext surroundings(const trace::Reader& reader) {
  return {.origin_ns = pipeline::origin_ns(reader),
          .streams = reader.streams(),
          .threads = profile::thread_names(reader.context())};
}

// Warns about events without a CPU, which the filter leaves out.
void tell_of_events_without_cpu(const std::string& option, const trace::Reader& reader) {
  std::map<std::uint32_t, const model::Stream*> streams;
  for (const model::Stream& stream : reader.streams()) streams[stream.id] = &stream;
  std::uint64_t targets = 0;
  std::uint64_t without = 0;
  for (const trace::BlockInfo& block : reader.blocks()) {
    const auto stream = streams.find(block.stream);
    if (stream != streams.end() && !model::carries_points(stream->second->engine)) continue;
    targets += block.events;
    if (stream == streams.end() || stream->second->cpu < 0) without += block.events;
  }
  if (without != 0)
    tell(
        "{}: {} of the target's {} do not say their CPU, as those of rings: no "
        "comparison with cpu is true of them\n",
        option, without == targets ? "all" : grouped(without), counted(targets, "event"));
}

template <typename Filter>
Result<std::optional<Filter>> compile(const WhereOption& where, const trace::Reader& reader) {
  if (!where.given()) return std::nullopt;
  SJ_TRY(expression, where.expression());
  auto made = Filter::compile(expression, reader.schema(), surroundings(reader));
  if (!made) return std::unexpected(std::move(made).error().within(where.name()));
  if (filter::asks_for(expression, filter::Keyword::kCpu))
    tell_of_events_without_cpu(where.name(), reader);
  return std::optional<Filter>(std::move(*made));
}

}  // namespace

void WhereOption::define(Arguments& arguments, const std::string& help, const std::string& name) {
  name_ = name;
  arguments.add_option(name, text_, help).type_name("EXPR").check([](const std::string& text) {
    const auto parsed = filter::parse(text);
    return parsed ? std::string() : parsed.error().text();
  });
}

std::string WhereOption::text() const {
  std::string line = text_;
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return line;
}

Result<filter::Expression> WhereOption::expression() const {
  auto parsed = filter::parse(text_);
  if (!parsed) return std::unexpected(std::move(parsed).error().within(name_));
  return parsed;
}

// The CPU of a thread's own time is known, also if its events have none.
Result<std::optional<filter::ThreadFilter>> WhereOption::threads(
    const trace::Reader& reader) const {
  if (!given()) return std::nullopt;
  SJ_TRY(parsed, expression());
  auto made = filter::ThreadFilter::compile(parsed, surroundings(reader));
  if (!made) return std::unexpected(std::move(made).error().within(name_));
  return std::optional<filter::ThreadFilter>(std::move(*made));
}

Result<std::optional<filter::EventFilter>> WhereOption::events(const trace::Reader& reader) const {
  return compile<filter::EventFilter>(*this, reader);
}

Result<std::optional<filter::JourneyFilter>> WhereOption::journeys(
    const trace::Reader& reader) const {
  return compile<filter::JourneyFilter>(*this, reader);
}

void select(std::optional<filter::EventFilter>& where, const model::EventBatch& events,
            std::vector<std::uint32_t>& rows) {
  rows.clear();
  if (where) {
    where->select(events, rows);
    return;
  }
  rows.resize(events.size());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
}

}  // namespace sojourn::cli
