// A trace that `sojourn serve` gives to pages: its bytes, as far as they are whole, and its figures
// while it grows. One thread owns a ServedTrace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/cli/live/view/live_session.h"

namespace sojourn::cli {

// A page takes no more at once.
constexpr std::size_t kMaxEventBytes = 50'000;

class ServedTrace {
 public:
  // Opens a file. A file that is still being written is followed, as long as somebody writes it.
  static Result<std::unique_ptr<ServedTrace>> open(LiveSettings settings);
  // Starts a capture. Call it while this process has one thread and blocks no signals.
  static Result<std::unique_ptr<ServedTrace>> capture(LiveSettings& settings);

  // Takes what has come, for a moment. True: there may be more.
  bool follow();
  // True once after the figures became others.
  bool take_news();

  const std::string& name() const { return name_; }
  bool is_growing() const { return session_ != nullptr && !is_over_; }
  bool has_begun() const { return session_ == nullptr || session_->has_begun(); }
  bool is_capture() const { return session_ != nullptr && session_->has_capture(); }
  pid_t pid() const { return session_ == nullptr ? 0 : session_->pid(); }
  const std::string& problem() const { return problem_; }  // why it ended before its time
  // Whether it has ended so that there is nothing to serve.
  bool has_nothing() const { return !problem_.empty() && session_->has_nothing(); }
  int messages() const { return session_ == nullptr ? -1 : session_->messages(); }

  int file() const { return file_.get(); }
  std::uint64_t size() const { return size_; }

  // The figures of now, as an event for pages.
  std::string event();

  // Returns what was done, in words.
  Result<std::string> obey(const std::string& action, const std::string& points) const;

  void stop();

 private:
  ServedTrace(std::string name, base::Fd file) : name_(std::move(name)), file_(std::move(file)) {}

  void note_end();
  void end();

  std::string name_;
  base::Fd file_;
  std::unique_ptr<LiveSession> session_;  // null: the trace is complete
  std::uint64_t size_ = 0;
  std::string problem_;
  bool is_over_ = false;
  bool has_news_ = true;
};

}  // namespace sojourn::cli
