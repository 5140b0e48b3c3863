#include "userspace/capture/output/dumps.h"

#include <filesystem>
#include <utility>

#include <fmt/core.h>

namespace sojourn::capture {

void Dumps::ask(const std::string& why, std::uint64_t now_ns, std::uint64_t events,
                std::optional<int> client) {
  if (!asked_)
    asked_ = Asked{.why = why,
                   .due_ns = now_ns + static_cast<std::uint64_t>(aftermath_.span.count()),
                   .due_events = events + aftermath_.events,
                   .clients = {}};
  if (client) asked_->clients.push_back(*client);
}

bool Dumps::is_due(std::uint64_t now_ns, std::uint64_t events) const {
  return asked_ && now_ns >= asked_->due_ns && events >= asked_->due_events;
}

// A dump of an earlier run is somebody's evidence: it is not written over.
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

void Dumps::begin(Sink& sink, model::Capture about) {
  Writing writing{.asked = *std::exchange(asked_, std::nullopt),
                  .path = names_.next(),
                  .report = std::make_shared<Report>()};
  about.ended_by = writing.asked.why;
  sink.run_in_order([path = writing.path, report = writing.report,
                     about = std::move(about)](std::unique_ptr<Store>& store) {
    const auto* flight = dynamic_cast<const FlightStore*>(store.get());
    auto dumped = flight != nullptr ? flight->dump(path, about)
                                    : Result<Dumped>(fail("dump {}: nothing is held", path));
    const std::scoped_lock lock(report->mutex);
    report->dumped = std::move(dumped);
  });
  writing_.push_back(std::move(writing));
}

std::vector<Dumps::Done> Dumps::take_done() {
  std::vector<Done> done;
  std::erase_if(writing_, [&](Writing& writing) {
    const std::scoped_lock lock(writing.report->mutex);
    if (!writing.report->dumped) return false;
    done.push_back({.path = writing.path,
                    .why = writing.asked.why,
                    .clients = std::move(writing.asked.clients),
                    .dumped = std::move(*writing.report->dumped)});
    return true;
  });
  return done;
}

}  // namespace sojourn::capture
