// Records of perf events as bytes: whole ones, and every way of not being whole.
#include "userspace/capture/perf/perf_record.h"

#include <cstring>
#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

class Bytes {
 public:
  explicit Bytes(std::uint32_t type) { add(perf_event_header{.type = type, .misc = 0, .size = 0}); }
  template <typename T>
  Bytes& add(const T& value) {
    for (const std::byte byte : std::as_bytes(std::span(&value, 1))) bytes_.push_back(byte);
    return *this;
  }
  Bytes& add_text(const char* text, std::size_t padded) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + padded);
    std::memcpy(bytes_.data() + at, text, std::strlen(text));
    return *this;
  }
  std::vector<std::byte> done() const {
    std::vector<std::byte> bytes = bytes_;
    const auto size = static_cast<std::uint16_t>(bytes.size());
    std::memcpy(bytes.data() + offsetof(perf_event_header, size), &size, sizeof(size));
    return bytes;
  }

 private:
  std::vector<std::byte> bytes_;
};

Bytes sample() {
  Bytes bytes(PERF_RECORD_SAMPLE);
  bytes.add(std::uint64_t{42}).add(std::uint32_t{100}).add(std::uint32_t{101});
  bytes.add(std::uint64_t{1'000'000'007}).add(std::uint64_t{3});
  return bytes;
}

TEST_CASE("a sample has its event, thread, time and period") {
  const auto bytes = sample().done();
  const PerfRecord record = read_perf_record(bytes);
  REQUIRE(std::holds_alternative<PerfSample>(record));
  const auto& read = std::get<PerfSample>(record);
  CHECK(read.event == 42);
  CHECK(read.pid == 100);
  CHECK(read.tid == 101);
  CHECK(read.ts_ns == 1'000'000'007);
  CHECK(read.period == 3);
  CHECK(read.chain.empty());
}

TEST_CASE("a sample's stack has its stated length, within the record") {
  const auto with_chain = [](std::uint64_t says) {
    return sample().add(says).add(std::uint64_t{7}).add(std::uint64_t{8}).done();
  };
  const auto whole = with_chain(2);
  const PerfRecord record = read_perf_record(whole);
  REQUIRE(std::holds_alternative<PerfSample>(record));
  CHECK(std::get<PerfSample>(record).chain.size() == 16);
  for (const std::uint64_t says : {std::uint64_t{3}, UINT64_MAX, UINT64_MAX / 8 + 1}) {
    const auto forged = with_chain(says);
    CHECK(std::holds_alternative<PerfBroken>(read_perf_record(forged)));
  }
}

TEST_CASE("names and ends of threads, losses and mappings are reported") {
  const auto named = Bytes(PERF_RECORD_COMM)
                         .add(std::uint32_t{100})
                         .add(std::uint32_t{101})
                         .add_text("rlc", 8)
                         .done();
  const PerfRecord name = read_perf_record(named);
  REQUIRE(std::holds_alternative<PerfThreadName>(name));
  CHECK(std::get<PerfThreadName>(name).tid == 101);
  CHECK(std::get<PerfThreadName>(name).name == "rlc");

  const auto endless = Bytes(PERF_RECORD_COMM)
                           .add(std::uint32_t{100})
                           .add(std::uint32_t{101})
                           .add(UINT64_MAX)
                           .done();
  CHECK(std::holds_alternative<PerfBroken>(read_perf_record(endless)));

  const auto ended = Bytes(PERF_RECORD_EXIT)
                         .add(std::uint32_t{100})
                         .add(std::uint32_t{1})
                         .add(std::uint32_t{101})
                         .done();
  REQUIRE(std::holds_alternative<PerfThreadEnd>(read_perf_record(ended)));
  CHECK(std::get<PerfThreadEnd>(read_perf_record(ended)).tid == 101);

  const auto lost = Bytes(PERF_RECORD_LOST).add(std::uint64_t{1}).add(std::uint64_t{12}).done();
  REQUIRE(std::holds_alternative<PerfLost>(read_perf_record(lost)));
  CHECK(std::get<PerfLost>(read_perf_record(lost)).count == 12);

  const auto mapped = Bytes(PERF_RECORD_MMAP).add(std::uint64_t{1}).done();
  CHECK(std::holds_alternative<PerfMapping>(read_perf_record(mapped)));
  const auto other = Bytes(4711).done();
  CHECK(std::holds_alternative<PerfOther>(read_perf_record(other)));
}

TEST_CASE("a record that is cut anywhere is no record") {
  const auto whole = sample().add(std::uint64_t{1}).add(std::uint64_t{7}).done();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    CHECK(std::holds_alternative<PerfBroken>(read_perf_record(std::span(whole).first(bytes))));
  // A record that was cut, with a size that fits: no bytes beyond the rest may be read.
  for (std::size_t bytes = sizeof(perf_event_header); bytes < whole.size(); ++bytes) {
    std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
    const auto size = static_cast<std::uint16_t>(bytes);
    std::memcpy(cut.data() + offsetof(perf_event_header, size), &size, sizeof(size));
    const PerfRecord record = read_perf_record(cut);
    const bool ends_before_chain = bytes == whole.size() - 16;
    CHECK(std::holds_alternative<PerfBroken>(record) != ends_before_chain);
  }
}

TEST_CASE("random bytes are read without harm") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes(sizeof(perf_event_header) + random() % 96);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    const perf_event_header header{.type = static_cast<std::uint32_t>(random() % 12),
                                   .misc = 0,
                                   .size = static_cast<std::uint16_t>(bytes.size())};
    std::memcpy(bytes.data(), &header, sizeof(header));
    const PerfRecord record = read_perf_record(bytes);
    if (const auto* read = std::get_if<PerfSample>(&record))
      REQUIRE(read->chain.size() <= bytes.size());
  }
}

}  // namespace
}  // namespace sojourn::capture
