// Asks the report page's engine, compiled for this machine: prints the answer's text, and to stderr
// how many microseconds of processor time it took. Usage: page-answer TRACE
// [QUESTION={"call": "first screen"}]
#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analysis/page/page_engine.h"
#include "userspace/files/trace_file.h"

namespace sojourn {
namespace {

// Copies columns as a page would take them.
class Taker : public page::AnswerSink {
 public:
  void column(std::string_view, std::span<const double> values) override {
    doubles_.assign(values.begin(), values.end());
  }
  void column(std::string_view, std::span<const std::uint8_t> values) override {
    bytes_.assign(values.begin(), values.end());
  }
  void progress(std::uint64_t, std::uint64_t) override {}

 private:
  std::vector<double> doubles_;
  std::vector<std::uint8_t> bytes_;
};

Result<std::string> answer(const char* trace, std::string_view question) {
  SJ_TRY(source, files::open_source(trace));
  SJ_TRY(engine, page::PageEngine::open(std::move(source)));
  Taker sink;
  return engine.answer(question, sink);
}

}  // namespace
}  // namespace sojourn

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: page-answer TRACE [QUESTION]\n");
    return 2;
  }
  const std::clock_t before = std::clock();
  const auto text = sojourn::answer(argv[1], argc > 2 ? argv[2] : R"({"call": "first screen"})");
  const std::clock_t taken = std::clock() - before;
  if (!text) {
    fmt::print(stderr, "page-answer: {}\n", text.error().text());
    return 1;
  }
  fmt::print("{}\n", *text);
  fmt::print(stderr, "{}\n", taken * (1'000'000 / CLOCKS_PER_SEC));
  return 0;
}
