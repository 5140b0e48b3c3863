#include "userspace/cli/page_output.h"

#include <string_view>

#include "userspace/cli/checks.h"
#include "userspace/cli/output_file.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {

Argument define_page_size(Arguments& arguments, std::uint64_t& megabytes) {
  return arguments
      .add_option(
          "--html-size", megabytes,
          "The most that goes into a page of traces, in megabytes. What is larger is dropped "
          "onto the page of `sojourn page`")
      .type_name("MB")
      .check(whole_number(1, 1024))
      .capture_default_str();
}

Argument define_redact(Arguments& arguments, bool& redact) {
  return arguments.add_flag(
      "--redact", redact,
      "Replace ids, addresses and names in the page's trace, by a key that nobody keeps, for pages "
      "that leave the site (docs/page.md says what stays)");
}

Result<void> write_page_file(const std::string& path, const PageContent& content) {
  SJ_TRY(file, OutputFile::create(path));
  const page::Write write = [&file](std::string_view piece) { return file.write(piece); };
  const std::uint64_t most = content.megabytes * 1'000'000;
  if (content.redact) {
    SJ_TRY(reader, open_trace(content.traces.front()));
    SJ_CHECK(page::write_redacted_page(reader, most, write));
  } else {
    SJ_CHECK(page::write_page(content.traces, most, write));
  }
  return file.finish();
}

}  // namespace sojourn::cli
