#include "userspace/cli/trace_argument.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "analysis/base/shell_word.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/present/words/text_format.h"
#include "analysis/trace/completeness.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/terminal.h"
#include "userspace/files/stream_address.h"
#include "userspace/files/trace_file.h"

namespace sojourn::cli {

std::string check_trace_name(const std::string& name) {
  if (!files::is_stream(name) || name == "-") return "";
  const auto address = files::parse_stream_address(name);
  return address ? "" : address.error().text();
}

Argument add_trace(Arguments& arguments, std::string& path) {
  return arguments
      .add_option("trace", path,
                  "The trace file, e.g. run.sjt; or a stream: tcp://ADDR:PORT, unix:PATH, "
                  "tls://HOST:PORT, or - for standard input")
      .type_name("FILE")
      .check(check_trace_name)
      .required();
}

std::string partial_words(const std::string& path) {
  if (files::is_stream(path)) return {};
  const auto partial = files::partial_of(path);
  if (!partial) return {};
  if (partial->has_writer)
    return fmt::format("{} is still being written, and becomes {} when its capture ends",
                       partial->path, path);
  std::error_code error;
  const bool is_alone = !std::filesystem::exists(path, error);
  return fmt::format(
      "{} is what a killed capture left, and every command reads it; {}", partial->path,
      is_alone
          ? fmt::format("mv {} {} gives it its name", shell_word(partial->path), shell_word(path))
          : "the next capture of that name puts it aside");
}

Result<trace::Reader> open_trace(const std::string& path) {
  if (const std::string wrong = check_trace_name(path); !wrong.empty()) return fail("{}", wrong);
  if (files::is_stream(path) && path != "-")
    tell("reading {} until it ends; Ctrl-C ends it here\n", path);
  auto reader = files::open_trace(path);
  std::error_code error;
  if (!reader && !std::filesystem::exists(path, error))
    if (const std::string words = partial_words(path); !words.empty())
      return fail("{}; {}", reader.error().text(), words);
  // A capture writes its points before anything else.
  if (reader && reader->schema().points.empty())
    return fail("{}: cut or damaged before its points: no event in it can be read", path);
  return reader;
}

Result<void> check_is_file(const std::string& path) {
  if (files::is_stream(path))
    return fail("{}: a page has a whole file in it: write the stream to one first, by `nc`", path);
  SJ_CHECK(open_trace(path));
  return {};
}

Result<void> require_as_recorded(const trace::Reader& reader, std::string_view what) {
  if (reader.capture().script.empty()) return {};
  return fail(
      "{} {}: {} has made it: take the trace that was recorded, and run the script on the result",
      what, reader.path(), reader.capture().script);
}

std::string first_line(const trace::Reader& reader) {
  const std::string words = present::not_whole(trace::completeness_of(reader), reader.path());
  return words.empty() ? words : present::wrapped(words, 2, line_width()) + "\n";
}

std::string tell_if_not_whole(const trace::Reader& reader, std::string_view notice) {
  std::string words = present::not_whole(trace::completeness_of(reader), reader.path());
  if (!words.empty() && words != notice) tell("{}\n", words);
  return words;
}

}  // namespace sojourn::cli
