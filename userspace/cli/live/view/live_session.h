// The trace that `sojourn live` and `sojourn serve` show: a complete one, one that grows, or a
// capture of its own; and the requests to its processes. One thread owns a LiveSession.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/live/growing_trace.h"
#include "analysis/live/live_trace.h"
#include "userspace/cli/live/record/record_options.h"
#include "userspace/cli/live/view/captured_trace.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/script_option.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {

struct LiveSettings {
  // Declare options. This object must live as long as the arguments.
  void define_choice(Arguments& arguments);
  void define_window(Arguments& arguments);
  void define_causes(Arguments& arguments);
  void define_budget(Arguments& arguments);

  std::string path;  // empty: a capture
  RecordOptions record;
  RulesOption rules;
  WhereOption filter;
  ScriptOption script;
  std::string interval = "1s";
  std::string window = "10s";
  std::size_t count = 0;  // of intervals; 0: no end
  bool has_interval = false;
  bool json = false;
  bool plain = false;
  bool is_readonly = false;
  bool no_causes = false;
  std::string view_budget = "none";  // percent of a core
  bool keeps_capture = false;        // all of it, to be read again
  int not_for_capture = -1;          // a socket that its process closes
};

// A capture's file has another name until it is finished.
std::string name_of_growing(const std::string& path);

class LiveSession {
 public:
  // While this process has one thread and blocks no signals.
  static Result<std::unique_ptr<LiveSession>> start(LiveSettings& settings);

  bool has_capture() const { return capture_ != nullptr; }
  Result<base::Fd> capture_file() const { return capture_->file(); }
  // The bytes of a growing trace that were read as whole blocks.
  std::uint64_t whole_bytes() const { return growing_ == nullptr ? 0 : growing_->whole_bytes(); }
  pid_t pid() const;  // of the target; 0: not known

  // See LiveTrace::poll(). Fails if the capture has failed.
  Result<bool> poll(const live::LiveTrace::Tick& tick);
  bool has_begun() const { return growing_ == nullptr || growing_->has_begun(); }
  bool has_ended() const { return trace_->has_ended(); }
  // The first event of a trace that others write. Empty: there is one, or the capture is its own.
  std::string awaited() const;
  // Says that a trace of others has no end, as one that a killed capture left; empty: it has one.
  std::string not_finished() const;
  // Fails if a trace of others has ended so, without any event.
  Result<void> check_events() const;
  bool is_whole() const { return growing_ == nullptr; }
  // After a failure: whether nothing can be shown, as there is no event, or as a filter never
  // fitted. If the capture itself has failed, its events so far can be shown all the same.
  bool has_nothing() const;

  Result<void> choose(const std::string& text);  // a filter; empty: none
  live::Snapshot snapshot();

  std::vector<std::string> take_messages();
  // The last message, if it says why the capture failed. poll() returns that as its error.
  std::string failure() const;
  int messages() const { return capture_ ? capture_->messages() : -1; }
  void stop();

  // Both return what was done, in words.
  Result<std::string> switch_points(const std::string& pattern, bool on) const;
  Result<std::string> dump() const { return ask("dump"); }
  Result<std::string> ask(const std::string& words) const;  // its captures, as `sojourn ctl` does

 private:
  using Clock = std::chrono::steady_clock;

  LiveSession() = default;
  Result<void> open_file(const LiveSettings& settings, live::LiveOptions options);
  void follow(std::unique_ptr<trace::ByteSource> source, live::LiveOptions options);
  Result<bool> poll_idle(const live::LiveTrace::Tick& tick);
  Result<void> check_capture(bool came);
  void add_costs(live::Snapshot& snapshot);

  std::unique_ptr<CapturedTrace> capture_;
  pid_t captured_pid_ = 0;
  std::unique_ptr<live::LiveTrace> trace_;
  live::GrowingTrace* growing_ = nullptr;  // set if the trace grows
  Clock::time_point last_came_ = Clock::now();
  bool is_settled_ = false;
  std::string last_message_;

  // The costs at the last look.
  struct CostsSeen {
    Clock::time_point at;
    std::chrono::nanoseconds capture{};
    std::chrono::nanoseconds view{};
  };
  std::optional<CostsSeen> seen_;
  std::optional<double> tracer_cores_;
  std::optional<double> view_cores_;
  struct TargetSeen {
    double cost_ns = 0;
    std::chrono::nanoseconds cpu{};
  };
  std::optional<TargetSeen> target_seen_;
};

}  // namespace sojourn::cli
