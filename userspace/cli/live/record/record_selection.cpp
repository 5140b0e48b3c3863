#include "userspace/cli/live/record/record_selection.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "analysis/filter/event_filter.h"
#include "analysis/filter/keywords.h"
#include "analysis/model/links.h"
#include "analysis/model/pattern.h"
#include "userspace/tracee/point_selection.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::cli {

namespace {

bool is_exception(const std::string& glob) {
  return glob.starts_with('!');
}

bool matches(const std::string& glob, const model::Point& point) {
  return model::matches_pattern(point, is_exception(glob) ? glob.substr(1) : glob);
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

// A pattern that matches no point is taken for a typing error.
Result<void> require_matches(const std::vector<std::string>& globs, const model::Schema& schema) {
  std::vector<std::string> names;
  names.reserve(schema.points.size());
  for (const model::Point& point : schema.points) names.push_back(tracee::printable(point.name()));
  for (const std::string& glob : globs)
    if (std::ranges::none_of(schema.points,
                             [&](const model::Point& point) { return matches(glob, point); }))
      return fail("--points: no point matches {}{}", glob.empty() ? "\"\"" : glob,
                  filter::did_you_mean(glob, names));
  return {};
}

Result<filter::EventFilter> compile(const filter::Expression& expression,
                                    const model::Schema& schema, filter::NameCheck names) {
  return filter::EventFilter::compile(expression, model::as_recorded(schema),
                                      {.streams = {}, .names = names, .more_threads = true},
                                      filter::Missing::kAccept);
}

bool may_hold(const filter::EventFilter& filter, std::size_t id) {
  return filter.point_match(static_cast<model::PointId>(id)) != filter::Program::PointMatch::kNone;
}

// The points of one process that are asked for. Points that the expression cannot judge are kept.
tracee::Points narrow(tracee::Points points, const std::vector<std::string>& globs,
                      const std::optional<filter::Expression>& expression) {
  const auto& all = points.schema.points;
  std::vector<bool> wanted(all.size(), true);
  const auto filter = expression
                          ? compile(*expression, points.schema, filter::NameCheck::kAreChecked)
                          : fail("none");
  for (std::size_t id = 0; id < all.size(); ++id)
    wanted[id] =
        (globs.empty() || is_asked_for(globs, all[id])) && (!filter || may_hold(*filter, id));
  return tracee::select(std::move(points), wanted);
}

// The tests that eBPF can make by itself, by point.
capture::PointTests field_tests(const filter::Expression& expression, const model::Schema& schema) {
  capture::PointTests tests(schema.points.size());
  const auto filter = compile(expression, schema, filter::NameCheck::kAreChecked);
  for (std::size_t id = 0; filter && id < tests.size(); ++id)
    tests[id] = filter->field_tests(static_cast<model::PointId>(id))
                    .value_or(std::vector<filter::FieldTest>());
  return tests;
}

}  // namespace

void RecordSelection::define(Arguments& arguments) {
  arguments
      .add_option("--points", globs_,
                  "Record only points that match, e.g. 'rlc.*' or 'U *'; '!GLOB' leaves some out, "
                  "'!*' all of them, to record only --queues or --context. The others have no "
                  "probe and cost nothing. May be repeated")
      .type_name("GLOB")
      .one_word_each();
  where_.define(arguments,
                "Leave out events for which this is false, e.g. 'rnti == 0x4601'. Events without "
                "such a field are kept (docs/filters.md)");
}

bool RecordSelection::asks_for(filter::Keyword word) const {
  const auto expression = where_.given() ? where_.expression() : fail("none");
  return expression && filter::asks_for(*expression, word);
}

// Makes all checks that need the points.
Result<void> RecordSelection::check(const model::Schema& schema) const {
  if (!globs_.empty()) SJ_CHECK(require_matches(globs_, schema));
  if (!where_.given()) return {};
  SJ_TRY(expression, where_.expression());
  model::Schema asked = schema;
  std::erase_if(asked.points,
                [&](const auto& point) { return !globs_.empty() && !is_asked_for(globs_, point); });
  auto filter = compile(expression, asked, filter::NameCheck::kMustBeKnown);
  if (!filter) return std::unexpected(std::move(filter).error().within("--where"));
  if (std::ranges::none_of(std::views::iota(std::size_t{0}, asked.points.size()),
                           [&](std::size_t id) { return may_hold(*filter, id); }))
    return fail("--where: true of no point's events: {}", where_.text());
  return {};
}

Result<void> RecordSelection::apply(std::vector<tracee::Points>& all, capture::Options& how) const {
  model::Schema schema;  // of all together
  for (const tracee::Points& points : all)
    for (const model::Point& point : points.schema.points)
      if (std::ranges::find(schema.points, point) == schema.points.end())
        schema.points.push_back(point);
  if (how.launches)
    how.check = [*this](const model::Schema& found) { return check(found); };
  else
    SJ_CHECK(check(schema));
  if (!globs_.empty()) {
    const bool any = std::ranges::any_of(
        schema.points, [&](const auto& point) { return is_asked_for(globs_, point); });
    if (!any && how.others.empty() && !how.launches)
      return fail("--points: all points that it asks for are left out again");
    how.engines.rings.wants = [globs = globs_](const model::Point& point) {
      return is_asked_for(globs, point);
    };
  }
  std::optional<filter::Expression> expression;
  if (where_.given()) {
    SJ_TRY(parsed, where_.expression());
    expression = std::move(parsed);
    how.tests = [expression = *expression](const model::Schema& of) {
      return field_tests(expression, of);
    };
    how.where = expression;
  }
  if (globs_.empty() && !expression) return {};
  how.select = [globs = globs_, expression](tracee::Points points) {
    return narrow(std::move(points), globs, expression);
  };
  for (tracee::Points& points : all) points = how.select(std::move(points));
  return {};
}

}  // namespace sojourn::cli
