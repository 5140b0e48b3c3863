// `sojourn diff`: what differs between traces of two builds or settings, and by how much.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/page_output.h"
#include "userspace/cli/run_comparison.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {
namespace {

struct DiffOptions {
  std::vector<std::string> base;
  std::vector<std::string> now;
  std::string html;
  std::uint64_t megabytes = page::kDefaultTraceMegabytes;
  RunComparison comparison;
};

void check(const DiffOptions& options) {
  if (options.html.empty()) return;
  if (options.base.size() != 1 || options.now.size() != 1)
    refuse_usage("--html is a page of two traces: one of each side");
  if (!options.comparison.is_plain())
    refuse_usage(
        "--html is a page with both traces in it, which are filtered there: no other "
        "option");
}

// Refuses a file that cannot be read, because its page would show nothing.
Result<void> run_html(const DiffOptions& options) {
  const std::vector<std::string> traces = {options.base.front(), options.now.front()};
  for (const std::string& path : traces) SJ_CHECK(check_is_file(path));
  return write_page_file(options.html, {.traces = traces, .megabytes = options.megabytes});
}

Result<void> run(const DiffOptions& options) {
  if (!options.html.empty()) return run_html(options);
  return options.comparison.run(options.base, options.now);
}

}  // namespace

Action define_diff(Arguments& arguments) {
  auto options = std::make_shared<DiffOptions>();
  arguments
      .add_option("base", options->base,
                  "Traces of the one side: the old build, the default setting")
      .type_name("FILE")
      .required();
  arguments
      .add_option("--against", options->now, "Traces of the other side: the new build or setting")
      .type_name("FILE")
      .expected(1, 1000)
      .required();
  arguments.when_parsed([options] { check(*options); });
  options->comparison.define_options(arguments);
  Argument to_page =
      arguments.add_option("--html", options->html,
                           "Write a page for the browser instead, with two traces in it: their "
                           "pictures on one scale, what changed, and all views of each "
                           "(docs/page.md)");
  to_page.type_name("FILE").check(check_output_file);
  define_page_size(arguments, options->megabytes).needs(to_page);
  arguments.footer(comparison_words());
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
