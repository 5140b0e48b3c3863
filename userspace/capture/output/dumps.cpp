#include "userspace/capture/output/dumps.h"

#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "userspace/base/count_text.h"

namespace sojourn::capture {

void Dumps::ask(const std::string& why, std::uint64_t now_ns, std::uint64_t events,
                std::optional<int> client) {
  if (!request_)
    request_ = Request{.why = why,
                       .due_ns = now_ns + static_cast<std::uint64_t>(aftermath_.span.count()),
                       .due_events = events + aftermath_.events,
                       .clients = {}};
  if (client) request_->clients.push_back(*client);
}

bool Dumps::is_due(std::uint64_t now_ns, std::uint64_t events) const {
  return request_ && now_ns >= request_->due_ns && events >= request_->due_events;
}

std::string dump_size_text(std::uint64_t events, std::chrono::nanoseconds span) {
  const double span_ms = std::chrono::duration<double, std::milli>(span).count();
  return fmt::format(
      "{}, the last {}", base::counted(events, "event"),
      span_ms < 1000 ? fmt::format("{:.0f} ms", span_ms) : fmt::format("{:.1f} s", span_ms / 1000));
}

// A dump of an earlier run may be evidence, so it is never overwritten.
std::string DumpNames::next() {
  const std::filesystem::path output(output_);
  for (;;) {
    const std::string name =
        fmt::format("{}-{}{}", output.stem().string(), ++number_, output.extension().string());
    std::filesystem::path path = output.parent_path() / name;
    std::error_code unknown;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, unknown)))
      return path.string();
  }
}

void Dumps::File::end(Result<Dumped> how) {
  const std::scoped_lock lock(mutex);
  dumped = std::move(how);
}

void Dumps::begin(Sink& sink, model::Capture about, std::vector<Source::Description> descriptions) {
  Writing writing{.request = *std::exchange(request_, std::nullopt),
                  .file = std::make_shared<File>(),
                  .found = {}};
  about.ended_by = writing.request.why;
  writing.file->about = std::move(about);
  sink.run_in_order([names = names_, file = writing.file](std::unique_ptr<ItemStore>& store) {
    file->path = names->next();
    auto writer = store->begin_file(file->path, file->about);
    if (writer)
      file->writer.emplace(std::move(*writer));
    else
      file->end(std::unexpected(std::move(writer).error()));
  });
  // Runs on a thread of its own, as neither the drain nor the sink has time for it.
  writing.found = std::async(std::launch::async, [descriptions = std::move(descriptions)] {
    std::vector<model::Profile> all;
    for (const auto& find : descriptions)
      for (model::Profile& one : find()) all.push_back(std::move(one));
    return all;
  });
  writing_.push_back(std::move(writing));
}

// Writes with the rights of the file's owner, as the rest of the file is written.
void Dumps::complete(Writing& writing, Sink& sink) {
  sink.run_in_order([file = writing.file,
                     found = writing.found.get()](std::unique_ptr<ItemStore>&) {
    if (!file->writer) return;
    const auto write = [&]() -> Result<Dumped> {
      for (const model::Profile& one : found) SJ_CHECK(file->writer->write(one));
      SJ_CHECK(file->writer->finish());
      return Dumped{.events = file->writer->events(),
                    .bytes = file->writer->bytes(),
                    .span = std::chrono::nanoseconds(file->about.close_ns - file->about.open_ns)};
    };
    auto written = write();
    if (!written) file->writer->abandon();
    file->end(std::move(written));
  });
}

std::vector<Dumps::Done> Dumps::take_done(Sink& sink) {
  std::vector<Done> done;
  std::erase_if(writing_, [&](Writing& writing) {
    const bool is_found =
        writing.found.valid() &&
        writing.found.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    if (is_found) complete(writing, sink);
    const std::scoped_lock lock(writing.file->mutex);
    if (!writing.file->dumped) return false;
    done.push_back({.path = writing.file->path,
                    .why = writing.request.why,
                    .clients = std::move(writing.request.clients),
                    .dumped = std::move(*writing.file->dumped)});
    return true;
  });
  return done;
}

void Dumps::complete_all(Sink& sink) {
  for (Writing& writing : writing_)
    if (writing.found.valid()) complete(writing, sink);
}

}  // namespace sojourn::capture
