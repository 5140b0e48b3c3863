// A record holds its length (four bytes, which do not count), its time (two numbers of eight bytes:
// seconds since 1970, nanoseconds), the message's number (four bytes), and the values of the
// message's format. Number -1 brings a part of the list of messages (its length in four bytes, and
// the text), and -2 says that the list is complete. All numbers are little endian, as the recorded
// machine's are.
#include "analysis/oai_t/oai_t_importer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analysis/imports/import_all.h"
#include "analysis/oai_t/messages.h"
#include "analysis/trace/event_sorter.h"

namespace sojourn::oai_t {
namespace {

static_assert(std::endian::native == std::endian::little, "records are read as they lie in memory");

constexpr std::size_t kHeadBytes = 8 + 8 + 4;
constexpr std::uint32_t kMaxBytes =
    16 << 20;  // T's own limit is 64 KiB, with samples of antennas 16 MiB
constexpr std::size_t kMaxListBytes = 16 << 20;
constexpr std::uint64_t kProgressRecords = 4096;
constexpr std::int64_t kMaxSeconds = 9'000'000'000;  // within 64-bit nanoseconds

class Bytes {
 public:
  explicit Bytes(std::span<const char> bytes) : bytes_(bytes) {}

  template <typename Number>
  std::optional<Number> take() {
    if (bytes_.size() < sizeof(Number)) return std::nullopt;
    Number number;
    std::memcpy(&number, bytes_.data(), sizeof number);
    bytes_ = bytes_.subspan(sizeof number);
    return number;
  }

  std::optional<std::span<const char>> take(std::size_t count) {
    if (bytes_.size() < count) return std::nullopt;
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  // Reads a string up to its terminating zero, and passes that.
  std::optional<std::span<const char>> take_string() {
    const auto end = std::ranges::find(bytes_, '\0');
    if (end == bytes_.end()) return std::nullopt;
    const auto text = take(static_cast<std::size_t>(end - bytes_.begin()));
    bytes_ = bytes_.subspan(1);
    return text;
  }

  std::span<const char> rest() const { return bytes_; }

 private:
  std::span<const char> bytes_;
};

// The points of all files. A message that is equal in several lists is one point.
class Points {
 public:
  model::PointId of(const model::Point& point) {
    const auto same = std::ranges::find(schema_.points, point);
    const auto id = static_cast<model::PointId>(same - schema_.points.begin());
    if (same == schema_.points.end()) schema_.points.push_back(point);
    return id;
  }
  bool full() const { return schema_.points.size() == model::kMaxPoints; }
  const model::Schema& schema() const { return schema_; }

 private:
  model::Schema schema_;
};

class FileImport {
 public:
  FileImport(Points& points, imports::Destination& into, FileSummary& summary)
      : points_(points), into_(into), summary_(summary) {}

  // Adds a record, which begins behind its length.
  Result<void> add(std::span<const char> record) {
    ++summary_.records;
    Bytes bytes(record);
    const auto seconds = bytes.take<std::int64_t>();
    const auto ns = bytes.take<std::int64_t>();
    const auto number = bytes.take<std::int32_t>();
    if (*number == kListPart || *number == kListEnd) {
      ++summary_.list_records;
      if (*number == kListEnd)
        use_list();
      else
        add_to_list(bytes);
      return {};
    }
    if (*number < 0 || static_cast<std::size_t>(*number) >= messages_.size()) {
      ++summary_.unlisted;
      return {};
    }
    const bool dated = *seconds >= 0 && *seconds <= kMaxSeconds && *ns >= 0 && *ns < 1'000'000'000;
    if (!dated || !read_values(messages_[static_cast<std::size_t>(*number)], bytes)) {
      ++summary_.malformed;
      return {};
    }
    return add_event(
        static_cast<std::size_t>(*number),
        static_cast<std::uint64_t>(*seconds) * 1'000'000'000 + static_cast<std::uint64_t>(*ns));
  }

  Result<void> finish() {
    SJ_CHECK(into_.write(waiting_.take_first(waiting_.size()), points_.schema()));
    summary_.disordered = waiting_.disordered();
    return {};
  }

 private:
  static constexpr std::int32_t kListPart = -1;
  static constexpr std::int32_t kListEnd = -2;

  // Adds a part of the list. Reading ends at one that is not valid.
  void add_to_list(Bytes bytes) {
    const auto length = bytes.take<std::int32_t>();
    const auto text =
        length && *length >= 0 ? bytes.take(static_cast<std::size_t>(*length)) : std::nullopt;
    if (!text)
      summary_.failure = "a part of its list of messages is cut";
    else if (list_.size() + text->size() > kMaxListBytes)
      summary_.failure = "its list of messages is larger than 16 MiB";
    else
      list_.append(text->begin(), text->end());
  }

  // The base station sends its list again whenever a tracer connects.
  void use_list() {
    auto messages = parse_messages(std::exchange(list_, {}));
    if (!messages) {
      summary_.failure = messages.error().text();
      return;
    }
    messages_ = std::move(*messages);
    ids_.assign(messages_.size(), std::nullopt);
  }

  bool read_values(const Message& message, Bytes bytes) {
    values_.assign(message.point.fields.size(), 0);
    for (std::size_t i = 0; i < message.types.size(); ++i) {
      const auto value = read_value(message.types[i], bytes);
      if (!value) return false;
      if (message.fields[i] != kNoField)
        values_[static_cast<std::size_t>(message.fields[i])] = *value;
    }
    return bytes.rest().empty();
  }

  static std::optional<std::uint64_t> read_value(Type type, Bytes& bytes) {
    switch (type) {
      case Type::kInt:
        if (const auto number = bytes.take<std::int32_t>())
          return static_cast<std::uint64_t>(std::int64_t{*number});
        return std::nullopt;
      case Type::kUlong:
        return bytes.take<std::uint64_t>();
      case Type::kFloat:
        if (bytes.take(4)) return 0;
        return std::nullopt;
      case Type::kString:
        if (const auto text = bytes.take_string()) return text->size();
        return std::nullopt;
      case Type::kBuffer:
        break;
    }
    const auto length = bytes.take<std::int32_t>();
    if (!length || *length < 0 || !bytes.take(static_cast<std::size_t>(*length)))
      return std::nullopt;
    return static_cast<std::uint64_t>(*length);
  }

  Result<void> add_event(std::size_t number, std::uint64_t ts_ns) {
    auto& id = ids_[number];
    if (!id && points_.full())
      return fail("{}: more kinds of messages than a trace holds", summary_.path);
    if (!id) id = points_.of(messages_[number].point);
    waiting_.add(
        {.ts_ns = ts_ns, .seq = 0, .stream = 0, .tid = 0, .point = *id, .values = values_});
    if (waiting_.size() < 2 * trace::kOrderWindow) return {};
    return into_.write(waiting_.take_first(trace::kOrderWindow), points_.schema());
  }

  Points& points_;
  imports::Destination& into_;
  FileSummary& summary_;
  std::string list_;
  std::vector<Message> messages_;
  std::vector<std::optional<model::PointId>> ids_;  // by message
  trace::EventSorter waiting_;
  std::vector<std::uint64_t> values_;
};

std::string broken_off(const imports::ByteStream& file, std::uint64_t at) {
  return fmt::format("the record at byte {} {}", at,
                     file.failure().empty() ? "is cut" : "cannot be read");
}

Result<void> read_file(Points& points, const imports::Open& open, imports::Destination& destination,
                       const imports::Progress& progress, FileSummary& summary) {
  SJ_TRY(stream, open(summary.path));
  const std::uint64_t size = stream->size_bytes();
  FileImport into(points, destination, summary);
  std::vector<char> record;
  for (std::uint64_t at = 0; summary.failure.empty();) {
    std::array<char, sizeof(std::uint32_t)> head{};
    const auto got = stream->read(head);
    if (got < head.size()) {
      if (got != 0 || !stream->failure().empty()) summary.failure = broken_off(*stream, at);
      break;
    }
    const auto length = std::bit_cast<std::uint32_t>(head);
    if (length < kHeadBytes || length > kMaxBytes) {
      summary.failure =
          fmt::format("at byte {} is no record of T's: it would have {} bytes", at, length);
      break;
    }
    record.resize(length);
    if (stream->read(record) < length) {
      summary.failure = broken_off(*stream, at);
      break;
    }
    SJ_CHECK(into.add(record));
    at += head.size() + length;
    if (summary.records % kProgressRecords == 0) progress(at, size == 0 ? at : size);
  }
  return into.finish();
}

}  // namespace

Result<Summary> import_files(std::span<const std::string> paths, const imports::Open& open,
                             imports::Destination& into, const imports::Progress& progress) {
  Points points;
  SJ_TRY(summary,
         imports::import_all<Summary>(
             paths, into,
             [&](FileSummary& file) { return read_file(points, open, into, progress, file); },
             [](const FileSummary& file) {
               return fmt::format("no event of T's in {} records{}{}", file.records,
                                  file.failure.empty() ? "" : "; ", file.failure);
             }));
  summary.points = points.schema().points.size();
  SJ_CHECK(into.finish("OpenAirInterface T"));
  return std::move(summary);
}

}  // namespace sojourn::oai_t
