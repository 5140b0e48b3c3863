#include "userspace/capture/metrics/influx_sender.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <latch>
#include <list>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/base/printable.h"
#include "analysis/metrics/line_protocol.h"
#include "userspace/base/fail_errno.h"
#include "userspace/capture/metrics/wakeup.h"

namespace sojourn::capture {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr std::string_view kContentType = "text/plain; charset=utf-8";
constexpr std::chrono::minutes kBetweenMessages(10);
constexpr std::size_t kMaxReason = 200;

// The lines of one instant.
struct Lines {
  std::string text;
  std::uint64_t points = 0;
};

// Returns the server's error text: {"error": "..."} of version 1, {"code", "message"} of version 2.
std::string reason_of(const http::Answer& answer) {
  std::string words;
  const auto body = nlohmann::json::parse(answer.body, nullptr, false);
  if (body.is_object())
    for (const char* const name : {"error", "message"})
      if (const auto found = body.find(name); found != body.end() && found->is_string())
        words = found->get<std::string>();
  if (words.empty()) words = answer.reason;
  return std::to_string(answer.status) + " " + printable(words.substr(0, kMaxReason));
}

// Returns whether the server has read these lines, and would refuse them again.
bool is_refused_for_good(int status) {
  return status == 400 || status == 413 || status == 422;
}

}  // namespace

class InfluxSender::Loop {
 public:
  explicit Loop(InfluxOptions options)
      : options_(std::move(options)), protocol_(options_.tags), client_(options_.url, kPatience) {
    client_.stop_by(given_up_.fd());
    if (!options_.authorization.empty()) client_.authorize(options_.authorization);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() { finish(std::chrono::seconds(0)); }

  Result<void> begin(const FileOwner& owner) {
    if (!given_up_.is_there()) return fail_errno("write to {}", name());
    SJ_CHECK(client_.find());
    Result<void> became;
    std::latch has_begun(1);
    thread_ = std::thread([&became, &has_begun, &owner, this] {
      became = become_writer(owner);
      const bool goes_on = became.has_value();
      has_begun.count_down();
      if (goes_on) send_all();
    });
    has_begun.wait();
    return became;
  }

  void publish(const std::vector<metrics::Family>& families,
               const std::optional<model::ClockPair>& clock, bool is_last) {
    if (!clock) return;
    const auto period_ns = static_cast<std::uint64_t>(options_.period.count());
    // Figures come about once in each flush period, a little early or late.
    const bool is_due = clock->monotonic_ns + period_ns / 20 >= written_ns_ + period_ns;
    if (!is_due && !is_last) return;
    written_ns_ = clock->monotonic_ns;
    Lines lines;
    // Two points of a series never have the same time, because the second would replace the first.
    newest_unix_ns_ = std::max(newest_unix_ns_ + 1, clock->realtime_ns);
    lines.text = protocol_.lines(families, newest_unix_ns_);
    lines.points = static_cast<std::uint64_t>(std::ranges::count(lines.text, '\n'));
    push(std::move(lines));
  }

  Totals totals() {
    const std::scoped_lock lock(mutex_);
    return totals_;
  }
  std::vector<std::string> take_messages() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(messages_, {});
  }

  Totals finish(std::chrono::seconds patience) {
    {
      std::unique_lock lock(mutex_);
      is_ending_ = true;
      changed_.notify_all();
      if (thread_.joinable()) changed_.wait_for(lock, patience, [this] { return has_ended_; });
    }
    given_up_.send();
    if (thread_.joinable()) thread_.join();
    const std::scoped_lock lock(mutex_);
    while (!waiting_.empty()) lose_oldest();
    return totals_;
  }

 private:
  std::string name() const { return options_.url.text(); }

  void push(Lines lines) {
    const std::scoped_lock lock(mutex_);
    waiting_bytes_ += lines.text.size();
    waiting_.push_back(std::move(lines));
    // The oldest lines may be on their way to the server.
    while (waiting_bytes_ > kMaxWaitingBytes && waiting_.size() > (is_sending_ ? 2U : 1U))
      lose(is_sending_ ? std::next(waiting_.begin()) : waiting_.begin());
    changed_.notify_all();
  }
  // The caller holds the lock.
  void lose(std::list<Lines>::iterator at) {
    totals_.lost += at->points;
    totals_.why_lost = problem_.empty() ? "it took them too slowly" : problem_;
    waiting_bytes_ -= at->text.size();
    waiting_.erase(at);
  }
  void lose_oldest() { lose(waiting_.begin()); }

  void send_all() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
      if (waiting_.empty()) break;
      is_sending_ = true;
      // A list's element stays at its address while others are added and dropped.
      const Lines& lines = waiting_.front();
      lock.unlock();
      const auto answer = client_.post(kContentType, lines.text);
      lock.lock();
      is_sending_ = false;
      if (take(answer)) continue;
      if (is_ending_) break;
      changed_.wait_for(lock, options_.period, [this] { return is_ending_; });
    }
    has_ended_ = true;
    changed_.notify_all();
  }

  // The caller holds the lock. Returns false if the same lines must be sent again later.
  bool take(const Result<http::Answer>& answer) {
    const bool is_written = answer && answer->status >= 200 && answer->status < 300;
    if (is_written) {
      totals_.written += waiting_.front().points;
      waiting_bytes_ -= waiting_.front().text.size();
      waiting_.pop_front();
      problem_.clear();
      return true;
    }
    problem_ = answer ? reason_of(*answer) : answer.error().text();
    tell_problem();
    if (!answer || !is_refused_for_good(answer->status)) return false;
    lose_oldest();
    return true;
  }

  // Reports a problem, at most every ten minutes.
  void tell_problem() {
    const auto now = Clock::now();
    if (last_message_ && now - *last_message_ < kBetweenMessages) return;
    last_message_ = now;
    messages_.push_back("figures are not written to " + name() + " now: " + problem_);
  }

  InfluxOptions options_;
  metrics::LineProtocol protocol_;  // the publishing thread uses this and the next two
  std::uint64_t written_ns_ = 0;    // time of the last lines, on the capture's clock
  std::uint64_t newest_unix_ns_ = 0;
  Wakeup given_up_;
  http::Client client_;  // the sending thread uses it
  std::mutex mutex_;     // guards everything below
  std::condition_variable changed_;
  std::list<Lines> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool is_sending_ = false;  // the first of waiting_ is being sent
  bool is_ending_ = false;
  bool has_ended_ = false;
  Totals totals_;
  std::string problem_;  // the last attempt's error; empty: it succeeded
  std::optional<Clock::time_point> last_message_;
  std::vector<std::string> messages_;
  std::thread thread_;
};

InfluxSender::InfluxSender(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
InfluxSender::~InfluxSender() = default;

Result<std::unique_ptr<InfluxSender>> InfluxSender::start(InfluxOptions options,
                                                          const FileOwner& owner) {
  auto loop = std::make_unique<Loop>(std::move(options));
  SJ_CHECK(loop->begin(owner));
  return std::unique_ptr<InfluxSender>(new InfluxSender(std::move(loop)));
}

void InfluxSender::add_to(std::vector<metrics::Family>& families) {
  const Totals totals = loop_->totals();
  families.push_back(
      {.name = "sojourn_influx_points",
       .help = "Points for InfluxDB by outcome.",
       .type = metrics::MetricType::kCounter,
       .unit = "",
       .samples = {
           {.labels = {{"outcome", "written"}}, .value = static_cast<double>(totals.written)},
           {.labels = {{"outcome", "lost"}}, .value = static_cast<double>(totals.lost)}}});
}

void InfluxSender::publish(const std::vector<metrics::Family>& families,
                           const std::optional<model::ClockPair>& clock, bool is_last) {
  loop_->publish(families, clock, is_last);
}

std::vector<std::string> InfluxSender::take_messages() {
  return loop_->take_messages();
}

InfluxSender::Totals InfluxSender::finish() {
  return loop_->finish(kLastPatience);
}

}  // namespace sojourn::capture
