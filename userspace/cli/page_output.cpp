#include "userspace/cli/page_output.h"

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "analysis/trace/byte_source.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/output_file.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/redaction/trace_redaction.h"

namespace sojourn::cli {

Argument define_page_size(Arguments& arguments, std::uint64_t& megabytes) {
  return arguments
      .add_option("--html-size", megabytes,
                  "The largest size of traces inside a page, in megabytes. Of larger traces the "
                  "page has a summary and the slowest packets; the traces can be dropped onto it")
      .type_name("MB")
      .check([](const std::string& text) {
        const std::string wrong = whole_number(1, 1024)(text);
        return wrong.empty() ? wrong : wrong + ", of megabytes (MB)";
      })
      .capture_default_str();
}

Argument define_redact(Arguments& arguments, bool& redact) {
  return arguments.add_flag(
      "--redact", redact,
      "Replace ids, addresses and names in the page's trace, by a random key that is not kept, for "
      "pages that leave the site (docs/page.md says what stays)");
}

namespace {

Result<void> put_redacted(trace::Reader& reader, const trace::Put& put) {
  return redaction::write_redacted(reader, redaction::ValueCipher::random_key(), put);
}

// Redaction looks at the trace that a script has made, so that is kept in memory.
Result<void> make_scripted(const PageContent& content, trace::Reader reader,
                           const trace::Put& put) {
  if (!content.redact) return content.script->write(reader, put);
  std::vector<std::uint8_t> scripted;
  SJ_CHECK(content.script->write(reader, [&](std::span<const std::uint8_t> bytes) -> Result<void> {
    scripted.insert(scripted.end(), bytes.begin(), bytes.end());
    return {};
  }));
  SJ_TRY(made, trace::Reader::open(std::make_unique<trace::MemorySource>(reader.path(), scripted)));
  return put_redacted(made, put);
}

// Carries one trace, but not as it stands in its file.
Result<void> write_made_page(const PageContent& content, std::uint64_t most,
                             const page::Write& write, const page::SummaryProgress& progress) {
  const std::string& path = content.traces.front();
  SJ_TRY(reader, open_trace(path));
  // A redacted page does not say what its file was called.
  const std::string name =
      content.redact ? "redacted.sjt" : std::filesystem::path(path).filename().string();
  const bool is_scripted = content.script != nullptr && content.script->given();
  return page::write_page_of(
      name,
      [&](const trace::Put& put) {
        return is_scripted ? make_scripted(content, std::move(reader), put)
                           : put_redacted(reader, put);
      },
      most, write, progress);
}

}  // namespace

Result<void> write_page_file(const std::string& path, const PageContent& content) {
  for (const std::string& trace : content.traces) {
    std::error_code error;
    if (std::filesystem::equivalent(trace, path, error))
      return fail("write {}: it is the trace to show", path);
  }
  SJ_TRY(file, OutputFile::create(path));
  const page::Write write = [&file](std::string_view piece) { return file.write(piece); };
  const std::uint64_t most = content.megabytes * 1'000'000;
  ProgressLine line("steps");
  const page::SummaryProgress progress = [&line](double done) {
    constexpr double kSteps = 1000;
    line.update(static_cast<std::uint64_t>(kSteps * done), static_cast<std::uint64_t>(kSteps));
  };
  const bool is_made = content.redact || (content.script != nullptr && content.script->given());
  SJ_CHECK(is_made ? write_made_page(content, most, write, progress)
                   : page::write_page(content.traces, most, write, progress));
  return file.finish();
}

}  // namespace sojourn::cli
