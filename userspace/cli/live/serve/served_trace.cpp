#include "userspace/cli/live/serve/served_trace.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "analysis/base/printable.h"
#include "analysis/present/live/live_json.h"
#include "userspace/base/fail_errno.h"
#include "userspace/cli/live/view/live_lines.h"
#include "userspace/cli/tell.h"
#include "userspace/files/stream_address.h"

namespace sojourn::cli {

namespace {

using nlohmann::ordered_json;

std::uint64_t size_of(const base::Fd& file) {
  struct stat status{};
  return fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

Result<base::Fd> open_file(const std::string& path) {
  // The file may be renamed to its final name between the two calls.
  base::Fd file(::open(name_of_growing(path).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) file = base::Fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) return fail_errno("open {}", path);
  struct stat status{};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail("open {}: not a regular file", path);
  return file;
}

// The longest lists lose their ends if a page would get too much.
std::string event_text(ordered_json figures) {
  const auto text_of = [&figures] {
    return "event: figures\ndata: " + present::json_line(figures) + "\n";
  };
  std::string text = text_of();
  while (text.size() > kMaxEventBytes) {
    // The longest of them by its text loses half.
    std::string longest;
    std::size_t most = 2;  // "[]" and "{}"
    for (const char* const part : {"worst", "hops", "queues", "journeys"}) {
      const std::size_t size =
          figures.contains(part) ? present::json_line(figures[part]).size() : 0;
      if (size <= most) continue;
      most = size;
      longest = part;
    }
    if (longest.empty()) break;
    ordered_json& list = figures[longest];
    if (list.is_array())
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2), list.end());
    else
      list = ordered_json::object();
    figures["cut"] = true;
    text = text_of();
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<ServedTrace>> ServedTrace::open(LiveSettings settings) {
  const std::string path = settings.path;
  if (files::is_stream(path))
    return fail("{}: a stream cannot be read again; `nc` makes a file of it, which serve follows",
                path);
  SJ_TRY(file, open_file(path));
  std::unique_ptr<ServedTrace> served(
      new ServedTrace(std::filesystem::path(path).filename().string(), std::move(file)));
  SJ_TRY(session, LiveSession::start(settings));
  if (session->is_whole())
    served->size_ = size_of(served->file_);
  else
    served->session_ = std::move(session);
  return served;
}

Result<std::unique_ptr<ServedTrace>> ServedTrace::capture(LiveSettings& settings) {
  settings.keeps_capture = true;
  SJ_TRY(session, LiveSession::start(settings));
  SJ_TRY(file, session->capture_file());
  std::unique_ptr<ServedTrace> served(new ServedTrace("capture.sjt", std::move(file)));
  served->session_ = std::move(session);
  return served;
}

bool ServedTrace::follow() {
  if (!is_growing()) return false;
  const bool had_begun = session_->has_begun();
  const auto came = session_->poll([this] {
    has_news_ = true;
    return true;
  });
  pass_messages_on(*session_);
  if (!came) {
    problem_ = came.error().text();
    end();
    return false;
  }
  size_ = session_->whole_bytes();
  if (session_->has_begun() != had_begun) has_news_ = true;
  if (session_->has_ended()) note_end();
  return *came;
}

// A trace that a killed capture has left has no end, and perhaps no event.
void ServedTrace::note_end() {
  if (const auto any = session_->check_events(); !any)
    problem_ = any.error().text();
  else if (const std::string words = session_->not_finished(); !words.empty())
    tell("{}: this is what there is\n", words);
  end();
}

// Its figures stay, and so do its bytes.
void ServedTrace::end() {
  if (problem_.empty()) size_ = size_of(file_);
  is_over_ = true;
  has_news_ = true;
}

bool ServedTrace::take_news() {
  return std::exchange(has_news_, false);
}

std::string ServedTrace::event() {
  ordered_json figures = ordered_json::object();
  if (session_ != nullptr && (session_->has_begun() || session_->has_ended()))
    figures = present::live_json(session_->snapshot());
  figures["size"] = size_;
  figures["growing"] = is_growing();
  figures["waiting"] = is_growing() && !has_begun();
  if (!problem_.empty()) figures["problem"] = printable(problem_);
  return event_text(std::move(figures));
}

Result<std::string> ServedTrace::obey(const std::string& action, const std::string& points) const {
  if (!is_growing()) return fail("{} is not being recorded any more", printable(name_));
  if (action == "enable" || action == "disable") {
    if (points.empty()) return fail("which points? A pattern such as rlc.* is wanted");
    return session_->switch_points(points, action == "enable");
  }
  constexpr std::array<std::string_view, 5> kActions = {"start", "stop", "flush", "dump", "status"};
  if (std::ranges::find(kActions, std::string_view(action)) == kActions.end())
    return fail("there is no action \"{}\"", printable(action));
  return session_->ask(action);
}

void ServedTrace::stop() {
  if (session_ == nullptr) return;
  session_->stop();
  pass_messages_on(*session_);
  if (problem_.empty() && !session_->failure().empty()) tell("{}\n", session_->failure());
}

}  // namespace sojourn::cli
