// The writing thread; also run under TSan.
#include "userspace/capture/sink.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch_test_macros.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/trace/reader.h"
#include "tests/support/child.h"

namespace sojourn::capture {
namespace {

model::Schema one_point() {
  auto point = model::parse_point("D a--b", "len:rnti:");
  REQUIRE(point.has_value());
  return {.points = {*point}};
}

model::EventBatch batch_of(std::uint64_t first, std::size_t events, model::EventBatch batch) {
  for (std::uint64_t seq = first; seq < first + events; ++seq) {
    const std::uint64_t values[] = {seq % 1400, 0x4601};
    batch.append(
        {.ts_ns = 1000 + seq, .seq = seq, .stream = 0, .tid = 7, .point = 0, .values = values});
  }
  return batch;
}

std::unique_ptr<Store> store_for(const std::string& path) {
  auto writer = trace::Writer::create(path);
  REQUIRE(writer.has_value());
  REQUIRE(writer->write(one_point()));
  return std::make_unique<FileStore>(std::move(*writer));
}

TEST_CASE("what is pushed is in the file, in order, while other state is asked for") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  constexpr std::size_t kBatches = 300;
  constexpr std::size_t kEvents = 1000;
  {
    Sink sink(store_for(path));
    for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
      sink.push(batch_of(batch * kEvents, kEvents, sink.empty_batch()));
      sink.push(model::ClockPair{.monotonic_ns = batch});
      CHECK_FALSE(sink.failed());
      (void)sink.has_room();
      (void)sink.bytes();
    }
    REQUIRE(sink.finish());
  }
  auto reader = trace::Reader::open(path);
  REQUIRE(reader.has_value());
  CHECK(reader->clocks().size() == kBatches);
  std::uint64_t expected = 0;
  REQUIRE(reader->merge([&](const model::EventBatch& events) {
    for (const std::uint64_t seq : events.seq()) CHECK(seq == expected++);
    return true;
  }));
  CHECK(expected == kBatches * kEvents);
  CHECK(reader->gaps().empty());
}

TEST_CASE(
    "a sink that is let go of without finish() leaves what it was given, and an older trace, "
    "alone") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  std::ofstream(path) << "older";
  {
    Sink(store_for(path)).push(batch_of(0, 10, {}));
  }
  CHECK(test::contents(path) == "older");
  auto reader = trace::Reader::open(path + ".partial");
  REQUIRE(reader.has_value());
  CHECK(reader->events() == 10);
}

TEST_CASE("an abandoned sink leaves no file, and an older trace alone") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  std::ofstream(path) << "older";
  {
    Sink sink(store_for(path));
    sink.push(batch_of(0, 10, {}));
    sink.abandon();
  }
  CHECK(test::contents(path) == "older");
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST_CASE("the first write error is kept, told at the end, and takes nothing that was good") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("run.sjt");
  // The limit on file sizes stands in for a full disk; it is the whole process's, hence the child.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 64 << 10, .rlim_max = 64 << 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    Sink sink(store_for(path));
    for (std::uint64_t batch = 0; batch < 1000 && !sink.failed(); ++batch)
      sink.push(batch_of(batch * 1000, 1000, sink.empty_batch()));
    for (int tries = 0; tries < 1000 && !sink.failed(); ++tries) usleep(1000);
    const bool failed = sink.failed();
    const auto finished = sink.finish();
    _exit(failed && !finished && finished.error().text().contains(path) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  auto reader = trace::Reader::open(path + ".partial");
  REQUIRE(reader.has_value());
  CHECK(reader->events() >= 1000);
  CHECK(reader->damage().empty());
}

}  // namespace
}  // namespace sojourn::capture
