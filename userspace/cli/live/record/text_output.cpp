#include "userspace/cli/live/record/text_output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "analysis/present/events/event_lines.h"
#include "analysis/trace/byte_source.h"
#include "analysis/trace/event_sorter.h"
#include "analysis/trace/follower.h"
#include "userspace/cli/line_output.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

namespace {

// How long events are held back for sorting. A clock pair is written behind the events that were
// drained before it, and events may follow until the pair is read.
constexpr std::uint64_t kSettleNs = 100'000'000;

constexpr std::size_t kBlocks = 256;

// The part of the stream that was not read yet.
class Arrived : public trace::ByteSource {
 public:
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return begin_ + bytes_.size(); }
  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    if (offset < begin_ || into.size() > size() - std::min(offset, size())) return false;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset - begin_), into.size(),
                into.begin());
    return true;
  }
  void add(std::span<const std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void drop_before(std::uint64_t offset) {
    const std::uint64_t count = std::min<std::uint64_t>(offset - begin_, bytes_.size());
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(count));
    begin_ += count;
  }

 private:
  const std::string name_ = "the stream";
  std::vector<std::uint8_t> bytes_;
  std::uint64_t begin_ = 0;
};

class Printer {
 public:
  Printer() : Printer(std::make_unique<Arrived>()) {}

  void take(std::span<const std::uint8_t> bytes) {
    arrived_->add(bytes);
    const auto keep = [this](trace::StoredEvents&& stored) {
      if (!follower_.decode(stored, batch_)) return;
      for (std::size_t row = 0; row < batch_.size(); ++row) waiting_.add(batch_[row]);
    };
    for (;;) {
      const auto blocks = follower_.poll(kBlocks, keep);
      if (!blocks || *blocks == 0) break;
    }
    arrived_->drop_before(follower_.offset());
    const auto& clocks = follower_.about().clocks;
    if (clocks.size() == std::exchange(clocks_, clocks.size()) || clocks.size() < 2) return;
    const std::uint64_t at_ns = clocks.back().monotonic_ns;
    print_before(at_ns - std::min(at_ns, kSettleNs));
  }

  TextOutput::Printed end() {
    print_before(UINT64_MAX);
    for (const model::LedgerEntry& entry : follower_.about().ledger)
      if (entry.cause == model::LossCause::kWriterBehind) printed_.lost += entry.count;
    printed_.has_end = !follower_.about().capture.ended_by.empty();
    printed_.is_taken = output_.is_taken();
    return std::move(printed_);
  }

 private:
  explicit Printer(std::unique_ptr<Arrived> arrived)
      : arrived_(arrived.get()), follower_(std::move(arrived)) {}

  void print_before(std::uint64_t end_ns) {
    const model::EventBatch batch = waiting_.take_before(end_ns);
    if (batch.empty() || !is_wanted()) return;
    const trace::Metadata& about = follower_.about();
    const present::EventLines lines(about, present::EventLines::Time::kSinceOrigin,
                                    about.capture.open_ns, false);
    for (std::size_t row = 0; row < batch.size() && is_wanted(); ++row) {
      lines.append(batch[row], output_.buffer());
      ++printed_.events;
      printed_.written = output_.flush_if_full();
    }
    if (is_wanted()) printed_.written = output_.flush();
  }

  // The stream is read on even so: the capture does not wait, and its own file gets everything.
  bool is_wanted() const { return printed_.written && output_.is_taken(); }

  Arrived* arrived_;  // the follower's
  trace::Follower follower_;
  trace::EventSorter waiting_;
  model::EventBatch batch_;
  std::size_t clocks_ = 0;
  LineOutput output_;
  TextOutput::Printed printed_;
};

TextOutput::Printed print_all(int stream) {
  Printer printer;
  std::vector<std::uint8_t> piece(std::size_t{64} << 10);
  for (;;) {
    pollfd wanted{.fd = stream, .events = POLLIN, .revents = 0};
    poll(&wanted, 1, -1);
    const ssize_t got = read(stream, piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) break;
    printer.take(std::span(piece).first(static_cast<std::size_t>(got)));
  }
  return printer.end();
}

}  // namespace

TextOutput::TextOutput(base::Fd stream) : stream_(std::move(stream)) {
  if (stream_) thread_ = std::thread([this] { printed_ = print_all(stream_.get()); });
}

TextOutput::~TextOutput() {
  if (thread_.joinable()) thread_.join();
}

Result<void> TextOutput::finish(std::uint64_t events) {
  if (!thread_.joinable()) return {};
  thread_.join();
  if (!printed_.written || !printed_.is_taken) return printed_.written;
  const std::uint64_t missing =
      printed_.has_end ? printed_.lost : events - std::min(events, printed_.events);
  if (missing != 0)
    tell("printing was slower than the events: {} not printed\n", counted(missing, "event"));
  return {};
}

}  // namespace sojourn::cli
