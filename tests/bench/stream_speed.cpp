// How many events a second one reader gets over loopback: made-up radio traffic goes through a
// capture's sink, its feed and its server to a reader in this process, which finds the blocks in
// what it reads and counts their events. The sink's store keeps nothing. See the script
// stream-speed.
// Usage: stream-speed-program [SECONDS=5] [READERS=1]
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/trace/format.h"
#include "tests/bench/radio_traffic.h"
#include "userspace/capture/output/sink.h"
#include "userspace/capture/stream/stream_server.h"

namespace sojourn {
namespace {

constexpr std::size_t kBlockEvents = 16'384;
constexpr std::size_t kBatches = 48;

class NoStore final : public capture::ItemStore {
 public:
  Result<void> take(const capture::Item&) override { return {}; }
  Result<void> take_block(std::span<const std::uint8_t> block) override {
    bytes_ += block.size();
    return {};
  }
  Result<void> finish() override { return {}; }
  void abandon() override {}
  std::uint64_t bytes() const override { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
};

// Batches of single streams.
Result<std::vector<model::EventBatch>> make_batches() {
  bench::RadioTraffic traffic(UINT64_MAX, 20, 200);
  std::array<model::EventBatch, bench::RadioTraffic::kThreads> streams;
  std::array<std::uint64_t, bench::RadioTraffic::kThreads> next_seq = {};
  std::vector<model::EventBatch> full;
  model::EventBatch batch;
  while (full.size() < kBatches && traffic.fill(batch))
    for (std::size_t row = 0; row < batch.size(); ++row) {
      auto event = batch[row];
      event.seq = next_seq[event.stream]++;
      model::EventBatch& stream = streams[event.stream];
      stream.append(event);
      if (stream.size() < kBlockEvents) continue;
      full.push_back(stream);
      stream.clear();
    }
  return full;
}

struct Received {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

// Headers of blocks follow each other; what lies between is thrown away.
Received receive(int fd) {
  Received sum;
  std::vector<std::uint8_t> buffer(std::size_t{1} << 20);
  std::size_t held = 0;
  std::uint64_t skip = sizeof(trace::FileHeader);
  for (;;) {
    pollfd wanted{.fd = fd, .events = POLLIN, .revents = 0};
    poll(&wanted, 1, -1);
    const ssize_t got = read(fd, buffer.data() + held, buffer.size() - held);
    if (got <= 0) return sum;
    sum.bytes += static_cast<std::uint64_t>(got);
    held += static_cast<std::size_t>(got);
    std::size_t at = 0;
    for (;;) {
      const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(skip, held - at));
      at += step;
      skip -= step;
      if (skip != 0 || held - at < sizeof(trace::BlockHeader)) break;
      trace::BlockHeader header;
      std::memcpy(&header, buffer.data() + at, sizeof(header));
      if (header.magic != trace::kBlockMagic) return sum;
      sum.events += header.events;
      skip = sizeof(header) + header.payload_bytes;
    }
    std::memmove(buffer.data(), buffer.data() + at, held - at);
    held -= at;
  }
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

Result<void> run(double seconds, std::size_t readers) {
  SJ_TRY(schema, bench::RadioTraffic::schema());
  SJ_TRY(batches, make_batches());
  capture::BlockFeed feed(model::Host{});
  SJ_TRY(address, files::parse_stream_address("127.0.0.1:0"));
  SJ_TRY(server, capture::StreamServer::start({.listen = {address}, .connect = {}}, feed,
                                              capture::FileOwner::self()));
  feed.take(schema);
  capture::Sink sink(std::make_unique<NoStore>());
  sink.tap(feed, schema);
  std::vector<Received> received(readers);
  std::vector<std::thread> threads;
  for (std::size_t reader = 0; reader < readers; ++reader) {
    SJ_TRY(fd, files::connect_to(server->addresses().front()));
    threads.emplace_back(
        [&received, reader, fd = std::move(fd)] { received[reader] = receive(fd.get()); });
  }
  while (feed.totals().readers < readers) std::this_thread::sleep_for(std::chrono::milliseconds(1));

  const double cpu_before = cpu_seconds();
  const auto begun = std::chrono::steady_clock::now();
  const auto passed = [&begun] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  std::uint64_t sent = 0;
  for (std::size_t next = 0; passed() < seconds; next = (next + 1) % batches.size()) {
    while (!sink.has_room()) std::this_thread::sleep_for(std::chrono::microseconds(200));
    model::EventBatch batch = sink.empty_batch();
    batch = batches[next];
    sent += batch.size();
    sink.push(std::move(batch));
  }
  SJ_CHECK(sink.finish());
  const bool all_have_it = server->finish();
  const double took = passed();
  for (std::thread& thread : threads) thread.join();
  const double cpu = cpu_seconds() - cpu_before;
  for (const Received& one : received)
    fmt::print("{:.2f} million events/s, {:.1f} MB/s, {:.2f} bytes an event\n",
               static_cast<double>(one.events) / took / 1e6,
               static_cast<double>(one.bytes) / took / 1e6,
               static_cast<double>(one.bytes) / static_cast<double>(one.events));
  fmt::print("{:.2f} million events/s recorded, {:.1f} % of them lost to readers{}\n",
             static_cast<double>(sent) / took / 1e6,
             100 * static_cast<double>(feed.totals().lost) / static_cast<double>(sent * readers),
             all_have_it ? "" : "; a reader was cut off");
  fmt::print("{:.0f} ns of processor time an event: packing, sending, and reading here\n",
             cpu * 1e9 / static_cast<double>(sent));
  return {};
}

}  // namespace
}  // namespace sojourn

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 5;
  const std::size_t readers = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  if (seconds <= 0 || readers == 0 || argc > 3) {
    fmt::print(stderr, "usage: stream-speed-program [SECONDS [READERS]]\n");
    return 2;
  }
  if (const auto ran = sojourn::run(seconds, readers); !ran) {
    fmt::print(stderr, "stream-speed-program: {}\n", ran.error().text());
    return 1;
  }
  return 0;
}
