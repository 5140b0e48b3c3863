#include "userspace/cli/live/record/queue_options.h"

#include <chrono>
#include <utility>

#include "userspace/capture/api.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

namespace {

constexpr std::chrono::nanoseconds kMinPeriod = std::chrono::microseconds(10);

std::string check_period(const std::string& text) {
  const auto period = parse_duration(text);
  if (!period) return period.error().text();
  return *period < kMinPeriod || *period > std::chrono::seconds(10)
             ? "a period of 10us to 10s is wanted; below that there is --queue-mode busy"
             : "";
}

}  // namespace

void define_queue_options(Arguments& arguments, QueueOptions& options) {
  arguments
      .add_option(
          "--queues", options.period,
          "Sample the depths of the target's registered queues, e.g. every 100us; without a period "
          "every 1ms. The counters are read from outside: no code runs in the target")
      .expected(0, 1)
      .option_text("[PERIOD]")
      .check(check_period);
  add_choice(arguments, "--queue-mode", options.mode,
             {{"adaptive", model::SamplingMode::kAdaptive},
              {"fixed", model::SamplingMode::kFixed},
              {"busy", model::SamplingMode::kBusy}},
             "adaptive: active queues every period, others up to 16 times less often. fixed: all "
             "queues every period. busy: all the time, on --queue-cpu");
  arguments
      .add_option("--queue-cpu", options.cpu,
                  "The CPU on which queues are sampled; busy takes all of it")
      .type_name("CPU")
      .check(whole_number(0, 4095));
}

void check_queue_options(const Arguments& arguments, const QueueOptions& options) {
  const bool has_mode = arguments.count("--queue-mode") != 0;
  const bool is_busy = has_mode && options.mode == model::SamplingMode::kBusy;
  if (arguments.count("--queues") == 0 && (has_mode || arguments.count("--queue-cpu") != 0))
    refuse_usage("--queue-mode and --queue-cpu go with --queues");
  if (is_busy && options.cpu < 0)
    refuse_usage("--queue-mode busy never sleeps: say on which CPU with --queue-cpu N");
  if (is_busy && !options.period.empty())
    refuse_usage("--queue-mode busy never pauses: --queues is given without a period");
}

Result<void> add_queue_sampler(const QueueOptions& options, capture::Options& how) {
  if (!options.wanted) return {};
  capture::QueueSamplerOptions sampler{.mode = options.mode, .cpu = options.cpu};
  if (!options.period.empty()) {
    SJ_TRY(period, parse_duration(options.period));
    sampler.period = period;
  }
  how.others.emplace_back(
      [sampler](const tracee::Process& process) -> Result<std::unique_ptr<capture::Source>> {
        SJ_TRY(made, capture::QueueSampler::create(process, sampler));
        return std::unique_ptr<capture::Source>(std::move(made));
      });
  return {};
}

}  // namespace sojourn::cli
