#include "userspace/cli/exports/ctf_export.h"

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "analysis/exports/ctf.h"
#include "analysis/exports/trace_names.h"
#include "analysis/pipeline/rebuild.h"
#include "userspace/cli/output_file.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {
namespace {

// A directory that was made for an export. It is removed again if it is empty, unless it is kept.
class NewDirectory {
 public:
  static Result<NewDirectory> create(const std::string& path) {
    std::error_code error;
    const bool is_new = std::filesystem::create_directory(path, error);
    if (error) return fail("create {}: {}", path, error.message());
    if (!is_new && !std::filesystem::is_empty(path, error))
      return fail("write {}: a directory that is not empty", path);
    if (error) return fail("read {}: {}", path, error.message());
    return NewDirectory(is_new ? path : std::string());
  }
  NewDirectory(NewDirectory&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  NewDirectory& operator=(NewDirectory&&) = delete;
  ~NewDirectory() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove(path_, error);
  }

  void keep() { path_.clear(); }

 private:
  explicit NewDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// The stream's file, complete; returned is the description of it.
Result<std::string> write_stream(const ExportRequest& request, trace::Reader& reader) {
  SJ_TRY(where, request.where.events(reader));
  SJ_TRY(file, OutputFile::create(request.output + "/events"));
  const exports::TraceNames names(reader);
  exports::CtfStream stream(reader, names,
                            [&](std::string_view bytes) { return file.write(bytes); });
  ProgressLine line;
  std::vector<std::uint32_t> rows;
  // Read in this thread, which asks for the gaps that were found meanwhile.
  PlainExecutor here;
  const auto add = [&](const model::EventBatch& events) {
    select(where, events, rows);
    for (const std::uint32_t row : rows) stream.add(events[row]);
    return stream.is_good();
  };
  SJ_CHECK(pipeline::read_events(here, reader, {.progress = line.progress(), .consume = add}));
  SJ_CHECK(stream.finish());
  SJ_CHECK(file.finish());
  return stream.metadata();
}

}  // namespace

Result<void> export_ctf(const ExportRequest& request, trace::Reader reader,
                        const std::string& notice, const exports::Write& /*write*/) {
  SJ_TRY(script, request.script.start(reader, ScriptOption::Things::kEvents));
  SJ_TRY(directory, NewDirectory::create(request.output));
  SJ_TRY(metadata, write_stream(request, reader));
  directory.keep();
  SJ_TRY(file, OutputFile::create(request.output + "/metadata"));
  SJ_CHECK(file.write(metadata));
  SJ_CHECK(file.finish());
  tell_if_not_whole(reader, notice);
  return script.finish();
}

}  // namespace sojourn::cli
