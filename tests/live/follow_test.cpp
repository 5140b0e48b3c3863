// Forked children that are followed: each hit of theirs is in the trace, or the trace says from
// when to when it does not know.
#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <unistd.h>

#include "tests/live/point_hits.h"
#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

const model::Target* target_of(const trace::Reader& reader, pid_t pid) {
  const auto found = std::ranges::find(reader.targets(), pid, &model::Target::pid);
  return found == reader.targets().end() ? nullptr : &*found;
}

std::vector<pid_t> children_of(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  std::vector<pid_t> children;
  std::string text = test::contents(process + "/task/" + std::to_string(pid) + "/children");
  for (std::size_t at = 0; at < text.size(); at = text.find(' ', at) + 1)
    children.push_back(static_cast<pid_t>(std::stoi(text.substr(at))));
  return children;
}

pid_t forked_by(pid_t parent) {
  kill(parent, SIGUSR1);
  for (int patience = 0; patience < 10'000; ++patience) {
    if (const auto children = children_of(parent); !children.empty()) return children.back();
    usleep(1000);
  }
  FAIL("process " << parent << " forked no child");
  return 0;
}

TEST_CASE("a followed child and its own child are recorded, and the span before is reported") {
  need_root();
  const std::vector<std::string> how =
      GENERATE(std::vector<std::string>{"--engine", "ring"},
               std::vector<std::string>{"--engine", "bpf", "--budget", "none"},
               std::vector<std::string>{"--attach", "perf", "--budget", "none"});
  CAPTURE(how);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child parent({SJ_SUBJECT_FAMILY});
  REQUIRE(parent.wait_for_output("ready"));
  std::vector<std::string> record = {SJ_SOJOURN, "record", "-p", std::to_string(parent.pid()),
                                     "--follow", "-o",     trace};
  record.insert(record.end(), how.begin(), how.end());
  test::Child tracer(record);
  REQUIRE(tracer.wait_for_output("attached"));
  const pid_t child = forked_by(parent.pid());
  REQUIRE(tracer.wait_for_output("process " + std::to_string(child)));
  const pid_t grandchild = forked_by(child);
  REQUIRE(tracer.wait_for_output("process " + std::to_string(grandchild)));
  usleep(100'000);
  CHECK(sojourn_done({"ctl", "-p", std::to_string(grandchild), "flush"}) == "flushed\n");
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);

  trace::Reader reader = open_trace(trace);
  const auto hits = hits_by_process(reader, "family.in--family.out", 1);
  const std::map<pid_t, pid_t> parent_of = {
      {parent.pid(), 0}, {child, parent.pid()}, {grandchild, child}};
  CHECK(hits.size() == parent_of.size());
  for (const auto& [pid, forebear] : parent_of) {
    CAPTURE(pid);
    const model::Target* const target = target_of(reader, pid);
    REQUIRE(target != nullptr);
    CHECK(target->parent == forebear);
    REQUIRE(hits.contains(pid));
    CHECK(hits.at(pid).counts.size() > 20);
    CHECK(is_gapless(hits.at(pid)));
    if (forebear == 0) continue;
    const auto unarmed = std::ranges::find(reader.capture().unarmed, pid, &model::UnarmedSpan::pid);
    if (how.back() == "ring") {
      CHECK(hits.at(pid).counts.front() == 0);
      CHECK(target->since_ns == 0);
      CHECK(unarmed == reader.capture().unarmed.end());
      continue;
    }
    REQUIRE(unarmed != reader.capture().unarmed.end());
    CHECK(unarmed->point == model::kNoPoint);
    CHECK(unarmed->from_ns > reader.capture().open_ns);
    CHECK(unarmed->until_ns == target->since_ns);
    CHECK(hits.at(pid).first_ns >= target->since_ns);
    // Its first hit comes right after the fork, the others every half millisecond and more.
    const std::uint64_t unseen = hits.at(pid).counts.front();
    CHECK(unseen * 500'000 <= hits.at(pid).first_ns - unarmed->from_ns);
  }
}

TEST_CASE("a followed child that becomes another program is recorded as that") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child parent({SJ_SUBJECT_FAMILY, SJ_SUBJECT_LINKED, "100000"});
  REQUIRE(parent.wait_for_output("ready"));
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(parent.pid()), "--follow",
                      "--engine", engine, "--budget", "none", "-o", trace});
  REQUIRE(tracer.wait_for_output("attached"));
  const pid_t child = forked_by(parent.pid());
  REQUIRE(tracer.wait_for_output("process " + std::to_string(child)));
  REQUIRE(tracer.wait_for_output("process " + std::to_string(child) + " (sj-subject-link)"));
  usleep(200'000);
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);

  trace::Reader reader = open_trace(trace);
  const auto hits = hits_by_process(reader, "linked.in--library.in", 0);
  REQUIRE(hits.contains(child));
  CHECK(is_gapless(hits.at(child)));
  CHECK(hits.at(child).counts.size() > 20);
  CHECK_FALSE(reader.capture().unarmed.empty());
  const auto is_linked = [&](const model::Target& target) {
    return target.pid == child && target.exe == SJ_SUBJECT_LINKED;
  };
  CHECK(std::ranges::any_of(reader.targets(), is_linked));
}

TEST_CASE("children that come and go by the hundred are recorded whole by rings") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_FORK, "60"});
  REQUIRE(subject.wait_for_output("ready"));
  const test::Ended ended = sojourn({"record", "-p", std::to_string(subject.pid()), "--follow",
                                     "--engine", "ring", "--for", "500ms", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader reader = open_trace(trace);
  auto hits = hits_by_process(reader, "fork.parent--fork.child", 1);
  const Hits own = hits.at(subject.pid());
  REQUIRE(own.counts.size() > 5);
  CHECK(is_gapless(own));
  hits.erase(subject.pid());
  // One child for each hit of the parent's; the first and the last may lie across a mark.
  CHECK(hits.size() + 2 >= own.counts.size());
  std::size_t whole = 0;
  for (const auto& [pid, child] : hits) {
    CAPTURE(pid);
    CHECK(is_gapless(child));
    CHECK(target_of(reader, pid) != nullptr);
    whole += child.counts.size() == 100 ? 1 : 0;
  }
  CHECK(whole + 2 >= hits.size());
}

TEST_CASE("children that end before they can be attached to are reported one by one") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_FORK, "60"});
  REQUIRE(subject.wait_for_output("ready"));
  const test::Ended ended =
      sojourn({"record", "-p", std::to_string(subject.pid()), "--follow", "--engine", "bpf",
               "--budget", "none", "--for", "500ms", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader reader = open_trace(trace);
  auto hits = hits_by_process(reader, "fork.parent--fork.child", 1);
  const Hits own = hits.at(subject.pid());
  REQUIRE(own.counts.size() > 5);
  CHECK(is_gapless(own));
  std::set<pid_t> unarmed;
  for (const model::UnarmedSpan& span : reader.capture().unarmed) {
    CHECK(span.from_ns < span.until_ns);
    unarmed.insert(span.pid);
  }
  CHECK(unarmed.size() + 2 >= own.counts.size());
  for (const auto& [pid, child] : hits)
    if (pid != subject.pid()) CHECK(unarmed.contains(pid));
}

}  // namespace
}  // namespace sojourn::live
