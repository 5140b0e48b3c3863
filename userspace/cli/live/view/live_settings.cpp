// Options that `sojourn live` and `sojourn serve` have in common.
#include <chrono>

#include "userspace/cli/checks.h"
#include "userspace/cli/live/view/live_session.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

namespace {

std::string check_window(const std::string& text) {
  const auto window = parse_duration(text);
  if (!window) return window.error().text();
  return *window < std::chrono::seconds(1) || *window > std::chrono::minutes(10)
             ? "a time of 1s to 10min is wanted"
             : "";
}

}  // namespace

void LiveSettings::define_choice(Arguments& arguments) {
  filter.define(arguments,
                "Count only packets for which this is true, as the key / does, e.g. 'dir "
                "== D && latency > 5ms'",
                "--filter");
  rules.define(arguments);
}

void LiveSettings::define_window(Arguments& arguments) {
  arguments.add_option("--window", window, "How long `the last seconds` are")
      .type_name("TIME")
      .capture_default_str()
      .check(check_window);
}

// The default budget is for `live`. A page shows no samples of UEs.
void LiveSettings::define_budget(Arguments& arguments) {
  view_budget = "3";
  arguments
      .add_option("--view-budget", view_budget,
                  "The largest share of a core that the view may take. If rebuilding all packets "
                  "of a growing trace takes more, only those of some UEs are rebuilt, and the view "
                  "shows of how many. Not with a filter or a script. none: all packets")
      .type_name("PERCENT|none")
      .capture_default_str()
      .check([](const std::string& text) {
        return text == "none" ? std::string() : number_above(0, 100)(text);
      });
}

void LiveSettings::define_causes(Arguments& arguments) {
  arguments.add_flag("--no-causes", no_causes,
                     "Do not look for the slowest packets and their reasons");
}

}  // namespace sojourn::cli
