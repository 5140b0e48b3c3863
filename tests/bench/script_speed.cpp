// How many events a second pass through a script, beside reading alone: `script-speed-program
// run.sjt script.lua...`. Rounds alternate; times are those of the clock, since the worker is a
// process of its own. The median of the rounds, and the half of them that lies about it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analysis/trace/reader.h"
#include "userspace/files/text_file.h"
#include "userspace/files/trace_file.h"
#include "userspace/scripts/script_stage.h"

namespace {

using namespace sojourn;

constexpr int kRounds = 9;

// Nanoseconds an event.
Result<double> read_all(trace::Reader& reader) {
  const auto start = std::chrono::steady_clock::now();
  SJ_CHECK(reader.merge([](model::EventBatch&) { return true; }));
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(std::max<std::uint64_t>(reader.events(), 1));
}

void print(const std::string& what, std::vector<double> times) {
  std::ranges::sort(times);
  const auto at = [&](std::size_t quarter) { return times[quarter * (times.size() - 1) / 4]; };
  fmt::print("{:<24} {:7.1f} ns an event   {:.1f} .. {:.1f}   {:.2f} million events/s\n", what,
             at(2), at(1), at(3), 1e3 / at(2));
}

Result<void> measure(const std::string& path, const std::string& script) {
  SJ_TRY(text, files::read_text(script, "script is"));
  SJ_TRY(plain, files::open_trace(path));
  SJ_TRY(scripted, files::open_trace(path));
  const std::string name = script.substr(script.rfind('/') + 1);
  SJ_TRY(stage, scripts::ScriptStage::create({.name = name, .text = std::move(text)},
                                             plain.schema(), plain.capture().open_ns, nullptr));
  scripted.set_stage(stage);
  std::vector<double> alone;
  std::vector<double> together;
  for (int round = 0; round < kRounds; ++round) {
    SJ_TRY(without, read_all(plain));
    SJ_TRY(with, read_all(scripted));
    alone.push_back(without);
    together.push_back(with);
  }
  print("reading alone", std::move(alone));
  print(name, std::move(together));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  for (int at = 2; at < argc; ++at)
    if (const auto done = measure(argv[1], argv[at]); !done) {
      fmt::print(stderr, "script-speed: {}\n", done.error().text());
      return 1;
    }
  return 0;
}
