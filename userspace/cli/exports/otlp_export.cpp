#include "userspace/cli/exports/otlp_export.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/exports/journey_choice.h"
#include "analysis/exports/otlp.h"
#include "analysis/exports/trace_names.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/report/activity_log.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/exports/otlp_sender.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {
namespace {

constexpr std::string_view kTracesPath = "/v1/traces";

// The pass that chooses; without it all journeys are wanted.
Result<std::unique_ptr<exports::JourneyChoice>> choose(const ExportRequest& request,
                                                       pipeline::TraceInput& input,
                                                       const ScriptRun& script,
                                                       ProgressLine& line) {
  const auto sample = request.choice.sample();
  if (!sample) return std::unique_ptr<exports::JourneyChoice>();
  auto choice = std::make_unique<exports::JourneyChoice>(request.choice.worst(), *sample);
  SJ_TRY(where, request.where.journeys(input.reader()));
  base::ThreadExecutor threads;
  pipeline::TracePass pass(threads, input);
  pass.observe(*choice);
  if (auto keep = script.predicate(where)) pass.keep(std::move(keep));
  pass.show(line.progress(0, 2));
  SJ_CHECK(pass.run());
  SJ_CHECK(script.check());
  choice->finish();
  return choice;
}

struct Written {
  std::uint64_t spans = 0;
  std::uint64_t packets = 0;
  std::uint64_t seen = 0;
};

Result<Written> write_spans(const ExportRequest& request, pipeline::TraceInput& input,
                            const ScriptRun& script, exports::OtlpEncode encode, ProgressLine& line,
                            const exports::OtlpTrace::WriteSpans& write) {
  const exports::TraceNames names(input.reader());
  if (input.reader().clocks().empty())
    return fail("{}: it does not say what its times are since 1970, and spans have no others",
                request.path);
  SJ_TRY(choice, choose(request, input, script, line));
  SJ_TRY(where, request.where.journeys(input.reader()));
  exports::OtlpTrace made(input.reader(), input.topology(), names, choice.get(), encode, write);
  base::ThreadExecutor threads;
  pipeline::TracePass pass(threads, input);
  report::JourneysWithActivities observed(input.reader().schema(), made);
  pass.observe(observed);
  if (auto keep = script.predicate(where)) pass.keep(std::move(keep));
  pass.show(choice ? line.progress(1, 2) : line.progress());
  pass.consume([&](const model::EventBatch&) { return made.is_good(); });
  SJ_CHECK(pass.run());
  SJ_CHECK(script.check());
  SJ_CHECK(made.finish());
  line.clear();
  return Written{.spans = made.spans(),
                 .packets = made.traces(),
                 .seen = choice ? choice->seen() : made.traces()};
}

std::string packets_text(const Written& written) {
  if (written.packets == written.seen) return counted(written.packets, "packet");
  return fmt::format("{} of {}", grouped(written.packets), counted(written.seen, "packet"));
}

Result<void> post_spans(const ExportRequest& request, pipeline::TraceInput& input,
                        const ScriptRun& script, exports::OtlpEncode encode) {
  SJ_TRY(url, http::parse_url(request.output));
  if (url.path.empty() || url.path == "/") url.path = kTracesPath;
  ProgressLine line;
  OtlpSender sender(url, encode == exports::otlp_json,
                    [&](std::string_view why, std::chrono::seconds pause) {
                      line.clear();
                      tell("{}: {}: again in {} s\n", url.text(), why, pause.count());
                    });
  SJ_TRY(written, write_spans(request, input, script, encode, line,
                              [&](std::string_view batch, std::size_t spans) {
                                return sender.send(batch, spans);
                              }));
  tell("{} of {} in {} to {}\n", counted(sender.accepted(), "span"), packets_text(written),
       counted(sender.requests(), "request"), url.text());
  const std::string why = sender.warning().empty() ? "" : ": " + sender.warning();
  if (sender.rejected() != 0)
    return fail("post to {}: {} of {} were rejected{}", url.text(), grouped(sender.rejected()),
                counted(written.spans, "span"), why);
  if (!sender.warning().empty()) tell("{} says{}\n", url.text(), why);
  return {};
}

Result<void> export_spans(const ExportRequest& request, trace::Reader reader,
                          const std::string& notice, const exports::Write& write,
                          exports::OtlpEncode encode) {
  SJ_TRY(rules, request.rules.read());
  SJ_TRY(script, request.script.start(reader, ScriptOption::Things::kJourneys));
  SJ_TRY(input, derive_input(std::move(reader), rules));
  if (http::is_web_address(request.output)) {
    SJ_CHECK(post_spans(request, input, script, encode));
  } else {
    ProgressLine line;
    SJ_TRY(written, write_spans(request, input, script, encode, line,
                                [&](std::string_view batch, std::size_t) { return write(batch); }));
    if (written.packets != written.seen)
      tell("{}: {}: the slowest and a sample (--worst, --sample)\n", request.path,
           packets_text(written));
  }
  tell_if_not_whole(input.reader(), notice);
  return script.finish();
}

}  // namespace

Result<void> export_otlp(const ExportRequest& request, trace::Reader reader,
                         const std::string& notice, const exports::Write& write) {
  return export_spans(request, std::move(reader), notice, write, exports::otlp_protobuf);
}

Result<void> export_otlp_json(const ExportRequest& request, trace::Reader reader,
                              const std::string& notice, const exports::Write& write) {
  return export_spans(request, std::move(reader), notice, write, exports::otlp_json);
}

}  // namespace sojourn::cli
