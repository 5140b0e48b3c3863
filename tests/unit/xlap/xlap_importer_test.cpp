// Tables that are made here become a trace: points, times of cycle stamps within the bound,
// durations, and the rows that are left out.
#include "analysis/xlap/xlap_importer.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "analysis/trace/reader.h"
#include "tests/support/child.h"
#include "userspace/files/file_stream.h"
#include "userspace/files/trace_file.h"

namespace sojourn::xlap {
namespace {

constexpr std::uint64_t kBeginUs = 1'700'000'000'000'000;

const std::string kConfig = R"(data_files:
    sender: sender.csv
    receiver: receiver.csv
cycle_reference:
    sender: Submit
    receiver: Receive
time_reference:
    sender: Submit
    receiver: Receive
stamps:
    Submit:
        Source: sender
        Type: time
    Encode:
        Source: sender
        Type: cycle
    Transmit:
        Source: sender
        Type: time
    Receive:
        Source: receiver
        Type: time
    Deliver:
        Source: receiver
        Type: cycle
durations:
    Send:
        Start: Submit
        Stop: Transmit
        Source: sender
    Whole:
        Start: Submit
        Stop: Deliver
        Source: sender
packet_types:
    Data: 0
)";

// Counters of 2 and 3 GHz that began long before; the clock counts whole microseconds.
std::uint64_t sender_cycles(double since_us) {
  return 9'000'000'000'000 + static_cast<std::uint64_t>(since_us * 2000 * (1 + 15e-6));
}
std::uint64_t receiver_cycles(double since_us) {
  return 5'000'000'000 + static_cast<std::uint64_t>(since_us * 3000 * (1 - 40e-6));
}
std::uint64_t clock_us(double since_us) {
  return kBeginUs + static_cast<std::uint64_t>(since_us);
}

struct Imported {
  test::TemporaryDirectory directory;

  void write(const std::string& name, const std::string& text) const {
    test::write_contents(directory.path(name), text);
  }
  // 1,000 packets, 20 ms apart: 12.25 us to encode, 30.5 us to transmit, 200 us on the way, 7.75 us
  // to deliver. Every tenth is not delivered; every hundredth row is of another type.
  void write_tables() const {
    write("xlap.yml", kConfig);
    std::string sender =
        "SeqNo,Kind,Submit_T,Submit_C,Encode_T,Encode_C,Transmit_T,Transmit_C,Feedback_D,Note\n";
    std::string receiver = "SeqNo,Kind,Receive_T,Receive_C,Deliver_C\n";
    for (unsigned seq = 1; seq <= 1000; ++seq) {
      const double now = 20'000.3 * seq;
      const int kind = seq % 100 == 0 ? 1 : 0;
      sender += fmt::format("{},{},{},{},0,{},{},{},{},7\n", seq, kind, clock_us(now),
                            sender_cycles(now), sender_cycles(now + 12.25), clock_us(now + 42.75),
                            sender_cycles(now + 42.75), seq % 2 == 0 ? "3.5" : "");
      const double came = now + 242.75;
      receiver += fmt::format("{},{},{},{},{}\n", seq, kind, clock_us(came), receiver_cycles(came),
                              seq % 10 == 0 ? "" : std::to_string(receiver_cycles(came + 7.75)));
    }
    write("sender.csv", sender);
    write("receiver.csv", receiver);
  }
  Result<Summary> import() const {
    auto writer = files::create_trace(directory.path("t.sjt"));
    REQUIRE(writer.has_value());
    auto into = imports::Destination::alone(*writer, "measured");
    REQUIRE(into.has_value());
    auto summary =
        import_directory(directory.path(""), files::open_stream, *into, [](auto, auto) {});
    if (summary)
      REQUIRE(writer->finish());
    else
      writer->abandon();
    return summary;
  }
  std::string error() const {
    const auto summary = import();
    REQUIRE_FALSE(summary.has_value());
    const std::string path = directory.path("");
    std::string text = summary.error().text();
    for (auto at = text.find(path); at != std::string::npos; at = text.find(path))
      text.erase(at, path.size());
    return text;
  }
};

TEST_CASE("stamps become points, and times of cycles are right within the stated bound") {
  const Imported imported;
  imported.write_tables();
  const auto summary = imported.import();
  REQUIRE(summary.has_value());
  REQUIRE(summary->files.size() == 2);
  const FileSummary& sender = summary->files[0];
  CHECK(sender.source == "sender");
  CHECK(sender.rows == 1000);
  CHECK(sender.other_types == 10);
  CHECK(sender.cycle_stamps == 3 * 990);
  CHECK(sender.checked == 990);  // those of Transmit: all of Submit are used
  CHECK(sender.beyond_bound == 0);
  CHECK(sender.columns_left_out == 1);
  CHECK(sender.durations_left_out == 990);
  REQUIRE(sender.bound_ns);
  CHECK(*sender.bound_ns >= 1000);
  CHECK(*sender.bound_ns < 4000);
  CHECK(sender.furthest_ns <= *sender.bound_ns);

  auto reader = files::open_trace(imported.directory.path("t.sjt"));
  REQUIRE(reader.has_value());
  CHECK(reader->capture().stamp_error_ns ==
        std::max(*sender.bound_ns, *summary->files[1].bound_ns));
  std::map<std::string, unsigned> counts;
  double furthest = 0;
  REQUIRE(reader->merge([&](const model::EventBatch& events) {
    for (std::size_t row = 0; row < events.size(); ++row) {
      const auto event = events[row];
      const std::string name = reader->schema().points[event.point].name();
      ++counts[name];
      const double now = 20'000.3 * static_cast<double>(event.values.back());
      const double since_ns = static_cast<double>(event.ts_ns - kBeginUs * 1000);
      if (name == "sender.Submit--sender.Encode")
        furthest = std::max(furthest, std::abs(since_ns - (now + 12.25) * 1000));
      if (name == "receiver.Receive--output")
        furthest = std::max(furthest, std::abs(since_ns - (now + 250.5) * 1000));
      if (name == "Send") {
        CHECK(std::abs(static_cast<double>(event.values[0]) - 42'750) < 100);
      }
      if (name == "Feedback") CHECK(event.values[0] == 3500);
    }
    return true;
  }));
  CHECK(furthest <= static_cast<double>(reader->capture().stamp_error_ns));
  CHECK(counts["input--sender.Submit"] == 990);
  CHECK(counts["sender.Submit--sender.Encode"] == 990);
  CHECK(counts["sender.Encode--channel"] == 990);
  CHECK(counts["channel--receiver.Receive"] == 990);
  CHECK(counts["receiver.Receive--output"] == 900);
  CHECK(counts["Send"] == 990);
  CHECK(counts["Feedback"] == 490);
  CHECK(counts.size() == 7);
}

TEST_CASE("a step of the clock makes the bound as large as its effect on times") {
  const Imported imported;
  imported.write("xlap.yml", R"(data_files: {s: s.csv}
cycle_reference: {s: A}
time_reference: {s: A}
stamps:
    A: {Source: s, Type: time}
    B: {Source: s, Type: time}
)");
  std::string text = "SeqNo,A_T,A_C,B_T,B_C\n";
  for (unsigned seq = 1; seq <= 100; ++seq) {
    const double now = 100'000.0 * seq;
    const double step = seq > 50 ? 800 : 0;
    text += fmt::format("{},{},{},{},{}\n", seq, clock_us(now + step), sender_cycles(now),
                        clock_us(now + 50'000 + step), sender_cycles(now + 50'000));
  }
  imported.write("s.csv", text);
  const auto summary = imported.import();
  REQUIRE(summary.has_value());
  const FileSummary& file = summary->files[0];
  CHECK(*file.bound_ns > 390'000);
  CHECK(*file.bound_ns < 410'000);
  CHECK(file.furthest_ns > 380'000);
  CHECK(file.outside_instants == 1);
}

TEST_CASE("tables that do not fit their xlap.yml are refused, with the file and the line") {
  const Imported imported;
  CHECK(imported.error().contains("xlap.yml: No such file"));
  imported.write_tables();
  imported.write("receiver.csv", "SeqNo,Kind,Receive_T,Receive_C\n1,0,5,5\n");
  CHECK(imported.error() == "xlap.yml:23: Deliver: receiver.csv has no column Deliver_C");
  imported.write("receiver.csv", "Kind,Receive_T,Receive_C,Deliver_C\n");
  CHECK(imported.error() == "receiver.csv:1: there is no column SeqNo");
  imported.write("receiver.csv", "SeqNo,Kind,Receive_T,Receive_C,Deliver_C\n1,0,x,5,6\n");
  CHECK(imported.error() == "receiver.csv:2: Receive_T: x is no number that can be");
  imported.write("receiver.csv", "SeqNo,Kind,Receive_T,Receive_C,Deliver_C\n1,0,5,5\n");
  CHECK(imported.error() == "receiver.csv:2: 4 columns where the first line names 5");
  imported.write("receiver.csv", "SeqNo,Kind,Receive_T,Receive_C,Deliver_C\n1,0,5,5,9\n");
  CHECK(imported.error() ==
        "receiver.csv:2: Deliver: cycles, and fewer than two instants have both Receive_T and "
        "Receive_C");
  imported.write("receiver.csv", "SeqNo,Kind,Receive_T,Receive_C,Deliver_C\n");
  CHECK(imported.error() == "receiver.csv: no stamp in 0 rows");
}

}  // namespace
}  // namespace sojourn::xlap
