// `sojourn diff`: what differs between traces of two builds or settings, and by how much.
#include <memory>
#include <string>
#include <vector>

#include "userspace/cli/command.h"
#include "userspace/cli/run_comparison.h"

namespace sojourn::cli {
namespace {

struct Options {
  std::vector<std::string> base;
  std::vector<std::string> now;
  RunComparison comparison;
};

}  // namespace

Action define_diff(Arguments& arguments) {
  auto options = std::make_shared<Options>();
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
  options->comparison.define_options(arguments);
  arguments.footer(comparison_words());
  return [options] { return options->comparison.run(options->base, options->now); };
}

}  // namespace sojourn::cli
