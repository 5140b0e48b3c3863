#include "userspace/cli/live/record/flight_options.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

namespace {

// Parses "5000 events" or "5000ev", in options that also allow a time.
std::optional<std::uint64_t> parse_events(std::string_view text) {
  std::uint64_t count = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  if (code != std::errc() || (unit != "ev" && unit != "events" && unit != " events"))
    return std::nullopt;
  return count;
}

// `more`: other allowed values, for the error.
std::string check_span(const std::string& text, std::string_view more = "") {
  if (parse_events(text) == 0) return "a number of events above 0 is wanted";
  if (parse_events(text) || parse_duration(text)) return "";
  if (!text.empty() && read_decimal(text).length == text.size())
    return fmt::format("{}; so many events are {}ev", parse_duration(text).error().text(), text);
  return fmt::format("\"{}\" is neither a time such as 10s nor a number such as 5000ev{}", text,
                     more);
}

std::string check_history(const std::string& text, std::string_view rings) {
  if (text == rings) return "";
  const std::string wrong = check_span(text, ", nor \"rings\"");
  return wrong.empty() && !parse_events(text) ? check_duration(text) : wrong;
}

}  // namespace

void FlightOptions::define(Arguments& arguments) {
  const Argument flight =
      arguments
          .add_option(
              "--flight", history_,
              "Flight recorder: hold the newest events in memory, for a time (10s) or a number "
              "(50000ev). `sojourn ctl dump`, SIGUSR1 and the end of the capture write them to a "
              "file. With \"rings\" they stay in the rings of a process that records by itself "
              "(started with SJ_RINGS=flight): then waiting costs nothing")
          .type_name("TIME|EVENTS|rings")
          .check([](const std::string& text) { return check_history(text, kRings); });
  arguments
      .add_option("--after", after_,
                  "Keep recording this long after the reason for a dump, or for a stop by trigger: "
                  "500ms, or 5000ev")
      .type_name("TIME|EVENTS")
      .check([](const std::string& text) { return check_span(text); })
      .needs(flight);
  arguments.add_option("--flight-memory", memory_, "The most memory for held events; default: 256M")
      .type_name("BYTES")
      .check(check_bytes)
      .needs(flight);
  arguments
      .add_option("--trigger", triggers_,
                  "[ACTION:] WHEN. WHEN is loss, exit, a condition on an event, e.g. 'rnti == "
                  "0x4601 && round > 0', or one on a journey, e.g. 'dir == D && latency > 5ms'. "
                  "ACTION is dump (default), start (write to the file from now on), stop, 'enable "
                  "GLOB' or 'disable GLOB' (points). May be repeated")
      .check([](const std::string& text) {
        const auto trigger = capture::parse_trigger(text);
        return trigger ? "" : trigger.error().text();
      })
      .type_name("TRIGGER")
      .needs(flight)
      .one_word_each();
  arguments.add_option("--dumps", max_dumps_, "The most dumps that triggers may write")
      .capture_default_str()
      .type_name("N")
      .check(whole_number(1, 1'000'000))
      .needs(flight);
  define_wait(arguments);
}

void FlightOptions::define_wait(Arguments& arguments) {
  arguments.add_flag("--wait", wait_, "Attach, and record nothing before `sojourn ctl start`");
}

bool FlightOptions::asks_for(filter::Keyword word) const {
  return std::ranges::any_of(triggers_, [word](const std::string& text) {
    const auto trigger = capture::parse_trigger(text);
    return trigger && filter::asks_for(trigger->expression, word);
  });
}

Result<void> FlightOptions::apply(capture::Options& options) const {
  options.wait_for_start = wait_;
  if (!is_asked()) return {};
  capture::History history;
  if (const auto events = parse_events(history_)) {
    history.events = *events;
  } else {
    SJ_TRY(span, parse_duration(history_));
    history.span = span;
  }
  if (!memory_.empty()) {
    SJ_TRY(bytes, parse_bytes(memory_));
    history.bytes = bytes;
  }
  options.flight = history;
  options.max_dumps = max_dumps_;
  for (const std::string& text : triggers_) {
    SJ_TRY(trigger, capture::parse_trigger(text));
    options.triggers.push_back(std::move(trigger));
  }
  if (const auto events = parse_events(after_)) {
    options.aftermath.events = *events;
  } else if (!after_.empty()) {
    SJ_TRY(span, parse_duration(after_));
    options.aftermath.span = span;
  }
  return {};
}

}  // namespace sojourn::cli
