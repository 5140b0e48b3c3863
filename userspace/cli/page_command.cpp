// `sojourn page` and `sojourn open`: the report page as a file, and in the browser.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/page_output.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/unfinished_name.h"

namespace sojourn::cli {
namespace {

void discard_output() {
  const int fd = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  ::dup2(fd, STDOUT_FILENO);
  ::dup2(fd, STDERR_FILENO);
}

// xdg-open starts the browser and ends. Its output is discarded: where there is no browser it names
// all those that it looked for.
Result<void> open_browser(const std::string& path) {
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("start xdg-open");
  if (child == 0) {
    discard_output();
    ::execlp("xdg-open", "xdg-open", path.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) < 0) return fail_errno("wait for xdg-open");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(
      "no browser was opened (xdg-open): open {} yourself; on a machine without one "
      "`sojourn serve` shows a trace to the browser of another",
      path);
}

// Writes the page into a directory that no other user can write to; the browser reads it after this
// program has ended.
Result<void> open_page(const PageContent& content) {
  SJ_CHECK(check_is_file(content.traces.front()));
  std::string directory = (std::filesystem::temp_directory_path() / "sojourn-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) return fail_errno("make {}", directory);
  SJ_TRY(unfinished, UnfinishedName::of_directory(directory));
  const std::string path = directory + "/report.html";
  SJ_CHECK(write_page_file(path, content));
  std::move(unfinished).forget();
  fmt::print("{}\n", path);
  return open_browser(path);
}

}  // namespace

Action define_page(Arguments& arguments) {
  auto output = std::make_shared<std::string>("sojourn.html");
  arguments.add_option("-o,--output", *output, "The file to write")
      .type_name("FILE")
      .check(check_output_file)
      .capture_default_str();
  arguments.footer(
      "The page has no trace in it: open it in a browser, and drop a trace onto it, or two to "
      "compare "
      "them. Nothing leaves the machine. `sojourn report run.sjt --html run.html` makes one with "
      "the trace inside, and `sojourn diff a.sjt --against b.sjt --html ab.html` one with two. "
      "docs/page.md says what it shows.");
  return [output] { return write_page_file(*output, {}); };
}

Action define_open(Arguments& arguments) {
  auto script = std::make_shared<ScriptOption>();
  auto content = std::make_shared<PageContent>();
  content->script = script.get();
  content->traces.resize(1);
  add_trace(arguments, content->traces.front());
  define_page_size(arguments, content->megabytes);
  define_redact(arguments, content->redact);
  script->define(arguments);
  arguments.footer(
      "Writes the page to a temporary file, prints its name and opens it. The file stays: a reboot "
      "or you remove it. docs/page.md says what the page shows.");
  return [content, script] {
    auto done = open_page(*content);
    return done ? script->outcome() : done;
  };
}

}  // namespace sojourn::cli
