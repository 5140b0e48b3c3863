#include "userspace/capture/metrics/metrics_thread.h"

#include <atomic>
#include <latch>
#include <thread>
#include <utility>

#include <poll.h>

#include "userspace/base/fail_errno.h"
#include "userspace/capture/metrics/feed_follower.h"
#include "userspace/capture/metrics/wakeup.h"

namespace sojourn::capture {

namespace {

constexpr std::chrono::milliseconds kLookForNews(500);

}  // namespace

class MetricsThread::Loop {
 public:
  Loop(BlockFeed& feed, std::chrono::nanoseconds flush_period, std::size_t ues,
       std::vector<MetricsOutlet*> outlets)
      : outlets_(std::move(outlets)),
        follower_(feed, flush_period, ues, [this] { news_.send(); }) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() { end(Stops::kAtOnce); }

  Result<void> begin(const FileOwner& owner) {
    if (!news_.is_there()) return fail_errno("gather metrics");
    publish(false);
    Result<void> became;
    std::latch has_begun(1);
    thread_ = std::thread([&became, &has_begun, &owner, this] {
      became = become_writer(owner);
      const bool goes_on = became.has_value();
      has_begun.count_down();
      if (goes_on) follow();
    });
    has_begun.wait();
    return became;
  }
  void finish() { end(Stops::kWhenComplete); }

 private:
  enum class Stops : std::uint8_t { kNot, kWhenComplete, kAtOnce };

  void end(Stops how) {
    if (!thread_.joinable()) return;
    stops_ = how;
    news_.send();
    thread_.join();
  }

  void follow() {
    pollfd news{.fd = news_.fd(), .events = POLLIN, .revents = 0};
    while (stops_ != Stops::kAtOnce) {
      // stops_ must be read before follow(), so that no block that came before the stop is missed.
      const bool is_ending = stops_ == Stops::kWhenComplete;
      const bool may_be_more = follower_.follow();
      if (is_ending && !may_be_more) break;
      if (!may_be_more) poll(&news, 1, static_cast<int>(kLookForNews.count()));
      news_.take();
      if (follower_.has_news()) publish(false);
    }
    if (stops_ != Stops::kWhenComplete) return;
    follower_.finish();
    publish(true);
  }

  void publish(bool is_last) {
    std::vector<metrics::Family> families = follower_.families();
    for (MetricsOutlet* const outlet : outlets_) outlet->add_to(families);
    for (MetricsOutlet* const outlet : outlets_)
      outlet->publish(families, follower_.clock(), is_last);
  }

  std::vector<MetricsOutlet*> outlets_;
  Wakeup news_;
  std::atomic<Stops> stops_ = Stops::kNot;
  FeedFollower follower_;  // used by the thread alone once it runs
  std::thread thread_;
};

MetricsThread::MetricsThread(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
MetricsThread::~MetricsThread() = default;

void MetricsThread::finish() {
  loop_->finish();
}

Result<std::unique_ptr<MetricsThread>> MetricsThread::start(BlockFeed& feed,
                                                            std::chrono::nanoseconds flush_period,
                                                            std::size_t ues,
                                                            std::vector<MetricsOutlet*> outlets,
                                                            const FileOwner& owner) {
  auto loop = std::make_unique<Loop>(feed, flush_period, ues, std::move(outlets));
  SJ_CHECK(loop->begin(owner));
  return std::unique_ptr<MetricsThread>(new MetricsThread(std::move(loop)));
}

}  // namespace sojourn::capture
