#include "analysis/latseq/latseq_importer.h"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <zlib.h>

#include "analysis/trace/reader.h"
#include "tests/support/child.h"
#include "userspace/files/file_stream.h"
#include "userspace/files/trace_file.h"

namespace sojourn::latseq {
namespace {

struct Event {
  std::uint64_t ts_ns = 0;
  std::uint32_t stream = 0;
  std::string point;
  std::vector<std::uint64_t> values;

  bool operator==(const Event&) const = default;
};

class Imports {
 public:
  std::string file(const std::string& name, const std::string& text) const {
    std::string path = directory_.path(name);
    test::write_contents(path, text);
    return path;
  }
  std::string path(const std::string& name) const { return directory_.path(name); }

  Result<Summary> import(const std::vector<std::string>& paths) const {
    auto writer = files::create_trace(trace());
    REQUIRE(writer.has_value());
    auto into = imports::Destination::alone(*writer, "recording");
    REQUIRE(into.has_value());
    auto summary = import_files(paths, files::open_gzip_stream, *into, [](auto, auto) {});
    if (summary) REQUIRE(writer->finish());
    return summary;
  }

  FileSummary one(const std::string& text) const {
    auto summary = import({file("x.lseq", text)});
    if (!summary) FAIL(summary.error().text());
    return summary->files.front();
  }

  trace::Reader reader() const {
    auto reader = files::open_trace(trace());
    REQUIRE(reader.has_value());
    return std::move(*reader);
  }

  std::vector<Event> events() const {
    auto trace = reader();
    std::vector<Event> events;
    REQUIRE(trace.merge([&](const model::EventBatch& batch) {
      for (std::size_t row = 0; row < batch.size(); ++row) {
        const auto event = batch[row];
        const auto& point = trace.schema().points[event.point];
        events.push_back(
            {event.ts_ns,
             event.stream,
             fmt::format("{} {} {}", letter(point.direction), point.name(), format_fields(point)),
             {event.values.begin(), event.values.end()}});
      }
      return true;
    }));
    return events;
  }

 private:
  std::string trace() const { return directory_.path("run.sjt"); }

  test::TemporaryDirectory directory_;
};

std::uint64_t total(const FileSummary& file) {
  return file.events + file.headers + file.blank + file.clock_lines + file.skipped_lines();
}

Count skipped(const FileSummary& file, Skip why) {
  return file.skipped[static_cast<std::size_t>(why)];
}

TEST_CASE("a converted file becomes a trace of the same events") {
  const Imports imports;
  const FileSummary file = imports.one(
      "# LatSeq\n"
      "1592409297.000001 D ip--pdcp len60:rnti7:gsn1\n"
      "\n"
      "1592409297.000003 D pdcp--rlc len62:rnti7:gsn1.psn5.psn6\n"
      "1592409297.000004 I rlc.occ occ-1:rnti7\n");
  CHECK(file.lines == 5);
  CHECK(file.events == 3);
  CHECK(file.headers == 1);
  CHECK(file.blank == 1);
  CHECK(file.skipped_lines() == 0);
  CHECK(file.cycle_stamps == 0);

  const std::uint64_t second = 1'592'409'297'000'000'000;
  CHECK(imports.events() ==
        std::vector<Event>{{second + 1000, 0, "D ip--pdcp len:rnti:gsn", {60, 7, 1}},
                           {second + 3000, 0, "D pdcp--rlc len:rnti:gsn.psn.psn", {62, 7, 1, 5, 6}},
                           {second + 4000, 0, "I rlc.occ occ:rnti:", {UINT64_MAX, 7}}});
  const auto reader = imports.reader();
  CHECK(reader.capture().engine == model::Engine::kImport);
  CHECK(reader.capture().open_ns == second + 1000);
  CHECK(reader.capture().close_ns == second + 4001);
  CHECK(reader.streams().at(0).engine == model::Engine::kImport);
  CHECK(reader.clocks().at(0).realtime_ns == reader.clocks().at(0).monotonic_ns);
  CHECK(reader.schema().points[0].fields[0].is_signed);
}

TEST_CASE("a raw file's cycles are read between its clock lines and past their ends") {
  const Imports imports;
  // 2 cycles a nanosecond, then 1.
  const FileSummary file = imports.one(
      "9000 U a--b len1\n"
      "10000 S rdtsc--gettimeofday 1000.000000\n"
      "11000 U a--b len2\n"
      "2000010000 S rdtsc--gettimeofday 1001.000000\n"
      "2500010000 U a--b len3\n"
      "3000010000 S rdtsc--gettimeofday 1002.000000\n"
      "3000010007 U a--b len4\n");
  CHECK(file.events == 4);
  CHECK(file.clock_lines == 3);
  CHECK(file.cycle_stamps == 4);
  CHECK(file.before_clock == 1);
  CHECK(file.after_clock == 1);
  std::vector<std::uint64_t> times;
  for (const Event& event : imports.events()) times.push_back(event.ts_ns);
  CHECK(times == std::vector<std::uint64_t>{999'999'999'500, 1'000'000'000'500, 1'001'500'000'000,
                                            1'002'000'000'007});
}

TEST_CASE("cycles without two clock lines are no times") {
  const Imports imports;
  const auto none = imports.import({imports.file("x.lseq", "\n8 D a--b\n9 D a--b\n")});
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().text().contains("fewer than two clock lines to read it by (line 2)"));

  const FileSummary mixed = imports.one("8 D a--b\n1.5 D a--b\n9 D a--b\n");
  CHECK(mixed.events == 1);
  CHECK(skipped(mixed, Skip::kNoClock).count == 2);
  CHECK(skipped(mixed, Skip::kNoClock).first_line == 1);
}

TEST_CASE("clock lines that run backwards are skipped, and the others give the time") {
  const Imports imports;
  const FileSummary file = imports.one(
      "1000 S rdtsc--gettimeofday 10.0\n"
      "2000 S rdtsc--gettimeofday 9.0\n"
      "500 S rdtsc--gettimeofday 11.0\n"
      "1500 D a--b\n"
      "2000 S rdtsc--gettimeofday 12.0\n");
  CHECK(skipped(file, Skip::kClockLine).count == 2);
  CHECK(skipped(file, Skip::kClockLine).first_line == 2);
  CHECK(imports.events().at(0).ts_ns == 11'000'000'000);
}

TEST_CASE("times before 1970 are out of range") {
  const Imports imports;
  const FileSummary file = imports.one(
      "5 D a--b\n"
      "1000000 S rdtsc--gettimeofday 1.0\n"
      "1000001 D a--b\n"
      "1000100 S rdtsc--gettimeofday 2.0\n");
  CHECK(file.events == 1);
  CHECK(skipped(file, Skip::kStampRange).count == 1);
  CHECK(skipped(file, Skip::kStampRange).first_line == 1);
}

TEST_CASE("every line is counted once, and each reason with its first line") {
  const Imports imports;
  const FileSummary file = imports.one(
      "#head1592409297.3 D a--b len1\n"
      "rubbish\n"
      "\n"
      "0 D a--b\n"
      "more rubbish\n"
      "1592409297.4 D a--b len18446744073709551616\n"
      "1592409297.4 D " +
      std::string(300, 'a') +
      "--b\n"
      "1592409297.4 D a\x01--b\n" +
      std::string("1592409297.4 D a\0--b len\0001\n", 28) + std::string(200'000, 'x') + "\n" +
      std::string(5'000'000, ' ') +
      "\n"
      "1592409297.5 D a--b len\n"
      "1592409297.5 D a--b l\xc3\xa4nge7\n");
  CHECK(total(file) == file.lines);
  CHECK(file.lines == 13);
  CHECK(file.events == 3);
  CHECK(skipped(file, Skip::kNoStamp).count == 2);
  CHECK(skipped(file, Skip::kNoStamp).first_line == 2);
  CHECK(skipped(file, Skip::kStampZero).first_line == 4);
  CHECK(skipped(file, Skip::kValueRange).first_line == 6);
  CHECK(skipped(file, Skip::kNames).count == 3);
  CHECK(skipped(file, Skip::kNames).first_line == 7);
  CHECK(skipped(file, Skip::kTooLong).count == 2);
  CHECK(skipped(file, Skip::kTooLong).first_line == 10);
  CHECK(file.fields_left_out.count == 1);
  CHECK(file.fields_left_out.first_line == 12);
  CHECK(imports.events().back().point == "D a--b l__nge::");
}

TEST_CASE("events that come late are put in order, those of one time stay as they are") {
  const Imports imports;
  const FileSummary file = imports.one(
      "1.3 D a--b n1\n"
      "1.1 D a--b n2\n"
      "1.3 D a--b n3\n"
      "1.2 D a--b n4\n");
  CHECK(file.disordered == 2);
  std::vector<std::uint64_t> order;
  for (const Event& event : imports.events()) order.push_back(event.values[0]);
  CHECK(order == std::vector<std::uint64_t>{2, 4, 1, 3});
  auto reader = imports.reader();
  REQUIRE(reader.merge([](const auto&) { return true; }));
  CHECK(reader.gaps().empty());
}

TEST_CASE("a long file is written as it is read, in order") {
  const Imports imports;
  const std::uint64_t count = 300'000;
  std::string converted;
  std::string raw = "1000000000 S rdtsc--gettimeofday 1.0\n";
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = i ^ 1;  // each second one is late
    converted += fmt::format("1.{:09} D a--b n{}\n", at * 1000, at);
    raw += fmt::format("{} D a--b n{}\n", 1'000'000'000 + at * 1000, at);
    if (i % 10'000 == 9'999) {
      const std::uint64_t now = (i + 1) * 1000;
      raw += fmt::format("{} S rdtsc--gettimeofday 1.{:09}\n", 1'000'000'000 + now, now);
    }
  }
  for (const std::string& text : {converted, raw}) {
    const FileSummary file = imports.one(text);
    CHECK(file.events == count);
    CHECK(file.disordered == count / 2);
    const auto events = imports.events();
    REQUIRE(events.size() == count);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < count; ++i)
      wrong += events[i].values[0] != i || events[i].ts_ns != 1'000'000'000 + i * 1000;
    CHECK(wrong == 0);
    const auto reader = imports.reader();
    CHECK(std::ranges::is_sorted(reader.blocks(), {}, &trace::BlockInfo::min_ts_ns));
  }
}

TEST_CASE("a file that is cut anywhere keeps its earlier lines") {
  const Imports imports;
  const std::vector<std::string> lines = {"1.100000001 D a--b len60:rnti7:gsn1\n",
                                          "1.100000002 U b--a len61:rnti7:gsn2\n",
                                          "1.100000003 D a--b len62:rnti0x7:gsn3\n"};
  const std::string text = lines[0] + lines[1] + lines[2];
  for (std::size_t cut = lines[0].size(); cut <= text.size(); ++cut) {
    CAPTURE(cut);
    const FileSummary file = imports.one(text.substr(0, cut));
    const auto whole = static_cast<std::uint64_t>(std::ranges::count(text.substr(0, cut), '\n'));
    const bool ended = text[cut - 1] == '\n';
    // All fields of the last line are there: they were in the first one as well.
    const bool like_first = !ended && cut >= text.rfind("gsn3") + 4;
    CHECK(file.events == whole + (like_first ? 1 : 0));
    CHECK(skipped(file, Skip::kCut).count == (ended || like_first ? 0 : 1));
    CHECK(file.unended == like_first);
    CHECK(imports.events().size() == file.events);
  }
}

TEST_CASE("a gzipped file is read as it is, a cut one as far as it goes") {
  const Imports imports;
  const std::string path = imports.path("x.lseq.gz");
  std::string text;
  for (int i = 1; i <= 50'000; ++i)
    text += fmt::format("1.{:09} D a--b n{}\n", i, i * 7919 % 65'521);
  gzFile gz = gzopen(path.c_str(), "wb");
  REQUIRE(gz != nullptr);
  REQUIRE(gzwrite(gz, text.data(), static_cast<unsigned>(text.size())) ==
          static_cast<int>(text.size()));
  REQUIRE(gzclose(gz) == Z_OK);

  const auto whole = imports.import({path});
  REQUIRE(whole.has_value());
  CHECK(whole->events() == 50'000);
  CHECK(whole->files[0].failure.empty());

  const std::string bytes = test::contents(path);
  test::write_contents(path, bytes.substr(0, bytes.size() / 2));
  const auto cut = imports.import({path});
  REQUIRE(cut.has_value());
  CHECK(cut->events() > 1000);
  CHECK(cut->events() < 50'000);
  CHECK_FALSE(cut->files[0].failure.empty());
  CHECK(imports.events().size() == cut->events());
}

TEST_CASE("several files become several streams that share their points") {
  const Imports imports;
  const auto summary = imports.import({imports.file("1.lseq", "1.1 D a--b n1\n1.3 D a--b n3\n"),
                                       imports.file("2.lseq", "1.2 D a--b n2\n1.4 U b--a n4\n")});
  REQUIRE(summary.has_value());
  CHECK(summary->points == 2);
  const auto events = imports.events();
  REQUIRE(events.size() == 4);
  for (std::uint64_t i = 0; i < 4; ++i) {
    CHECK(events[i].values[0] == i + 1);
    CHECK(events[i].stream == i % 2);
  }
}

TEST_CASE("more shapes of lines than a base station can have are refused line by line") {
  const Imports imports;
  std::string text;
  for (int i = 0; i < 10'100; ++i) text += fmt::format("1.5 D a--b{} n1\n", i);
  const FileSummary file = imports.one(text);
  CHECK(file.events == 10'000);
  CHECK(skipped(file, Skip::kTooManyPoints).count == 100);
  CHECK(skipped(file, Skip::kTooManyPoints).first_line == 10'001);
}

TEST_CASE("a file that cannot be read or has no event is refused in words") {
  const Imports imports;
  const auto error = [&](const std::string& path) {
    const auto summary = imports.import({path});
    REQUIRE_FALSE(summary.has_value());
    return summary.error().text();
  };
  CHECK(error(imports.path("absent.lseq")).ends_with("absent.lseq: No such file or directory"));
  CHECK(error(imports.path("")).ends_with("is a directory"));
  CHECK(error(imports.file("x", "")).ends_with("no LatSeq event in 0 lines"));
  CHECK(error(imports.file("x", "dear diary\n"))
            .ends_with("no LatSeq event in 1 line; does not begin with a time stamp (line 1)"));
}

}  // namespace
}  // namespace sojourn::latseq
