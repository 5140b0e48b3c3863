#include "analysis/event_json/event_reader.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sojourn::event_json {
namespace {

constexpr std::size_t kMaxNumbers = 64;
constexpr std::size_t kMaxDepth = 64;
constexpr double kMaxUs = 2e14;  // six years: with when it began within 64-bit nanoseconds

// "10:42:07.123456", as nanoseconds of the day.
std::optional<std::uint64_t> day_time(std::string_view text) {
  if (text.size() != 15 || text[2] != ':' || text[5] != ':' || text[8] != '.') return std::nullopt;
  std::array<std::uint64_t, 4> parts{};
  constexpr std::array<std::pair<std::size_t, std::size_t>, 4> kPlaces = {
      {{0, 2}, {3, 2}, {6, 2}, {9, 6}}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = text.substr(kPlaces[i].first, kPlaces[i].second);
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), parts[i]);
    if (error != std::errc() || end != part.data() + part.size()) return std::nullopt;
  }
  if (parts[0] > 23 || parts[1] > 59 || parts[2] > 60) return std::nullopt;
  return ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1'000'000'000 + parts[3] * 1'000;
}

// A stream byte by byte, as the library reads it.
class Bytes {
 public:
  explicit Bytes(imports::ByteStream& stream) : stream_(stream), buffer_(kBufferBytes) { fill(); }

  bool at_end() const { return next_ == size_; }
  char next() const { return buffer_[next_]; }
  void skip() {
    if (++next_ == size_) fill();
  }
  // Bytes that were read so far.
  std::uint64_t done() const { return before_ + next_; }

 private:
  static constexpr std::size_t kBufferBytes = 64 * 1024;

  void fill() {
    before_ += size_;
    next_ = 0;
    size_ = stream_.read(buffer_);
  }

  imports::ByteStream& stream_;
  std::vector<char> buffer_;
  std::size_t next_ = 0;
  std::size_t size_ = 0;
  std::uint64_t before_ = 0;  // bytes that were in the buffer earlier
};

class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  ByteIterator() = default;  // the end
  explicit ByteIterator(Bytes& bytes) : bytes_(&bytes) {}

  char operator*() const { return bytes_->next(); }
  ByteIterator& operator++() {
    bytes_->skip();
    return *this;
  }
  bool operator==(const ByteIterator& other) const { return at_end() == other.at_end(); }

 private:
  bool at_end() const { return bytes_ == nullptr || bytes_->at_end(); }

  Bytes* bytes_ = nullptr;
};

// Takes the library's callbacks. Events are the objects of the outermost array, or of the array
// `traceEvents` in the outermost object.
class Events {
 public:
  using Json = nlohmann::json;
  using Consume = std::function<Result<bool>(const Event&, std::uint64_t)>;

  Events(const Bytes& bytes, const Consume& consume) : bytes_(bytes), consume_(consume) {}

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(Json::number_integer_t value) {
    return number(static_cast<double>(value), value);
  }
  bool number_unsigned(Json::number_unsigned_t value) {
    if (value > static_cast<Json::number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return true;
    return number(static_cast<double>(value), static_cast<std::int64_t>(value));
  }
  bool number_float(Json::number_float_t value, const std::string&) {
    return number(value, std::nullopt);
  }
  bool string(std::string& text) {
    if (in_event()) {
      if (key_ == "name") event_.name = text;
      if (key_ == "tid") event_.thread = text;
      if (key_ == "ph") phase_ = text;
    } else if (in_args() && (key_ == "tstamp" || key_ == "start_tstamp")) {
      event_.day_ns = day_time(text);
    }
    return true;
  }
  bool binary(Json::binary_t&) { return true; }

  bool start_object(std::size_t) {
    if (depth_ == events_depth_ && events_depth_ != 0) {
      event_ = {};
      phase_.clear();
      has_time_ = has_duration_ = false;
    }
    if (in_event()) args_ = key_ == "args";
    return deeper();
  }
  bool key(std::string& key) {
    key_ = std::move(key);
    return true;
  }
  bool end_object() {
    --depth_;
    if (events_depth_ == 0 || depth_ != events_depth_) return true;
    judge();
    auto go_on = consume_(event_, bytes_.done());
    if (go_on) return *go_on;
    error_ = std::move(go_on).error();
    return false;
  }
  bool start_array(std::size_t) {
    if (events_depth_ == 0 && (depth_ == 0 || (depth_ == 1 && key_ == "traceEvents"))) {
      events_depth_ = depth_ + 1;
      found_array_ = true;
    }
    if (in_event()) args_ = false;
    return deeper();
  }
  bool end_array() {
    if (depth_-- == events_depth_) events_depth_ = 0;
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception&) {
    failure_ = fmt::format("no JSON at byte {}", byte);
    return false;
  }

  bool found_array() const { return found_array_; }
  const std::optional<Error>& error() const { return error_; }
  const std::string& failure() const { return failure_; }

 private:
  bool in_event() const { return events_depth_ != 0 && depth_ == events_depth_ + 1; }
  bool in_args() const { return events_depth_ != 0 && depth_ == events_depth_ + 2 && args_; }

  bool deeper() {
    if (++depth_ <= kMaxDepth) return true;
    failure_ = fmt::format("lists and objects in each other, more than {} deep", kMaxDepth);
    return false;
  }

  static std::optional<std::uint64_t> ns_of(double us) {
    if (!(us >= 0 && us <= kMaxUs)) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(us * 1'000));
  }

  bool number(double value, std::optional<std::int64_t> whole) {
    if (in_args() && whole && !key_.empty() && event_.numbers.size() < kMaxNumbers)
      event_.numbers.emplace_back(key_, *whole);
    if (!in_event()) return true;
    if (key_ == "pid" && whole && *whole >= 0) event_.cpu = static_cast<std::uint64_t>(*whole);
    if (key_ == "tid" && whole) event_.thread = fmt::format("{}", *whole);
    const auto ns = ns_of(value);
    if (key_ == "ts" && ns) {
      has_time_ = true;
      event_.ts_ns = *ns;
    }
    if (key_ == "dur" && ns) {
      has_duration_ = true;
      event_.dur_ns = *ns;
    }
    return true;
  }

  void judge() {
    const bool whole = !event_.name.empty() && has_time_;
    if (phase_ == "X")
      event_.kind = whole && has_duration_ ? Event::Kind::kSpan : Event::Kind::kMalformed;
    else if (phase_ == "i" || phase_ == "I")
      event_.kind = whole ? Event::Kind::kInstant : Event::Kind::kMalformed;
    else
      event_.kind = phase_.empty() ? Event::Kind::kMalformed : Event::Kind::kOther;
  }

  const Bytes& bytes_;
  const Consume& consume_;
  std::size_t depth_ = 0;
  std::size_t events_depth_ = 0;  // in the array of events: its own
  bool found_array_ = false;
  std::string key_;
  bool args_ = false;
  Event event_;
  std::string phase_;
  bool has_time_ = false;
  bool has_duration_ = false;
  std::string failure_;
  std::optional<Error> error_;
};

}  // namespace

Result<std::string> read_events(
    imports::ByteStream& stream,
    const std::function<Result<bool>(const Event&, std::uint64_t end_byte)>& consume) {
  Bytes bytes(stream);
  Events events(bytes, consume);
  nlohmann::json::sax_parse(ByteIterator(bytes), ByteIterator(), &events);
  if (events.error()) return std::unexpected(*events.error());
  if (!stream.failure().empty()) return stream.failure();
  if (!events.failure().empty()) return events.failure();
  if (!events.found_array()) return std::string("it has no list of events");
  return std::string();
}

}  // namespace sojourn::event_json
