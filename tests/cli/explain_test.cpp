// `sojourn explain` on made traces.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

std::string without_path(std::string text, const std::string& path) {
  for (auto at = text.find(path); at != std::string::npos; at = text.find(path))
    text.replace(at, path.size(), "run.sjt");
  return text;
}

TEST_CASE("late packets of a trace without context are explained as far as events go") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  compare("explain.txt",
          without_path(output_of({"explain", trace, "--deadline", "80us", "--worst", "5"}), trace));
}

TEST_CASE("exactly the late packets are explained, each once") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const json said =
      json::parse(output_of({"explain", trace, "--deadline", "50us", "--worst", "1000", "--json"}));
  const json report =
      json::parse(output_of({"report", trace, "--json", "--where", "latency > 50us && complete"}));
  const std::uint64_t late = report["journeys"]["D"]["count"].get<std::uint64_t>() +
                             report["journeys"]["U"]["count"].get<std::uint64_t>();
  REQUIRE(late > 0);
  CHECK(said["late"] == late);
  CHECK(said["worst"].size() == late);
  std::uint64_t counted = 0;
  for (const json& cause : said["causes"]) counted += cause["packets"].get<std::uint64_t>();
  CHECK(counted == late);
  for (std::size_t i = 0; i < said["worst"].size(); ++i) {
    std::uint64_t sum_ns = 0;
    for (const json& part : said["worst"][i]["parts"]) sum_ns += part["ns"].get<std::uint64_t>();
    CHECK(sum_ns == said["worst"][i]["latency_ns"]);
    if (i != 0) CHECK(said["worst"][i]["latency_ns"] <= said["worst"][i - 1]["latency_ns"]);
  }
}

TEST_CASE("the slowest hundredth is late where no deadline is given, one packet at least") {
  const Traces traces;
  const json said = json::parse(output_of({"explain", traces.path("radio"), "--json"}));
  CHECK(said["late"] == 2);
  CHECK_FALSE(said["deadline_ns"]["given"]);
  const json down =
      json::parse(output_of({"explain", traces.path("radio"), "--json", "--dir", "D"}));
  CHECK(down["late"] == 1);
  CHECK(down["worst"][0]["dir"] == "D");
  CHECK(down["deadline_ns"]["U"].is_null());
}

TEST_CASE("an ambiguous packet is marked, and its journey names the event that fitted as well") {
  const Traces traces;
  const std::string recording = traces.directory().path("twice.lseq");
  const std::string trace = traces.directory().path("twice.sjt");
  test::write_contents(recording,
                       "1.000000100 D in--a len9::rnti1.sn7.gsn71\n"
                       "1.000000107 D in--a len9::rnti1.sn7.gsn72\n"
                       "1.000000110 D x--y len9::rnti1\n"
                       "1.000000117 D a--b len9::rnti1.sn7\n"
                       "1.000000127 D b--out len9::rnti1.sn7\n");
  REQUIRE(sojourn({"import", recording, "-o", trace}).exit_code == 0);
  CHECK(output_of({"explain", trace, "--deadline", "10ns"})
            .contains("gsn 72 (journey 2, ambiguous): "));
  const json said = json::parse(output_of({"explain", trace, "--deadline", "10ns", "--json"}));
  CHECK(said["worst"][0]["ambiguous"] == true);
  CHECK(output_of({"journeys", trace, "--id", "2"})
            .contains(
                "\n                 ambiguous: or from in--a 17 ns earlier, rnti 0x1 sn 7 gsn 71 "
                "(stream 0 seq 0)\n"));
  const json journey = json::parse(output_of({"journeys", trace, "--id", "2", "--json"}));
  const json other = journey["events"][1]["doubt"]["alternatives"][0];
  const json event = json::parse(output_of({"events", trace, "--json", "--limit", "1"}));
  for (const char* word : {"point", "stream", "seq"}) CHECK(other[word] == event[word]);
}

TEST_CASE("nothing is late where the deadline is far away") {
  const Traces traces;
  const std::string said = output_of({"explain", traces.path("radio"), "--deadline", "10s"});
  CHECK(said.contains("0 of 24 complete packets took longer than 10.0 s\n"));
}

TEST_CASE("the choice of packets is shown in one line, on however many it was written") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  CHECK(output_of({"explain", trace, "--deadline", "10s", "--where", "dir == D"})
            .contains(" complete packets where dir == D took longer than 10.0 s\n"));
  CHECK(output_of({"explain", trace, "--where", "latency > 1000s\n&& dir == D"})
            .contains(": no packet where latency > 1000s && dir == D is complete, so none took"));
  const json some = json::parse(output_of({"explain", trace, "--json", "--where", "dir == D"}));
  CHECK(some["where"] == "dir == D");
  CHECK(!json::parse(output_of({"explain", trace, "--json"})).contains("where"));
}

TEST_CASE("without complete packets explain says so") {
  const test::TemporaryDirectory directory;
  const std::string recording = directory.path("scalars.lseq");
  const std::string trace = directory.path("scalars.sjt");
  test::write_contents(recording, "1600000000.000001 I mac.occ--x occ12\n");
  REQUIRE(sojourn({"import", recording, "-o", trace}).exit_code == 0);
  const std::string said = output_of({"explain", trace});
  CHECK(said.contains(": no packet is complete, so none took too long\n"));
  CHECK(output_of({"explain", trace, "--deadline", "4ms"}).contains("no packet is complete"));
}

TEST_CASE("an invalid deadline is wrong usage") {
  for (const char* deadline : {"soon", "-4ms", "0ms", "4parsec"}) {
    const auto ended = sojourn({"explain", "none.sjt", "--deadline", deadline});
    CHECK(ended.exit_code == 2);
    CHECK(ended.out.empty());
    CHECK(ended.err.starts_with("sojourn: --deadline: \""));
    CHECK(ended.err.contains(" time"));
  }
  CHECK(sojourn({"explain", "none.sjt", "--worst", "0"}).exit_code == 2);
  require_error(sojourn({"explain", "none.sjt"}), "none.sjt: No such file or directory");
}

}  // namespace
}  // namespace sojourn::cli_tests
