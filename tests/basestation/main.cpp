// sj-basestation: the base station under test. Options, signals, exit codes.
#include <charconv>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <signal.h>
#include <unistd.h>

#include "tests/basestation/config.h"
#include "tests/basestation/station.h"
#include "tests/basestation/truth_print.h"
#include "userspace/base/fail_errno.h"

namespace sojourn::basestation {
namespace {

constexpr int kRunTimeFailure = 1;
constexpr int kWrongUsage = 2;

// "mix", "N" or "MIN:MAX".
Result<PacketSize> parse_size(std::string_view text) {
  if (text == "mix") return PacketSize{};
  const auto colon = text.find(':');
  const auto bytes = [](std::string_view part) -> std::optional<std::uint32_t> {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size()) return std::nullopt;
    return value;
  };
  const auto min = bytes(text.substr(0, colon));
  const auto max = colon == std::string_view::npos ? min : bytes(text.substr(colon + 1));
  if (!min || !max || *min < kMinPacketBytes || *max > kMaxPacketBytes || *min > *max) {
    return fail("'{}' is not mix, N or MIN:MAX with sizes from {} to {}", text, kMinPacketBytes,
                kMaxPacketBytes);
  }
  return PacketSize{.mix = false, .min = *min, .max = *max};
}

// Adapts a parser that returns a Result to an option that may be given several times.
template <typename Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, const std::string& help,
                        Parse parse) {
  return app.add_option_function<std::vector<std::string>>(
      name,
      [name, parse](const std::vector<std::string>& values) {
        for (const std::string& value : values) {
          if (auto parsed = parse(value); !parsed) {
            throw CLI::ValidationError(name, parsed.error().text());
          }
        }
      },
      help);
}

void add_traffic_options(CLI::App& app, Config& config) {
  app.add_option("--ues", config.ues, "how many UEs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--bearers", config.bearers,
                 "bearers of each UE; odd ones are RLC UM, even ones AM")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.add_option("--rate-dl", config.rate_dl, "downlink packets a second")
      ->check(CLI::Range(0, 2'000'000))
      ->capture_default_str();
  app.add_option("--rate-ul", config.rate_ul, "uplink packets a second")
      ->check(CLI::Range(0, 2'000'000))
      ->capture_default_str();
  add_parsed(app, "--size", "packet size: N, MIN:MAX or mix [mix]",
             [&config](std::string_view text) {
               auto size = parse_size(text);
               if (size) config.size = *size;
               return size;
             })
      ->type_name("SIZE");
  app.add_option("--burst", config.burst, "packets come in bursts of so many for one bearer")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--pdcp-sn", config.pdcp_sn_bits, "bits of a PDCP sequence number")
      ->check(CLI::IsMember({12, 18}))
      ->capture_default_str();
}

void add_run_options(CLI::App& app, Config& config) {
  app.add_option("--slot-us", config.slot_us, "slot length in microseconds")
      ->check(CLI::Range(100, 100'000))
      ->capture_default_str();
  app.add_option("--air-loss", config.air_loss, "share of transport blocks that the air destroys")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--seed", config.seed, "same seed, same offered traffic")->capture_default_str();
  app.add_option("--duration", config.duration_s, "seconds to run; 0: until SIGINT or SIGTERM")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--warm-up", config.warm_up_s,
                 "seconds of the duration that latencies, Mbit/s and CPU leave out")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--ready-fd", config.ready_fd,
                 "write \"ready\" to this descriptor when all threads run")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--truth", config.truth_path, "write what really happened to this file");
}

void add_fault_options(CLI::App& app, Config& config) {
  add_parsed(app, "--slow-stage", "NAME:us, burn so much time on each unit; repeatable",
             [&config](std::string_view text) { return config.faults.add_slow(text); })
      ->type_name("NAME:us");
  add_parsed(app, "--sleep-stage", "NAME:us:every, sleep so long on each n-th unit; repeatable",
             [&config](std::string_view text) { return config.faults.add_sleep(text); })
      ->type_name("NAME:us:every");
  add_parsed(app, "--drop", "NAME:probability, throw units away; repeatable",
             [&config](std::string_view text) { return config.faults.add_drop(text); })
      ->type_name("NAME:prob");
  add_parsed(app, "--preempt",
             "NAME:us:ms, pin the layer's thread to a CPU, and let a neighbour that has precedence "
             "there (SCHED_FIFO where permitted) burn so many us in every ms; repeatable",
             [&config](std::string_view text) { return config.faults.add_preempt(text); })
      ->type_name("NAME:us:ms");
  app.footer("NAME is a layer as in the points: " + fault_place_names(false) +
             ".\nUnits can be dropped in: " + fault_place_names(true) + ".");
}

int complain(const Error& error) {
  fmt::print(stderr, "sj-basestation: {}\n", error.text());
  return kRunTimeFailure;
}

// All threads inherit the mask: the signals wait for sigtimedwait.
sigset_t block_ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// False: a signal came before.
bool wait_until(std::uint64_t end_ns, const sigset_t& signals) {
  for (std::uint64_t now = now_ns(); now < end_ns; now = now_ns()) {
    const std::uint64_t left_ns = std::min<std::uint64_t>(end_ns - now, 1'000'000'000);
    const timespec timeout{static_cast<time_t>(left_ns / 1'000'000'000),
                           static_cast<long>(left_ns % 1'000'000'000)};
    if (sigtimedwait(&signals, nullptr, &timeout) > 0) return false;
  }
  return true;
}

void wait_for_the_end(const Config& config, const sigset_t& signals, Station& station) {
  const std::uint64_t start_ns = now_ns();
  const auto after = [&](double seconds) {
    return start_ns + static_cast<std::uint64_t>(seconds * 1e9);
  };
  if (config.warm_up_s > 0) {
    if (!wait_until(after(config.warm_up_s), signals)) return;
    station.measure_from_now();
  }
  wait_until(config.duration_s == 0 ? UINT64_MAX : after(config.duration_s), signals);
}

Result<void> run(const Config& config) {
  const sigset_t signals = block_ending_signals();
  SJ_TRY(station, Station::build(config));
  station->start();
  constexpr std::string_view kReady = "ready\n";
  if (config.ready_fd &&
      write(*config.ready_fd, kReady.data(), kReady.size()) != ssize_t{kReady.size()}) {
    return fail_errno("write to --ready-fd {}", *config.ready_fd);
  }
  wait_for_the_end(config, signals, *station);
  SJ_CHECK(station->stop());
  fmt::print("{}", station->summary());
  return {};
}

int main_of(int argc, char** argv) {
  Config config;
  std::string print_path;
  CLI::App app(
      "A small base station's user plane with real threads and queues, and points to trace it by.\n"
      "Runs until SIGINT or SIGTERM, then prints a summary.");
  add_traffic_options(app, config);
  add_run_options(app, config);
  add_fault_options(app, config);
  app.add_option("--print-truth", print_path, "print a truth file as text and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  }
  const auto done = print_path.empty() ? run(config) : print_truth(print_path);
  return done ? 0 : complain(done.error());
}

}  // namespace
}  // namespace sojourn::basestation

int main(int argc, char** argv) {
  try {
    return sojourn::basestation::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sj-basestation: %s\n", error.what());
    return 1;
  }
}
