// Lines of perf and bpftrace: hits, lines that are skipped, and broken ones.
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/hits/bpftrace_line.h"
#include "analysis/hits/perf_line.h"
#include "analysis/hits/words.h"

namespace sojourn::hits {
namespace {

std::string text_of(const Hit& hit) {
  std::string text = std::to_string(hit.ts_ns) + " " + std::string(hit.event) + " " +
                     std::to_string(hit.tid) + " '" + std::string(hit.thread) + "'";
  for (const HitField& field : hit.fields) {
    text += " " + std::string(field.name) + "=";
    text += field.is_signed ? std::to_string(static_cast<std::int64_t>(field.value))
                            : std::to_string(field.value);
  }
  return text;
}

std::string perf(const std::string& line) {
  Hit hit;
  const Line read = parse_perf_line(line, hit);
  if (read.kind == LineKind::kHit) return text_of(hit);
  if (read.kind == LineKind::kLost) return "lost " + std::to_string(read.lost);
  return read.kind == LineKind::kOther ? "other" : "malformed";
}

std::string bpftrace(const std::string& line) {
  BpftraceLines lines;
  Hit hit;
  const Line read = lines.parse(line, hit);
  if (read.kind == LineKind::kHit) return text_of(hit);
  if (read.kind == LineKind::kLost) return "lost " + std::to_string(read.lost);
  return read.kind == LineKind::kOther ? "other" : "malformed";
}

TEST_CASE("hits that perf printed are read, whatever the thread is called") {
  CHECK(perf("   app 14668 [000]  2725.958647550: sdt_gnb:in: (5606c8423146) arg1=100 arg2=-1") ==
        "2725958647550 gnb:in 14668 'app' arg1=100 arg2=-1");
  CHECK(perf("my: app 7.5: x 12/13 [001] 1.000002: probe_gnb:in: (1) rnti=0x4601") ==
        "1000002000 gnb:in 13 'my: app 7.5: x' rnti=17921");
  CHECK(perf("app 5 1.5: gnb:in:") == "1500000000 gnb:in 5 'app'");
  CHECK(perf("app 5 [000] 1.5: 1 cycles: 55d0 main (/app)") == "1500000000 cycles 5 'app'");
  CHECK(perf("app 5 [000] 1.5: gnb:in: (1) name=\"a b\" len=3") ==
        "1500000000 gnb:in 5 'app' len=3");
}

TEST_CASE("other output of perf is skipped, counted or reported") {
  CHECK(perf("") == "other");
  CHECK(perf("# comment") == "other");
  CHECK(perf("\t    55d0c0de main+0x1f (/app)") == "other");
  CHECK(perf("app 5 [000] 1.5: PERF_RECORD_LOST lost 76") == "lost 76");
  for (const char* const broken :
       {"dear diary", "app 5 [000] 1.5:", "app 5 [000] 1: gnb:in:", "app x [000] 1.5: gnb:in:",
        "5 [000] : gnb:in:", "app 5 [000] 1.5: gnb:in", "app 5 [000] 1.1234567890: gnb:in:",
        "app 99999999999 [000] 1.5: gnb:in:", "app 5 [000] 1.5: PERF_RECORD_LOST",
        "app 5 [000] 99999999999999999999.5: a:b:", ": : : :", " 1.5: : a:"})
    CHECK(perf(broken) == "malformed");
}

TEST_CASE("hits that bpftrace printed are read, as text and as JSON") {
  CHECK(bpftrace("2744240081916 usdt:/opt/app:gnb:in tid=14 len=100 by=-3 comm=my app") ==
        "2744240081916 gnb:in 14 'my app' len=100 by=-3");
  CHECK(bpftrace("5 uprobe:./app:main") == "5 main 0 ''");
  CHECK(bpftrace("5 tracepoint:sched:sched_switch next=7") == "5 sched:sched_switch 0 '' next=7");
  CHECK(bpftrace(R"({"type": "printf", "data": "5 usdt:./app:gnb:in tid=1 comm=a\n"})") ==
        "5 gnb:in 1 'a'");
}

TEST_CASE("other output of bpftrace is skipped, counted or reported") {
  CHECK(bpftrace("Attaching 3 probes...") == "other");
  CHECK(bpftrace("") == "other");
  CHECK(bpftrace("@hits: 7") == "other");
  CHECK(bpftrace("Lost 12 events") == "lost 12");
  CHECK(bpftrace(R"({"type": "attached_probes", "data": {"probes": 3}})") == "other");
  CHECK(bpftrace(R"({"type": "lost_events", "data": {"events": 9}})") == "lost 9");
  for (const char* const broken :
       {"Lost", "Lost many events", "5", "5 word", "x usdt:a:b:c", "5 usdt:", "{", "{}",
        R"({"type": "printf", "data": 5})", R"({"type": "lost_events", "data": []})",
        R"({"type": 1, "data": ""})"})
    CHECK(bpftrace(broken) == "malformed");
}

TEST_CASE("numbers are those of 64 bits") {
  CHECK(parse_number("18446744073709551615")->value == UINT64_MAX);
  CHECK(parse_number("0xffffffffffffffff")->value == UINT64_MAX);
  CHECK(static_cast<std::int64_t>(parse_number("-9223372036854775808")->value) == INT64_MIN);
  for (const char* const none : {"", "-", "0x", "1x", "18446744073709551616",
                                 "-9223372036854775809", "+1", "1.5", "0x10000000000000000"})
    CHECK(!parse_number(none).has_value());
  CHECK(parse_seconds("1.5") == 1'500'000'000);
  CHECK(parse_seconds("0.000000001") == 1);
  for (const char* const none : {"1", "1.", ".5", "1.0000000001", "a.5"})
    CHECK(!parse_seconds(none).has_value());
}

}  // namespace
}  // namespace sojourn::hits
