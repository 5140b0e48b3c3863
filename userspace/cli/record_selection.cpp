#include "userspace/cli/record_selection.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fnmatch.h>

#include "analysis/filter/event_filter.h"
#include "analysis/filter/words.h"
#include "userspace/target/procfs.h"
#include "userspace/target/selection.h"

namespace sojourn::cli {

namespace {

bool is_exception(const std::string& glob) {
  return glob.starts_with('!');
}

bool matches(const std::string& glob, const model::Point& point) {
  const std::string name = point.name();
  const std::string with_direction = fmt::format("{} {}", letter(point.direction), name);
  const char* const pattern = glob.c_str() + (is_exception(glob) ? 1 : 0);
  return fnmatch(pattern, name.c_str(), 0) == 0 || fnmatch(pattern, with_direction.c_str(), 0) == 0;
}

bool is_asked_for(const std::vector<std::string>& globs, const model::Point& point) {
  const bool only_exceptions = std::ranges::all_of(globs, is_exception);
  const auto hit = [&](const std::string& glob) { return matches(glob, point); };
  return std::ranges::none_of(
             globs, [&](const std::string& glob) { return is_exception(glob) && hit(glob); }) &&
         (only_exceptions || std::ranges::any_of(globs, [&](const std::string& glob) {
            return !is_exception(glob) && hit(glob);
          }));
}

// A pattern that means nothing is a slip of the pen.
Result<void> require_matches(const std::vector<std::string>& globs, const model::Schema& schema) {
  std::vector<std::string> names;
  names.reserve(schema.points.size());
  for (const model::Point& point : schema.points) names.push_back(target::printable(point.name()));
  for (const std::string& glob : globs)
    if (std::ranges::none_of(schema.points,
                             [&](const model::Point& point) { return matches(glob, point); }))
      return fail("--points: no point matches {}{}", glob, filter::did_you_mean(glob, names));
  return {};
}

}  // namespace

void RecordSelection::define(CLI::App& app) {
  app.add_option("--points", globs_,
                 "Only points that match, e.g. 'rlc.*' or 'U *'; '!GLOB' leaves those out; may be "
                 "repeated. Others are not armed and cost nothing")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  where_.define(app,
                "Leave out events for which this is false, e.g. 'rnti == 0x4601'; events without "
                "such a field are kept; docs/filters.md has the language");
}

Result<target::Points> RecordSelection::apply(target::Points points, capture::Options& how) const {
  if (!globs_.empty()) {
    SJ_CHECK(require_matches(globs_, points.schema));
    std::vector<bool> wanted;
    wanted.reserve(points.schema.points.size());
    for (const model::Point& point : points.schema.points)
      wanted.push_back(is_asked_for(globs_, point));
    if (std::ranges::find(wanted, true) == wanted.end())
      return fail("--points: what is asked for is left out again: no point remains");
    points = target::select(std::move(points), wanted);
    how.engines.rings.wants = [globs = globs_](const model::Point& point) {
      return is_asked_for(globs, point);
    };
  }
  if (!where_.given()) return points;

  SJ_TRY(expression, where_.expression());
  const auto compile = [&](filter::Names names) {
    return filter::EventFilter::compile(expression, points.schema, {.streams = {}, .names = names},
                                        filter::Missing::kAccept);
  };
  auto filter = compile(filter::Names::kMustBeKnown);
  if (!filter) return std::unexpected(std::move(filter).error().within("--where"));
  std::vector<bool> wanted;
  wanted.reserve(points.schema.points.size());
  for (std::size_t id = 0; id < points.schema.points.size(); ++id)
    wanted.push_back(filter->verdict(static_cast<model::PointId>(id)) !=
                     filter::Program::Verdict::kNone);
  if (std::ranges::find(wanted, true) == wanted.end())
    return fail("--where: true of no point's events: {}", where_.text());
  points = target::select(std::move(points), wanted);

  SJ_TRY(narrowed, compile(filter::Names::kAreChecked));
  for (std::size_t id = 0; id < points.schema.points.size(); ++id)
    how.engines.bpf.keep.push_back(narrowed.field_tests(static_cast<model::PointId>(id))
                                       .value_or(std::vector<filter::FieldTest>()));
  how.where = std::move(expression);
  return points;
}

}  // namespace sojourn::cli
