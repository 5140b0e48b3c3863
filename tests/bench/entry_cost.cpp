// The cost of a probe at a function's entry for each call: on the function's first instruction,
// where most tracers put it, and where sojourn does. The same program is on both, in turns, and
// records nothing, so only the place differs. Prints nanoseconds of thread time above a call
// without a probe: the median and the quartiles. Usage: entry-cost [TURNS]; as root
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "userspace/capture/bpf/attach.h"
#include "userspace/capture/bpf/bpf_programs.h"
#include "userspace/coarse/code/instruction_decoder.h"
#include "userspace/coarse/map/map_file.h"
#include "userspace/coarse/mapped_points.h"

namespace {

using namespace sojourn;

constexpr std::uint64_t kCalls = 2'000;
constexpr std::size_t kRingBytes = 64 * 1024;  // stays empty: the gate is never opened

}  // namespace

extern "C" {
#define FUNCTIONS(prefix)                       \
  std::uint64_t prefix##leaf(std::uint64_t);    \
  std::uint64_t prefix##frame(std::uint64_t);   \
  std::uint64_t prefix##room(std::uint64_t);    \
  std::uint64_t prefix##checked(std::uint64_t); \
  std::uint64_t prefix##busy(std::uint64_t);
FUNCTIONS(plain_)
FUNCTIONS(cet_)
FUNCTIONS(patchable_)
#undef FUNCTIONS
}

namespace {

struct Subject {
  const char* name;
  std::uint64_t (*function)(std::uint64_t);
};
#define SUBJECT(name) \
  Subject {           \
    #name, name       \
  }
#define SUBJECTS(prefix)                                                                          \
  SUBJECT(prefix##frame), SUBJECT(prefix##room), SUBJECT(prefix##checked), SUBJECT(prefix##busy), \
      SUBJECT(prefix##leaf)
constexpr std::array kSubjects = {SUBJECTS(plain_), SUBJECTS(cet_), SUBJECTS(patchable_)};

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double call_ns(const Subject& subject) {
  volatile std::uint64_t sink = 0;
  const double before = cpu_ns();
  for (std::uint64_t n = 1; n <= kCalls; ++n) sink = subject.function(n);
  (void)sink;
  return (cpu_ns() - before) / static_cast<double>(kCalls);
}

// Measures with a probe at one of its sites, at this offset in the file.
Result<double> probed_ns(const Subject& subject, tracee::Points points, std::uint64_t offset) {
  points.sites.front().offset = offset;
  const auto mechanism = capture::best_mechanism();
  SJ_TRY(programs, capture::BpfPrograms::load(points, getpid(), mechanism, kRingBytes));
  SJ_TRY(attachment, capture::Attachment::attach(points, getpid(), mechanism, programs));
  (void)attachment;
  call_ns(subject);  // the first call is slower
  return call_ns(subject);
}

struct Measured {
  std::vector<double> ns;

  double quantile(unsigned percent) {
    std::ranges::sort(ns);
    return ns[(ns.size() - 1) * percent / 100];
  }
  std::string text() {
    return fmt::format("{:8.0f} {:8.0f} {:8.0f}", quantile(25), quantile(50), quantile(75));
  }
};

std::string first_instruction(const Subject& subject) {
  const coarse::InstructionDecoder decoder;
  const auto address = reinterpret_cast<std::uint64_t>(subject.function);
  constexpr std::size_t kLongest = 15;
  const std::span bytes(reinterpret_cast<const std::byte*>(address), kLongest);
  const auto one = decoder.decode(bytes);
  return one ? decoder.text(*one, address) : "?";
}

Result<void> measure(const Subject& subject, unsigned turns) {
  SJ_TRY(map,
         coarse::parse_map(fmt::format("[[point]]\nfunction = '{}'\nn = 'arg0'\n", subject.name),
                           "entry-cost"));
  const std::vector<std::string> self = {"/proc/self/exe"};
  SJ_TRY(found, coarse::find_points_in_files(self, std::span(&map, 1), {.takes_slow_sites = true}));
  if (found.mapped.size() != 1) return fail("{} is not found", subject.name);
  const coarse::MappedSite& mapped = found.mapped.front();
  tracee::Points points = std::move(found.points);
  const std::uint64_t ours_at = points.sites.front().offset;
  const std::uint64_t first_at = ours_at - static_cast<std::uint64_t>(mapped.offset);
  Measured naive;
  Measured ours;
  for (unsigned turn = 0; turn < turns; ++turn) {
    const double bare = call_ns(subject);
    SJ_TRY(at_first, probed_ns(subject, points, first_at));
    SJ_TRY(at_ours, probed_ns(subject, points, ours_at));
    naive.ns.push_back(at_first - bare);
    ours.ns.push_back(at_ours - bare);
  }
  fmt::print("{:<18} {:<31} {} | {:<36} {} {:7.1f}\n", subject.name, first_instruction(subject),
             naive.text(), fmt::format("{} {}", mapped.place(), mapped.instruction), ours.text(),
             naive.quantile(50) / ours.quantile(50));
  return {};
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  return "?";
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned turns = argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 15;
  if (turns == 0 || argc > 2) {
    fmt::print(stderr, "usage: {} [TURNS]\n", argv[0]);
    return 2;
  }
  utsname kernel{};
  uname(&kernel);
  fmt::print("{} {}, {} CPUs, {}; {} turns of {} calls\n", kernel.sysname, kernel.release,
             sysconf(_SC_NPROCESSORS_ONLN), cpu_model(), turns, kCalls);
  fmt::print("{:<18} {:<31} {:>8} {:>8} {:>8} | {:<36} {:>8} {:>8} {:>8} {:>7}\n",
             "ns above no probe", "on the first", "quartile", "median", "quartile", "on ours",
             "quartile", "median", "quartile", "times");
  for (const Subject& subject : kSubjects)
    if (const auto done = measure(subject, turns); !done) {
      fmt::print(stderr, "{}: {}\n", subject.name, done.error().text());
      return 1;
    }
}
