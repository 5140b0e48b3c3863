// SIGKILL of the tracer, or of the target, in each phase of a capture that is too short to be hit
// by chance: the other goes on unharmed, and the file on disk can be read. The seed is the test
// run's.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/live/programs.h"
#include "tests/live/remains.h"

namespace sojourn::live {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int kMoments = 4;  // of each phase, for each engine, of each of the two

struct Phase {
  const char* name;
  std::vector<std::string> subject;
  std::vector<std::string> options;
  bool begins_attached;  // else with the tracer's first instruction
  int signal_to_subject = 0;
  int signal_to_tracer = 0;
  microseconds span;  // from its beginning until after its end, on a machine that has time
};

std::vector<Phase> phases() {
  return {
      {.name = "attaching",
       .subject = {SJ_SUBJECT_LINKED, "1000000"},
       .options = {},
       .begins_attached = false,
       .span = milliseconds(150)},
      {.name = "recording",
       .subject = {SJ_SUBJECT_LINKED, "1000000"},
       .options = {},
       .begins_attached = true,
       .span = milliseconds(50)},
      {.name = "detaching",
       .subject = {SJ_SUBJECT_LINKED, "1000000"},
       .options = {},
       .begins_attached = true,
       .signal_to_tracer = SIGINT,
       .span = milliseconds(60)},
      {.name = "dumping",
       .subject = {SJ_SUBJECT_LINKED, "1000000"},
       .options = {"--flight", "1s"},
       .begins_attached = true,
       .signal_to_tracer = SIGUSR1,
       .span = milliseconds(20)},
      {.name = "following a child",
       .subject = {SJ_SUBJECT_FAMILY},
       .options = {"--follow"},
       .begins_attached = true,
       .signal_to_subject = SIGUSR1,
       .span = milliseconds(80)},
      {.name = "attaching to a library",
       .subject = {SJ_SUBJECT_LOADER, SJ_SUBJECT_LIBRARY},
       .options = {},
       .begins_attached = true,
       .signal_to_subject = SIGUSR1,
       .span = milliseconds(1100)},  // it looks for libraries once a second
  };
}

std::vector<pid_t> family_of(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  std::vector<pid_t> family = {pid};
  const std::string text = test::contents(process + "/task/" + std::to_string(pid) + "/children");
  for (std::size_t at = 0; at < text.size(); at = text.find(' ', at) + 1)
    family.push_back(static_cast<pid_t>(std::stoi(text.substr(at))));
  return family;
}

// A tracer and its target, brought to a moment of a phase.
class Moment {
 public:
  Moment(const Phase& phase, const std::string& engine, std::mt19937& random)
      : subject_(phase.subject) {
    REQUIRE(subject_.wait_for_output("ready"));
    std::vector<std::string> argv = {
        SJ_SOJOURN, "record",   "-p",  std::to_string(subject_.pid()), "-o", trace(), "--engine",
        engine,     "--budget", "none"};
    argv.insert(argv.end(), phase.options.begin(), phase.options.end());
    tracer_.emplace(argv);
    if (phase.begins_attached) REQUIRE(tracer_->wait_for_output("attached"));
    if (phase.signal_to_subject != 0) subject_.signal(phase.signal_to_subject);
    if (phase.signal_to_tracer != 0) tracer_->signal(phase.signal_to_tracer);
    std::this_thread::sleep_for(
        microseconds(random() % static_cast<std::uint64_t>(phase.span.count())));
  }

  std::string trace() const { return directory_.path("run.sjt"); }
  test::Child& subject() { return subject_; }
  test::Child& tracer() { return *tracer_; }

  // Files that have their names are complete.
  void check_files() const {
    for (const auto& file : std::filesystem::directory_iterator(directory_.path())) {
      const std::string path = file.path();
      INFO(path);
      if (path.ends_with(".partial"))
        readable_events(path);
      else
        sojourn_done({"check", path});
    }
  }
  bool has_partial_files() const {
    return std::ranges::any_of(
        std::filesystem::directory_iterator(directory_.path()),
        [](const auto& file) { return file.path().extension() == ".partial"; });
  }

 private:
  test::TemporaryDirectory directory_;
  test::Child subject_;
  std::optional<test::Child> tracer_;
};

bool has_breakpoints(pid_t pid) {
#if defined(__x86_64__)
  constexpr unsigned char kBreakpoint = 0xcc;
#elif defined(__aarch64__)
  constexpr unsigned char kBreakpoint = 0xa0;  // of brk #5, as it lies in memory
#endif
  return std::ranges::count(site_bytes(pid, points_of(pid)), kBreakpoint) != 0;
}

// Calls with several moments of each phase, by either engine, and which of them it is.
template <typename Look>
void at_each_moment(const Look& look) {
  const std::string engine = GENERATE("bpf", "ring");
  if (engine == "bpf") need_root();
  std::mt19937 random(Catch::getSeed());
  for (const Phase& phase : phases()) {
    for (int moment = 0; moment < kMoments; ++moment) {
      CAPTURE(engine, phase.name, moment, Catch::getSeed());
      Moment now(phase, engine, random);
      look(now, phase, engine, moment);
    }
  }
}

TEST_CASE("SIGKILL of the tracer in any phase leaves the target unpatched and the files readable") {
  at_each_moment([](Moment& now, const Phase& phase, const std::string& engine, int moment) {
    const bool is_steady = phase.signal_to_subject == 0 && phase.signal_to_tracer == 0;
    if (phase.begins_attached && is_steady)
      CHECK(has_breakpoints(now.subject().pid()) == (engine == "bpf"));
    now.tracer().signal(SIGKILL);
    now.tracer().wait();
    now.check_files();
    for (const pid_t pid : family_of(now.subject().pid()))
      CHECK(comes([pid] { return !has_breakpoints(pid); }));
    REQUIRE(now.subject().running());
    if (moment != 0) return;
    // The target goes on, and the next capture finds no obstacle.
    const std::string next = now.trace() + ".next";
    sojourn_done({"record", "-p", std::to_string(now.subject().pid()), "--engine", engine,
                  "--budget", "none", "--for", "50ms", "-o", next});
    sojourn_done({"check", next});
    CHECK(open_trace(next).events() > 5);
  });
}

TEST_CASE("SIGKILL of the target in any phase ends the capture in order") {
  at_each_moment([](Moment& now, const Phase& phase, const std::string&, int) {
    now.subject().signal(SIGKILL);
    now.subject().wait();
    const test::Ended ended = now.tracer().wait();
    INFO(ended.err);
    CHECK_FALSE(now.has_partial_files());
    now.check_files();
    if (ended.exit_code == 0) {
      CHECK(std::filesystem::exists(now.trace()));
      return;
    }
    // It came too late.
    CHECK_FALSE(phase.begins_attached);
    CHECK(ended.exit_code == 1);
    CHECK(std::ranges::count(ended.err, '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(now.trace()));
  });
}

}  // namespace
}  // namespace sojourn::live
