#include "userspace/cli/exports/open_option.h"

#include <cstdio>
#include <utility>

#include "userspace/cli/checks.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

void OpenOption::define(Arguments& arguments) {
  const Argument open = arguments.add_flag(
      "--open", is_given_,
      "With perfetto: print an address of ui.perfetto.dev for a browser on this machine, and give "
      "the page the trace once, by 127.0.0.1:9001");
  arguments
      .add_option("--open-for", patience_, "How long --open waits for the page; by default 2min")
      .type_name("TIME")
      .check(check_duration)
      .needs(open);
}

Result<void> OpenOption::serve(PerfettoServer& server, base::Fd file) const {
  SJ_TRY(patience, parse_duration(patience_));
  SJ_CHECK(print_data(server.url() + "\n"));
  std::fflush(stdout);  // for somebody who waits for it at a pipe
  tell("open this address in a browser on this machine; it works once, within {}\n", patience_);
  return server.serve_once(std::move(file), patience);
}

}  // namespace sojourn::cli
