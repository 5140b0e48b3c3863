#include "userspace/cli/script_option.h"

#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "analysis/pipeline/trace_marks.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/files/text_file.h"

namespace sojourn::cli {

namespace {

// A script may print texts from a trace, whose control characters must not reach the terminal.
void say(std::string_view text) {
  std::string shown(text);
  for (char& character : shown)
    if ((character >= 0 && character < ' ' && character != '\n' && character != '\t') ||
        character == '\x7f')
      character = '?';
  tell("{}", shown);
}

}  // namespace

ScriptRun::Predicate ScriptRun::predicate(const std::optional<filter::JourneyFilter>& where) const {
  if (!journeys_ && !where) return {};
  return [filter = where ? &*where : nullptr,
          script = journeys_.get()](const journeys::Journey& journey) {
    return (filter == nullptr || (*filter)(journey)) && (script == nullptr || (*script)(journey));
  };
}

std::string ScriptRun::words(const std::string& where) const {
  if (!journeys_) return where;
  const std::string script = events_->name() + " is true";
  return where.empty() ? script : where + " and " + script;
}

Result<void> ScriptRun::check() const {
  if (journeys_ && !journeys_->error().empty()) return fail("{}", journeys_->error());
  return {};
}

Result<void> ScriptRun::finish() const {
  if (!events_) return {};
  SJ_CHECK(check());
  const scripts::Registration& registration = events_->registration();
  std::vector<std::string> parts;
  if (registration.filters_events)
    parts.push_back(
        fmt::format("kept {} of {}", grouped(events_->kept()), counted(events_->seen(), "event")));
  for (std::size_t at = 0; at < events_->made().size(); ++at)
    parts.push_back(fmt::format(
        "{}: {}", registration.made[at].name,
        counted(events_->made()[at], registration.made[at].is_activity ? "time" : "marker")));
  if (!parts.empty()) tell("{}: {}\n", events_->name(), fmt::join(parts, ", "));
  *part_error_ = events_->error();
  return {};
}

void ScriptOption::define(Arguments& arguments) {
  arguments
      .add_option("--script", path_,
                  "A Lua script: keeps or drops events and journeys, adds columns, activities and "
                  "markers (docs/scripts.md)")
      .type_name("FILE");
}

Result<std::optional<scripts::ScriptSource>> ScriptOption::read() const {
  if (!given()) return std::nullopt;
  SJ_TRY(text, files::read_text(path_, "script is"));
  return scripts::ScriptSource{.name = path_.substr(path_.rfind('/') + 1), .text = std::move(text)};
}

Result<ScriptRun> ScriptOption::start(trace::Reader& reader, Things things) const {
  SJ_TRY(read_source, read());
  if (!read_source) return ScriptRun();
  const scripts::ScriptSource& source = *read_source;
  const std::uint64_t origin_ns = pipeline::origin_ns(reader);
  const model::Schema before = reader.schema();
  SJ_TRY(events, scripts::ScriptStage::create(source, before, origin_ns, say));
  if (const std::string words = events->idleness(); !words.empty()) tell("{}\n", words);
  std::unique_ptr<scripts::JourneyScript> judge;
  if (events->registration().filters_journeys && things == Things::kJourneys) {
    SJ_TRY(made, scripts::JourneyScript::create(source, before, origin_ns, say));
    judge = std::move(made);
  } else if (events->registration().filters_journeys) {
    tell("{}: filters journeys, but events are looked at here\n", source.name);
  }
  reader.set_stage(events);
  ScriptRun run(std::move(events), std::move(judge));
  run.part_error_ = part_error_;
  return run;
}

Result<void> ScriptOption::write(trace::Reader& reader, const trace::Put& put,
                                 const trace::CopyProgress& progress) const {
  SJ_TRY(script, start(reader, Things::kJourneys));
  const std::string& name = script.events()->name();
  if (script.filters_journeys())
    return fail(
        "{}: filters journeys, but a trace consists of events: use filter(), or filter journeys in "
        "the command that reads the trace",
        name);
  SJ_CHECK(trace::write_staged(reader, name, put, progress));
  return script.finish();
}

Result<void> ScriptOption::outcome() const {
  if (!part_error_->empty()) return fail("{}", *part_error_);
  return {};
}

}  // namespace sojourn::cli
