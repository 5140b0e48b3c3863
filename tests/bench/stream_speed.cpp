// How many events a second readers get over loopback: made-up radio traffic goes through a
// capture's sink, its feed and its server to readers in this process, which find the blocks in what
// they read and count their events. The sink's store keeps nothing. Prints one JSON object. See the
// script stream-speed. Usage: stream-speed-program SECONDS READERS [CERTIFICATE KEY TOKEN_FILE]
// With the last three by TLS; SOJOURN_TLS_CA and SOJOURN_TOKEN_FILE are the reader's.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <poll.h>
#include <sys/resource.h>

#include "analysis/trace/format.h"
#include "tests/bench/radio_traffic.h"
#include "userspace/capture/output/sink.h"
#include "userspace/capture/stream/stream_server.h"
#include "userspace/files/stream_access.h"
#include "userspace/files/stream_connection.h"

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
Received receive(files::StreamConnection connection) {
  Received sum;
  std::vector<std::uint8_t> buffer(std::size_t{1} << 20);
  std::size_t held = 0;
  std::uint64_t skip = sizeof(trace::FileHeader);
  for (;;) {
    const auto got = connection.receive(std::span(buffer).subspan(held));
    if (!got) return sum;
    if (*got == 0) {
      if (!connection.is_open()) return sum;
      pollfd wanted{.fd = connection.fd(), .events = connection.awaited(), .revents = 0};
      poll(&wanted, 1, -1);
      continue;
    }
    sum.bytes += *got;
    held += *got;
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

struct Tls {
  std::string certificate;
  std::string key;
  std::string token_file;
};

Result<capture::StreamOptions> options_of(const std::optional<Tls>& tls) {
  capture::StreamOptions options;
  SJ_TRY(address, files::parse_stream_address(tls ? "tls://127.0.0.1:0" : "127.0.0.1:0"));
  options.listen.push_back(std::move(address));
  if (!tls) return options;
  SJ_TRY(token, files::read_token(tls->token_file));
  options.token = std::move(token);
  options.certificate = tls->certificate;
  options.key = tls->key;
  return options;
}

// Readers come while the server's thread shakes their hands.
Result<std::vector<std::thread>> start_readers(const files::StreamAddress& address,
                                               std::vector<Received>& received) {
  std::vector<std::thread> threads;
  for (Received& into : received) {
    SJ_TRY(connection, files::StreamConnection::open(address, std::chrono::seconds(5)));
    threads.emplace_back([&into, connection = std::move(connection)]() mutable {
      into = receive(std::move(connection));
    });
  }
  return threads;
}

Result<void> run(double seconds, std::size_t readers, const std::optional<Tls>& tls) {
  SJ_TRY(schema, bench::RadioTraffic::schema());
  SJ_TRY(batches, make_batches());
  SJ_TRY(options, options_of(tls));
  capture::BlockFeed feed(model::Host{});
  SJ_TRY(server, capture::StreamServer::start(options, feed, capture::FileOwner::self()));
  feed.take(schema);
  capture::Sink sink(std::make_unique<NoStore>());
  sink.tap(feed, schema);
  std::vector<Received> received(readers);
  SJ_TRY(threads, start_readers(server->addresses().front(), received));
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
  Received least = received.front();
  for (const Received& one : received)
    if (one.events < least.events) least = one;
  fmt::print(
      "{{\"events_per_s\": {:.0f}, \"recorded_per_s\": {:.0f}, \"lost\": {:.6f}, "
      "\"bytes_per_event\": {:.3f}, \"cpu_ns_per_event\": {:.1f}, \"whole\": {}}}\n",
      static_cast<double>(least.events) / took, static_cast<double>(sent) / took,
      static_cast<double>(feed.totals().lost) / static_cast<double>(sent * readers),
      static_cast<double>(least.bytes) /
          static_cast<double>(std::max<std::uint64_t>(least.events, 1)),
      cpu * 1e9 / static_cast<double>(sent), all_have_it);
  return {};
}

}  // namespace
}  // namespace sojourn

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 0;
  const std::size_t readers = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0;
  if (seconds <= 0 || readers == 0 || (argc != 3 && argc != 6)) {
    fmt::print(stderr,
               "usage: stream-speed-program SECONDS READERS [CERTIFICATE KEY TOKEN_FILE]\n");
    return 2;
  }
  std::optional<sojourn::Tls> tls;
  if (argc == 6) tls = {.certificate = argv[3], .key = argv[4], .token_file = argv[5]};
  if (const auto ran = sojourn::run(seconds, readers, tls); !ran) {
    fmt::print(stderr, "stream-speed-program: {}\n", ran.error().text());
    return 1;
  }
  return 0;
}
