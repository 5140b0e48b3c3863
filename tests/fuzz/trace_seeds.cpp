// Writes the traces that trace-reader-fuzz begins with, one with every kind of block that a reader
// knows: after a change of the format, they are made anew by it. Payloads are not compressed in
// most of them, since hardly any change of a compressed payload is one that can be decompressed.
// Usage: trace-seeds DIRECTORY, e.g. tests/fuzz/corpus/trace-reader
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/model/queue_info.h"
#include "analysis/trace/block.h"
#include "analysis/trace/format.h"
#include "analysis/trace/writer.h"
#include "tests/fuzz/fuzz_checks.h"
#include "tests/fuzz/memory_files.h"

namespace {

using namespace sojourn;
using Bytes = std::vector<std::uint8_t>;

model::Schema schema() {
  model::Schema schema{{*model::parse_point("D ip.in--rlc.tx", "len:rnti:psn"),
                        *model::parse_point("D rlc.tx--out", "len:rnti:psn.so"),
                        *model::parse_point("I ue.snr--", "snr")}};
  schema.points[2].fields[0].is_signed = true;
  return schema;
}

template <typename Fact>
void write(trace::Writer& writer, const Fact& fact) {
  fuzz::require(writer.write(fact).has_value(), "a trace can be written");
}

void write_events(trace::Writer& writer, std::uint32_t stream, std::size_t first, std::size_t end) {
  model::EventBatch batch;
  for (std::size_t at = first; at < end; ++at) {
    const std::vector<std::uint64_t> values = {100 + at, 0x4601, at, 0};
    const auto point = static_cast<model::PointId>(at % 2);
    batch.append({.ts_ns = 1'000'000 + 1'000 * at + 300 * stream,
                  .seq = at + at / 5,
                  .stream = stream,
                  .tid = 4242,
                  .point = point,
                  .values = std::span(values).first(3 + point)});
  }
  write(writer, batch);
}

void write_plain(trace::Writer& writer) {
  write(writer, schema());
  write(writer, model::Stream{.id = 0, .engine = model::Engine::kRing, .tid = 4242});
  write(writer, model::Stream{.id = 1, .engine = model::Engine::kBpf, .cpu = 1});
  write(writer, model::Capture{.tracer = "sojourn", .open_ns = 900'000, .close_ns = 9'000'000});
  write_events(writer, 0, 0, 12);
  write_events(writer, 1, 0, 8);
  write_events(writer, 0, 12, 15);
}

void write_all_kinds(trace::Writer& writer) {
  write_plain(writer);
  model::Target target;
  target.pid = 4242;
  target.name = "station";
  target.cmdline = {"station", "-v"};
  write(writer, target);
  write(writer, model::Host{.name = "host", .machine = "x86_64", .cpus = 2});
  write(writer,
        model::ClockPair{.monotonic_ns = 900'000, .realtime_ns = 1'700'000'000'000'000'000});
  write(writer, model::Ledger{{.stream = 0, .point = 1, .count = 2}});
  write(writer, model::Context{.families = {{.name = "sched"}, {.name = "irq", .missing = "none"}},
                               .names = {{.id = 4242, .name = "main", .pid = 4242, .state = "R"}}});
  write(writer, model::Profile{.counters = {{.name = "page-faults", .period = 1}},
                               .frames = {{.id = 1,
                                           .module = "station",
                                           .address = 64,
                                           .calls = {{.function = "main"}}}},
                               .stacks = {{.id = 1, .frames = {1, 1}}}});
  write(writer, model::QueueChanges{{.ts_ns = 5, .about = {.id = 7, .name = "rlc.tx"}}});
  write(writer,
        model::Sampling{.period_ns = 1'000, .passes = 3, .queues = {{.id = 7, .looks = 3}}});
}

Bytes made(const std::function<void(trace::Writer&)>& write) {
  Bytes trace;
  auto writer = trace::Writer::create(std::make_unique<fuzz::MemorySink>(trace));
  fuzz::require(writer.has_value(), "a trace can be begun");
  write(*writer);
  fuzz::require(writer->finish().has_value(), "a trace can be finished");
  return trace;
}

// Returns the trace without its index, each payload decompressed. The fuzzer corrects the
// checksums.
Bytes decompressed(const Bytes& trace) {
  Bytes plain(trace.begin(), trace.begin() + sizeof(trace::FileHeader));
  trace::BlockOpener opener;
  for (std::size_t at = plain.size();;) {
    trace::BlockHeader header;
    std::memcpy(&header, &trace[at], sizeof(header));
    if (header.type == trace::BlockType::kIndex) return plain;
    at += sizeof(header);
    const auto raw = opener.open(header, std::span(trace).subspan(at, header.payload_bytes));
    fuzz::require(raw.has_value(), "what was written can be read");
    at += header.payload_bytes;
    header.flags = 0;
    header.payload_bytes = header.raw_bytes;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&header);
    plain.insert(plain.end(), bytes, bytes + sizeof(header));
    plain.insert(plain.end(), raw->begin(), raw->end());
  }
}

void save(const std::string& path, char kind, const Bytes& trace) {
  std::ofstream file(path, std::ios::binary);
  file << kind;
  file.write(reinterpret_cast<const char*>(trace.data()),
             static_cast<std::streamsize>(trace.size()));
  fuzz::require(file.good(), "a seed can be saved");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "usage: trace-seeds DIRECTORY\n");
    return 2;
  }
  const std::string directory = std::string(arguments[1]) + "/";
  save(directory + "sound-indexed", '0', made(write_plain));
  save(directory + "sound-plain", '1', decompressed(made(write_plain)));
  save(directory + "sound-all-kinds", '1', decompressed(made(write_all_kinds)));
  Bytes cut = made(write_plain);
  cut.resize(cut.size() * 2 / 3);
  save(directory + "cut", '0', cut);
}
