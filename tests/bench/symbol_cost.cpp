// The cost of finding a map's functions in a program with many symbols: processor time and memory
// of `sojourn list`, its child included, for a new program, with cached answers, and for a name
// that does not exist. Usage: symbol-cost SOJOURN PROGRAM [SYMBOLS] [BYTES OF A NAME]
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/child.h"
#include "tests/support/many_symbols.h"

namespace {

struct Cost {
  double seconds = 0;
  double megabytes = 0;
};

Cost run(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage used{};
  if (wait4(child, &status, 0, &used) != child || !WIFEXITED(status) ||
      WEXITSTATUS(status) == 127) {
    fmt::print(stderr, "{} did not run\n", words[0]);
    std::exit(1);
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {.seconds = seconds(used.ru_utime) + seconds(used.ru_stime),
          .megabytes = static_cast<double>(used.ru_maxrss) / 1024};
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    fmt::print(stderr, "usage: {} SOJOURN PROGRAM [SYMBOLS] [BYTES OF A NAME]\n", words[0]);
    return 2;
  }
  const auto number = [&](int at, std::size_t otherwise) {
    return count > at ? static_cast<std::size_t>(std::stoul(words[at])) : otherwise;
  };
  const std::size_t symbols = number(3, 900'000);
  const sojourn::test::TemporaryDirectory directory;
  const std::string program = directory.path("gnb");
  sojourn::test::copy_with_symbols(words[2], program, symbols, number(4, 190));
  setenv("XDG_CACHE_HOME", directory.path("cache").c_str(), 1);
  const std::string absent = directory.path("absent.toml");
  std::ofstream(absent) << "[[point]]\nfunction = \"pdcp_entity_tx::handle_sdv\"\n";
  const std::vector<std::string> list = {words[1], "list", program, "--map", "srsran-gnb"};
  fmt::print("{} symbols, {} MB\n", symbols, std::filesystem::file_size(program) >> 20);
  constexpr int kTurns = 5;
  std::array<std::vector<Cost>, 3> costs;
  for (int turn = 0; turn < kTurns; ++turn) {
    std::filesystem::remove_all(directory.path("cache"));
    costs[0].push_back(run(list));
    costs[1].push_back(run(list));
    costs[2].push_back(run({words[1], "list", program, "--map", absent}));
  }
  constexpr std::array<const char*, 3> kNames = {"never seen", "seen before", "not there"};
  for (std::size_t at = 0; at < costs.size(); ++at) {
    std::ranges::sort(costs[at], {}, &Cost::seconds);
    fmt::print("{:12} {:6.3f} s of processor time ({:.3f} to {:.3f}), {:4.0f} MB\n", kNames[at],
               costs[at][kTurns / 2].seconds, costs[at].front().seconds, costs[at].back().seconds,
               std::ranges::max(costs[at], {}, &Cost::megabytes).megabytes);
  }
  return 0;
}
