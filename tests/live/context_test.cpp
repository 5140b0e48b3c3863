// Kernel context of programs whose system calls and waits are known (subjects/context.c).
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/live/programs.h"
#include "tests/live/subject_recording.h"

namespace sojourn::live {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kPreempted = 256;
constexpr std::uint64_t kDead = 128;

// A kernel may run no programs on behalf of some processes, such as the agent that manages a hosted
// machine. Their effects on a thread are not seen.
bool nearly_all(std::uint64_t seen, std::uint64_t of) {
  return 4 * seen >= 3 * of;
}

using Values = std::map<std::string, std::uint64_t>;

struct Event {
  std::uint32_t tid = 0;
  Values values;
};

// A subject of known dealings with the kernel, recorded, and the trace's events by point.
class Recorded : public SubjectRecording {
 public:
  Recorded(const std::string& work, int count, const std::string& families,
           const std::vector<std::string>& options = {})
      : SubjectRecording({SJ_SUBJECT_CONTEXT, work, std::to_string(count)},
                         with_context(families, options), "only its context is recorded") {
    read();
  }

  std::uint32_t tid(const std::string& name) const {
    return static_cast<std::uint32_t>(counted(name));
  }
  const std::vector<Event>& events(const std::string& point) { return events_[point]; }

  template <typename Is>
  std::size_t count(const std::string& point, Is is) {
    return static_cast<std::size_t>(std::ranges::count_if(events_[point], is));
  }

  // The thread in the report.
  nlohmann::json thread(std::uint32_t tid) const {
    const auto report = nlohmann::json::parse(sojourn_done({"report", "--json", path()}));
    for (const auto& thread : report.at("context").at("threads"))
      if (thread.at("tid") == tid) return thread;
    FAIL("the report does not have thread " << tid);
    return {};
  }

  std::optional<trace::Reader> reader;

 private:
  static std::vector<std::string> with_context(const std::string& families,
                                               std::vector<std::string> options) {
    options.insert(options.begin(), {"--context", families});
    return options;
  }

  void read() {
    reader.emplace(open_trace(path()));
    const auto& schema = reader->schema();
    const auto& capture = reader->capture();
    REQUIRE(reader->merge([&](const model::EventBatch& batch) {
      for (std::size_t row = 0; row < batch.size(); ++row) {
        const model::EventView event = batch[row];
        const model::Point& point = schema.points[event.point];
        Event& kept = events_[point.name()].emplace_back(Event{.tid = event.tid, .values = {}});
        for (std::size_t field = 0; field < point.fields.size(); ++field)
          kept.values[point.fields[field].name] = event.values[field];
        outside_ += event.ts_ns < capture.open_ns || event.ts_ns >= capture.close_ns ? 1 : 0;
      }
      return true;
    }));
    CHECK(outside_ == 0);
  }

  std::map<std::string, std::vector<Event>> events_;
  std::size_t outside_ = 0;
};

bool wants_to_run(const Event& out) {
  return out.values.at("state") == 0 || out.values.at("state") == kPreempted;
}

std::string name_of(const trace::Reader& reader, model::NameKind kind, std::uint64_t id) {
  std::string found;
  for (const model::ContextName& name : reader.context().names)
    if (name.kind == kind && name.id == id) found = name.name;
  return found;
}

TEST_CASE("a thread's name is written once, for all sources that know it") {
  need_root();
  const Recorded run("sleep", 100, "sched");
  std::set<std::pair<std::uint64_t, std::string>> told;
  for (const model::ContextName& name : run.reader->context().names) {
    if (name.kind != model::NameKind::kThread) continue;
    CAPTURE(name.id, name.name);
    CHECK(told.emplace(name.id, name.name).second);
  }
  CHECK(told.contains({run.tid("worker"), "worker"}));
}

TEST_CASE("a thread that sleeps leaves its CPU as often as the kernel counts, or nearly") {
  need_root();
  constexpr int kSleeps = 100;
  Recorded run("sleep", kSleeps, "sched");
  const std::uint32_t worker = run.tid("worker");
  const std::uint64_t sleeps = run.count("sched.switch", [&](const Event& event) {
    return event.values.at("prev") == worker && !wants_to_run(event) &&
           event.values.at("state") != kDead;
  });
  const std::uint64_t preemptions = run.count("sched.switch", [&](const Event& event) {
    return event.values.at("prev") == worker && wants_to_run(event);
  });
  CHECK(sleeps <= run.counted("voluntary"));
  CHECK(nearly_all(sleeps, run.counted("voluntary")));
  CHECK(nearly_all(preemptions, run.counted("involuntary")));
  CHECK(name_of(*run.reader, model::NameKind::kThread, worker) == "worker");

  const nlohmann::json thread = run.thread(worker);
  CHECK(thread.at("name") == "worker");
  CHECK(thread.at("blocked_ns").get<std::uint64_t>() +
            thread.at("runnable_ns").get<std::uint64_t>() +
            thread.at("unknown_ns").get<std::uint64_t>() >=
        kSleeps * kMillisecond);
}

TEST_CASE("a sleeper is woken by an interrupt, and is first made by its maker") {
  need_root();
  Recorded run("sleep", 100, "sched");
  const std::uint32_t worker = run.tid("worker");
  std::map<std::uint64_t, int> from;
  for (const Event& event : run.events("sched.wakeup"))
    if (event.tid == worker) ++from[event.values.at("from")];
  CHECK(from[3] == 1);
  CHECK(from[1] + from[2] >= 50);
}

TEST_CASE("wakers and woken threads agree with the results of the futex calls") {
  need_root();
  Recorded run("pair", 500, "sched,syscalls");
  const std::uint32_t worker = run.tid("worker");
  const std::uint32_t partner = run.tid("partner");
  // Only a wake returns how many it woke; a wait returns 0 or an error.
  const auto woke_one = [&](std::uint32_t tid) {
    return run.count("syscall", [&](const Event& event) {
      return event.tid == tid && event.values.at("result") == 1 &&
             name_of(*run.reader, model::NameKind::kSyscall, event.values.at("number")) == "futex";
    });
  };
  const auto wakeups = [&](std::uint32_t waker, std::uint32_t woken) {
    return run.count("sched.wakeup", [&](const Event& event) {
      return event.tid == woken && event.values.at("waker") == waker &&
             event.values.at("from") == 0;
    });
  };
  // A thread that is preempted right after a wake need not be woken itself: maybe only one of them
  // ever is.
  CHECK(woke_one(worker) + woke_one(partner) >= 10);
  CHECK(wakeups(worker, partner) == woke_one(worker));
  // The last wakeup is by the partner's end, which the worker waits for.
  CHECK(wakeups(partner, worker) >= woke_one(partner));
  CHECK(wakeups(partner, worker) <= woke_one(partner) + 1);
}

TEST_CASE("a thread that shares its CPU is runnable while its neighbour runs") {
  need_root();
  constexpr int kMilliseconds = 300;
  Recorded run("share", kMilliseconds, "sched,irq");
  const std::uint32_t worker = run.tid("worker");
  const std::uint32_t neighbour = run.tid("neighbour");
  CHECK(run.count("sched.switch", [&](const Event& event) {
    return event.values.at("prev") == worker && event.values.at("next") == neighbour &&
           wants_to_run(event);
  }) >= 2);
  CHECK(name_of(*run.reader, model::NameKind::kThread, neighbour) == "neighbour");
  const nlohmann::json thread = run.thread(worker);
  CHECK(thread.at("runnable_ns") > 0);
  CHECK(thread.at("preempted") >= 2);
  // The time on the thread's own clock is the time that it had a CPU.
  CHECK(thread.at("running_ns").get<double>() + thread.at("interrupted_ns").get<double>() +
            thread.at("unknown_ns").get<double>() >=
        0.9 * kMilliseconds * kMillisecond);
}

TEST_CASE("every system call is an event with its number") {
  need_root();
  constexpr int kCalls = 1000;
  Recorded run("syscalls", kCalls, "syscalls");
  const std::uint32_t worker = run.tid("worker");
  CHECK(run.said().contains("every process of this machine pays"));
  std::map<std::string, int> calls;
  for (const Event& event : run.events("syscall"))
    if (event.tid == worker)
      ++calls[name_of(*run.reader, model::NameKind::kSyscall, event.values.at("number"))];
  CHECK(calls["getppid"] == kCalls);
  CHECK(run.thread(worker).at("syscalls") >= kCalls);
  CHECK(!run.reader->schema().points.empty());
  CHECK(run.events("sched.switch").empty());
}

TEST_CASE("every page that is touched first is a fault at its address") {
  need_root();
  constexpr std::uint64_t kPages = 500;
  Recorded run("faults", kPages, "faults");
  if (run.said().contains("no context of faults"))
    SKIP("this kernel has no tracepoint for page faults: " << run.said());
  const std::uint64_t begin = run.counted("pages");
  std::set<std::uint64_t> pages;
  for (const Event& event : run.events("fault")) {
    const std::uint64_t address = event.values.at("address");
    if (address >= begin && address < begin + kPages * 4096) pages.insert(address / 4096);
  }
  CHECK(pages.size() == kPages);
}

TEST_CASE("packets that a socket in another network namespace drops are counted one by one") {
  need_root();
  constexpr int kDatagrams = 2000;
  Recorded run("overrun", kDatagrams, "sockets");
  const std::uint64_t drops = run.counted("drops");
  REQUIRE(drops > 0);
  REQUIRE(drops < kDatagrams);
  const std::string name = fmt::format("udp 127.0.0.1:{}", run.counted("port"));
  std::uint64_t cookie = 0;
  for (const model::ContextName& known : run.reader->context().names)
    if (known.kind == model::NameKind::kSocket && known.name == name) cookie = known.id;
  REQUIRE(cookie != 0);
  CHECK(run.count("socket.drop", [&](const Event& event) {
    return event.values.at("socket") == cookie;
  }) == drops);

  // The sampled depth and the kernel's own counter of it say the same.
  std::uint64_t sampled_drops = 0;
  std::uint64_t deepest = 0;
  for (const Event& event : run.events("socket.sample")) {
    if (event.values.at("socket") != cookie) continue;
    sampled_drops = std::max(sampled_drops, event.values.at("drops"));
    deepest = std::max(deepest, event.values.at("receive"));
    CHECK(event.values.at("receive_limit") > 0);
  }
  CHECK(sampled_drops == drops);
  CHECK(deepest > 0);
}

TEST_CASE("context that finds no room is in the ledger, to the event") {
  need_root();
  constexpr std::uint64_t kCalls = 100'000;
  Recorded run("syscalls", kCalls, "syscalls,sched", {"--context-ring", "4K", "--poll", "100ms"});
  std::uint64_t lost_calls = 0;
  std::map<std::uint32_t, std::uint64_t> lost;
  for (const model::LedgerEntry& entry : run.reader->ledger()) {
    lost[entry.stream] += entry.count;
    if (run.reader->schema().points.at(entry.point).name() == "syscall") lost_calls += entry.count;
  }
  REQUIRE(lost_calls > 0);
  std::map<std::uint32_t, std::uint64_t> kept;
  for (const trace::BlockInfo& block : run.reader->blocks()) kept[block.stream] += block.events;
  const auto& hits = run.reader->capture().stream_hits;
  for (const model::Stream& stream : run.reader->streams()) {
    CAPTURE(stream.id, kept[stream.id], lost[stream.id]);
    CHECK(kept[stream.id] + lost[stream.id] == hits.at(stream.id));
  }
  // Besides the counted ones a process makes few.
  const std::uint64_t calls = run.events("syscall").size() + lost_calls;
  CHECK(calls >= kCalls);
  CHECK(calls <= kCalls + 1000);
  CHECK(sojourn({"check", run.path()}).out.contains("whole"));
}

TEST_CASE("a family that does not exist is refused before anything is recorded") {
  const test::Ended ended = sojourn({"record", "-p", "1", "--context", "sched,weather"});
  CHECK(ended.exit_code == 2);
  CHECK(ended.err.contains("\"weather\" is no context"));
}

}  // namespace
}  // namespace sojourn::live
