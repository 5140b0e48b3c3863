// The functions of sojourn.wasm for the page's worker (web/worker.ts): a PageEngine on a trace
// whose bytes the worker passes piece by piece. An instance has one trace, and another one to
// compare it with.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/page/page_engine.h"

extern "C" {

// Fills memory with a trace's bytes from an offset on. `trace` is 0, or 1 for the second one.
// Returns 0 if all of them were there. Numbers of JavaScript are doubles, which are exact up to
// 2^53.
[[clang::import_module("sojourn"), clang::import_name("read_at")]]
int sojourn_read_at(int trace, double offset, std::uint8_t* into, std::size_t bytes);

// Receives an answer, or the reason why there is none.
[[clang::import_module("sojourn"), clang::import_name("take")]]
void sojourn_take(const char* text, std::size_t bytes);

// Receives a column of an answer. The type is one of ColumnType.
[[clang::import_module("sojourn"), clang::import_name("take_column")]]
void sojourn_take_column(const char* name, std::size_t name_bytes, int type, const void* values,
                         std::size_t count);

[[clang::import_module("sojourn"), clang::import_name("progress")]]
void sojourn_progress(double done, double of);

// Returns the memory for the next question.
[[clang::export_name("text_buffer")]]
char* sojourn_text_buffer(std::size_t bytes);

// Opens a trace of `size` bytes; the second one, 1, stands beside the first. Returns 0, or another
// value if it could not be read.
[[clang::export_name("open_trace")]]
int sojourn_open_trace(int trace, double size);

// Answers the question of this length in the buffer. Returns 0 unless it was refused.
[[clang::export_name("ask")]]
int sojourn_ask(std::size_t bytes);
}

// Debian builds the compiler's library for 128-bit division with a stack protector, which WASI's C
// library does not have.
extern "C" {
std::uintptr_t __stack_chk_guard = 0x5bd1e995;
[[noreturn]] void __stack_chk_fail() {
  __builtin_trap();
}
}

namespace sojourn::page {
namespace {

enum ColumnType : int { kBytes = 0, kDoubles = 4 };  // indices of kArrays in web/worker.ts

class HostSource : public trace::ByteSource {
 public:
  HostSource(int trace, std::uint64_t size)
      : trace_(trace), name_(trace == 0 ? "trace" : "second trace"), size_(size) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return size_; }
  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    return sojourn_read_at(trace_, static_cast<double>(offset), into.data(), into.size()) == 0;
  }

 private:
  int trace_;
  std::string name_;
  std::uint64_t size_;
};

class HostSink : public AnswerSink {
 public:
  void column(std::string_view name, std::span<const double> values) override {
    sojourn_take_column(name.data(), name.size(), kDoubles, values.data(), values.size());
  }
  void column(std::string_view name, std::span<const std::uint8_t> values) override {
    sojourn_take_column(name.data(), name.size(), kBytes, values.data(), values.size());
  }
  void progress(std::uint64_t done, std::uint64_t of) override {
    sojourn_progress(static_cast<double>(done), static_cast<double>(of));
  }
};

std::vector<char> question;
std::optional<PageEngine> engine;

int refuse(const Error& error) {
  sojourn_take(error.text().data(), error.text().size());
  return 1;
}

}  // namespace
}  // namespace sojourn::page

char* sojourn_text_buffer(std::size_t bytes) {
  sojourn::page::question.resize(std::max<std::size_t>(bytes, 1));
  return sojourn::page::question.data();
}

int sojourn_open_trace(int trace, double size) {
  using namespace sojourn::page;
  auto source = std::make_unique<HostSource>(trace, static_cast<std::uint64_t>(size));
  if (trace != 0) {
    if (!engine) return 1;
    const auto added = engine->compare_with(std::move(source));
    return added ? 0 : refuse(added.error());
  }
  auto opened = PageEngine::open(std::move(source));
  if (!opened) return refuse(opened.error());
  engine.emplace(std::move(*opened));
  return 0;
}

int sojourn_ask(std::size_t bytes) {
  using namespace sojourn::page;
  if (!engine || bytes > question.size()) return 1;
  HostSink sink;
  const auto answer = engine->answer(std::string_view(question.data(), bytes), sink);
  if (!answer) return refuse(answer.error());
  sojourn_take(answer->data(), answer->size());
  return 0;
}
