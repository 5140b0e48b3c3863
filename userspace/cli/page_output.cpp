#include "userspace/cli/page_output.h"

#include <string_view>

#include "userspace/cli/checks.h"
#include "userspace/cli/output_file.h"

namespace sojourn::cli {

Argument define_page_size(Arguments& arguments, std::uint64_t& megabytes) {
  return arguments
      .add_option("--html-size", megabytes,
                  "The largest trace that goes into a page, in megabytes. A larger one is dropped "
                  "onto the page of `sojourn page`")
      .type_name("MB")
      .check(whole_number(1, 1024))
      .capture_default_str();
}

Result<void> write_page_file(const std::string& path, const std::string& trace_path,
                             std::uint64_t megabytes) {
  SJ_TRY(file, OutputFile::create(path));
  SJ_CHECK(page::write_page(trace_path, megabytes * 1'000'000,
                            [&file](std::string_view piece) { return file.write(piece); }));
  return file.finish();
}

}  // namespace sojourn::cli
