// What sojourn.wasm does for the script that loads it (sojourn.mjs): `sojourn report --json` of a
// trace whose bytes the script has, piece by piece as they are asked for. One call, one trace; it
// has no state.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/base/executor.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/present/report/report_content.h"
#include "analysis/present/words/json_format.h"
#include "analysis/report/summary.h"
#include "analysis/report/trace_extras.h"
#include "analysis/trace/byte_source.h"
#include "analysis/trace/completeness.h"
#include "analysis/trace/reader.h"

extern "C" {

// Fills memory with the trace's bytes from an offset on. Not 0: not all of them are there.
// JavaScript has doubles for numbers, which are exact up to 2^53.
[[clang::import_module("sojourn"), clang::import_name("read_at")]]
int sojourn_read_at(double offset, std::uint8_t* into, std::size_t bytes);

// Takes what there is to say: the report, or why there is none.
[[clang::import_module("sojourn"), clang::import_name("take")]]
void sojourn_take(const char* text, std::size_t bytes);

// Of a trace of so many bytes. Not 0: it could not be read.
[[clang::export_name("report")]]
int sojourn_report(double size);
}

namespace sojourn::wasm {
namespace {

class HostSource : public trace::ByteSource {
 public:
  explicit HostSource(std::uint64_t size) : size_(size) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return size_; }
  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    return sojourn_read_at(static_cast<double>(offset), into.data(), into.size()) == 0;
  }

 private:
  std::string name_ = "trace";
  std::uint64_t size_;
};

Result<std::string> report_of(std::unique_ptr<trace::ByteSource> source) {
  SJ_TRY(opened, trace::Reader::open(std::move(source)));
  if (opened.schema().points.empty())
    return fail("{}: cut or damaged before its points: no event in it can be read", opened.path());
  SJ_TRY(input, pipeline::TraceInput::create(std::move(opened), {}));
  const trace::Reader& reader = input.reader();
  report::Summary summary(input.topology(), reader.capture().open_ns);
  report::TraceExtras beside(reader, input.topology());
  PlainExecutor executor;
  pipeline::TracePass pass(executor, input);
  pass.observe(summary);
  pass.consume([&](const model::EventBatch& events) {
    beside.consume(events);
    return true;
  });
  SJ_TRY(totals, pass.run());
  const std::uint64_t end_ns = std::max(totals.last_ns, reader.capture().close_ns);
  summary.finish(end_ns);
  beside.finish(end_ns);
  const present::Facts facts = {reader.path(),
                                reader.schema(),
                                reader.targets(),
                                reader.host(),
                                reader.capture(),
                                reader.ledger(),
                                trace::completeness_of(reader)};
  present::ReportContent content = {facts, input.topology(), totals, summary};
  content.add(beside);
  return present::json_text(present::report_json(content));
}

}  // namespace
}  // namespace sojourn::wasm

int sojourn_report(double size) {
  const auto text = sojourn::wasm::report_of(
      std::make_unique<sojourn::wasm::HostSource>(static_cast<std::uint64_t>(size)));
  const std::string& words = text ? *text : text.error().text();
  sojourn_take(words.data(), words.size());
  return text ? 0 : 1;
}
