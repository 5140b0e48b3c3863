#include "analysis/page/latseq_trace.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/imports/byte_stream.h"
#include "analysis/imports/destination.h"
#include "analysis/latseq/latseq_importer.h"
#include "analysis/trace/byte_sink.h"
#include "analysis/trace/writer.h"

namespace sojourn::page {
namespace {

class SourceStream : public imports::ByteStream {
 public:
  explicit SourceStream(trace::ByteSource& source) : source_(source) {}

  std::size_t read(std::span<char> into) override {
    const auto bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), source_.size() - done_));
    if (bytes == 0) return 0;
    auto* const first = reinterpret_cast<std::uint8_t*>(into.data());
    if (!source_.read_at(done_, {first, bytes})) {
      failure_ = "cannot be read";
      return 0;
    }
    done_ += bytes;
    return bytes;
  }
  const std::string& failure() const override { return failure_; }
  std::uint64_t done_bytes() const override { return done_; }
  std::uint64_t size_bytes() const override { return source_.size(); }
  std::optional<std::uint64_t> changed_ns() const override { return std::nullopt; }

 private:
  trace::ByteSource& source_;
  std::uint64_t done_ = 0;
  std::string failure_;
};

class MemorySink : public trace::ByteSink {
 public:
  explicit MemorySink(std::vector<std::uint8_t>& into) : into_(into) {}

  Result<void> append(std::span<const std::uint8_t> bytes) override {
    into_.insert(into_.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::uint64_t size() const override { return into_.size(); }
  Result<void> finish() override { return {}; }
  void abandon() override { into_.clear(); }
  const std::string& put_aside() const override { return put_aside_; }

 private:
  std::vector<std::uint8_t>& into_;
  std::string put_aside_;
};

// A trace in memory that owns its bytes.
class ImportedTrace : public trace::ByteSource {
 public:
  ImportedTrace(std::string name, std::vector<std::uint8_t> bytes)
      : bytes_(std::move(bytes)), memory_(std::move(name), bytes_) {}

  const std::string& name() const override { return memory_.name(); }
  std::uint64_t size() const override { return memory_.size(); }
  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    return memory_.read_at(offset, into);
  }

 private:
  std::vector<std::uint8_t> bytes_;
  trace::MemorySource memory_;
};

}  // namespace

bool is_text(trace::ByteSource& source) {
  std::array<std::uint8_t, 64> first = {};
  const auto bytes = std::min<std::uint64_t>(first.size(), source.size());
  const std::span<std::uint8_t> begin(first.data(), static_cast<std::size_t>(bytes));
  if (bytes == 0 || !source.read_at(0, begin)) return false;
  return std::ranges::all_of(begin, [](std::uint8_t byte) {
    return (byte >= ' ' && byte < 0x7f) || byte == '\t' || byte == '\r' || byte == '\n';
  });
}

Result<std::unique_ptr<trace::ByteSource>> trace_of_latseq(
    std::unique_ptr<trace::ByteSource> recording) {
  std::vector<std::uint8_t> bytes;
  const std::string name = recording->name();
  SJ_TRY(writer, trace::Writer::create(std::make_unique<MemorySink>(bytes)));
  SJ_TRY(into, imports::Destination::alone(writer, name));
  const imports::Open open =
      [&](const std::string&) -> Result<std::unique_ptr<imports::ByteStream>> {
    return std::make_unique<SourceStream>(*recording);
  };
  const std::array<std::string, 1> files = {name};
  SJ_CHECK(latseq::import_files(files, open, into, [](std::uint64_t, std::uint64_t) {}));
  SJ_CHECK(writer.finish());
  return std::make_unique<ImportedTrace>(name, std::move(bytes));
}

}  // namespace sojourn::page
