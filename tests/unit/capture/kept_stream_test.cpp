// A reader whose connection breaks, against a recorder whose sockets the test holds.
#include "userspace/files/kept_stream.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analysis/trace/completeness.h"
#include "analysis/trace/reader.h"
#include "tests/support/child.h"
#include "tests/unit/capture/feed_source.h"
#include "userspace/base/fd.h"
#include "userspace/files/file_source.h"
#include "userspace/files/nameless_file.h"

namespace sojourn::capture {
namespace {

using std::chrono::milliseconds;
using Bytes = std::vector<std::uint8_t>;

// Answers each connection with the next of these, and closes it.
class Answers {
 public:
  explicit Answers(std::vector<Bytes> answers) : answers_(std::move(answers)) {
    address_.path = directory_.path("stream");
    auto fd = files::listen_at(address_);
    REQUIRE(fd);
    listener_ = std::move(*fd);
    thread_ = std::thread([this] {
      for (const Bytes& answer : answers_) {
        pollfd wanted{.fd = listener_.get(), .events = POLLIN, .revents = 0};
        if (poll(&wanted, 1, 20'000) != 1) return;
        const base::Fd one(accept(listener_.get(), nullptr, nullptr));
        std::span<const std::uint8_t> rest = answer;
        while (!rest.empty()) {
          const ssize_t sent = send(one.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
          if (sent <= 0) break;
          rest = rest.subspan(static_cast<std::size_t>(sent));
        }
      }
      listener_ = base::Fd();
      unlink(address_.path.c_str());
    });
  }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  ~Answers() { thread_.join(); }

  std::string name() const { return address_.text(); }

 private:
  test::TemporaryDirectory directory_;
  files::StreamAddress address_{.host = {}};
  std::vector<Bytes> answers_;
  base::Fd listener_;
  std::thread thread_;
};

struct Kept {
  std::string error;
  std::string news;
  Bytes bytes;
};

Kept keep(const std::string& name) {
  Kept kept;
  auto file = files::nameless_file();
  REQUIRE(file);
  auto stream = files::KeptStream::open(name, file->get());
  REQUIRE(stream);
  while (!stream->is_complete() && kept.error.empty()) {
    auto awaited = stream->awaited();
    poll(awaited ? &*awaited : nullptr, awaited ? 1 : 0,
         awaited ? 20'000 : static_cast<int>(stream->until_next_try().count()));
    if (const auto taken = stream->take(1 << 20, milliseconds(1000)); !taken)
      kept.error = taken.error().text();
    if (const std::string news = stream->take_news(); !news.empty()) kept.news += news + "\n";
  }
  kept.bytes.resize(stream->size());
  files::FileSource source("stream", std::move(*file), stream->size());
  CHECK(source.read_at(0, kept.bytes));
  return kept;
}

// The streams of a reader that connects, is cut, and connects again; and one of another capture.
struct Parts {
  Parts() {
    BlockFeed feed(model::Host{});
    const auto early = join(feed);
    Source source(feed);
    source.events(100);
    source.second();
    source.events(50);
    first = take_all(feed, *early);
    feed.leave(early);
    source.events(40);
    source.second();
    const auto later = join(feed);
    source.second();
    source.events(25);
    source.end();
    second = take_all(feed, *later);
    BlockFeed other_feed(model::Host{});
    const auto stranger = join(other_feed);
    Source other_source(other_feed);
    other_source.end();
    other = take_all(other_feed, *stranger);
  }

  Bytes first;
  Bytes second;
  Bytes other;
};

trace::Reader read(const Bytes& bytes) {
  auto reader = trace::Reader::open(std::make_unique<trace::MemorySource>("stream", bytes));
  REQUIRE(reader);
  REQUIRE(reader->merge([](const model::EventBatch&) { return true; }));
  return std::move(*reader);
}

TEST_CASE("a reader whose connection breaks connects again, and counts the events in between") {
  Parts parts;
  parts.first.resize(parts.first.size() - 30);  // in the middle of a block of 50
  const Answers answers({parts.first, parts.second});
  const Kept kept = keep(answers.name());
  CHECK(kept.error.empty());
  CHECK(kept.news.contains("the connection broke"));
  CHECK(kept.news.contains("connected again"));
  const trace::Reader trace = read(kept.bytes);
  const auto found = trace::completeness_of(trace);
  CHECK(trace.events() == 100 + 25);
  CHECK(found.cut == 50 + 40);
  CHECK(found.is_whole());  // what was cut of a block is not kept
  CHECK(trace.damage().empty());
}

TEST_CASE("a connection that breaks before a part has begun is made again") {
  Parts parts;
  const Answers answers(
      {parts.first, {}, Bytes(parts.second.begin(), parts.second.begin() + 40), parts.second});
  const trace::Reader trace = read(keep(answers.name()).bytes);
  CHECK(trace.events() == 150 + 25);
  CHECK(trace::completeness_of(trace).cut == 40);
  CHECK(trace::completeness_of(trace).is_whole());
}

TEST_CASE("the trace ends where another capture answers") {
  const Parts parts;
  const Answers answers({parts.first, parts.other});
  const Kept kept = keep(answers.name());
  CHECK(kept.news.contains("another capture answers there now; the trace ends here"));
  CHECK(kept.bytes == parts.first);
}

TEST_CASE("the trace ends when no program listens any more") {
  const Parts parts;
  const Answers answers({parts.first});
  const Kept kept = keep(answers.name());
  CHECK(kept.news.contains("the trace ends here"));
  CHECK(kept.bytes == parts.first);
}

TEST_CASE("a stream that has ended is not read again, and one that names no capture neither") {
  const Parts parts;
  {
    const Answers answers({parts.second});
    const Kept kept = keep(answers.name());
    CHECK(kept.news.empty());
    CHECK(kept.bytes == parts.second);
  }
  const std::string words = "no trace at all";
  const Answers answers({Bytes(words.begin(), words.end())});
  const Kept kept = keep(answers.name());
  CHECK(kept.news.empty());
  CHECK(kept.bytes.size() == words.size());
}

TEST_CASE("a refusal is an error in the recorder's words") {
  const std::string words = "sojourn: the token is wrong\n";
  const Answers answers({Bytes(words.begin(), words.end())});
  CHECK(keep(answers.name()).error == answers.name() + ": the token is wrong");
}

}  // namespace
}  // namespace sojourn::capture
