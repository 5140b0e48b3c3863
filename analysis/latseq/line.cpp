#include "analysis/latseq/line.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "analysis/base/letters.h"

namespace sojourn::latseq {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::size_t kLastGroup = 2;    // properties, global ids, local ids
constexpr std::size_t kUnixDigits = 10;  // of seconds since 1970, from 2001 to 2286
constexpr std::string_view kBlanks = " \t\r\v\f";

struct ReasonWords {
  Skip why;
  std::string_view key;
  std::string_view words;
};

constexpr std::array<ReasonWords, kSkips> kReasons = {{
    {Skip::kNoStamp, "no_stamp", "does not begin with a time stamp"},
    {Skip::kStampZero, "stamp_zero", "the time stamp is 0"},
    {Skip::kStampRange, "stamp_range", "the time stamp is out of range"},
    {Skip::kNoClock, "no_clock", "a cycle count, and fewer than two clock lines to read it by"},
    {Skip::kNoDirection, "no_direction", "the direction is not D, U, I or S"},
    {Skip::kNoPlaces, "no_places", "no \"src--dest\""},
    {Skip::kTwoLines, "two_lines", "two lines run into one"},
    {Skip::kNames, "names", "names that are too long or no plain text"},
    {Skip::kValueRange, "value_range", "a value beyond 64 bits"},
    {Skip::kTooLong, "too_long", "longer than 64 KiB"},
    {Skip::kTooManyPoints, "too_many_points", "too many different points"},
    {Skip::kClockLine, "clock_line", "a clock line that cannot be read or runs backwards"},
    {Skip::kCut, "cut", "the last line is cut: it has no line end"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kReasons.size(); ++i)
    if (static_cast<std::size_t>(kReasons[i].why) != i) return false;
  return true;
}
static_assert(in_order(), "a reason is found by its number");

bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_blank(char c) {
  return kBlanks.contains(c);
}

void trim_front(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

void trim_back(std::string_view& text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
}

// Takes the word that `text` begins with, and the blanks behind it.
std::string_view take_word(std::string_view& text) {
  const auto end = std::ranges::find_if(text, is_blank);
  const std::string_view word(text.begin(), end);
  text.remove_prefix(word.size());
  trim_front(text);
  return word;
}

// Parses all of `digits`, or returns nothing.
std::optional<std::uint64_t> whole_number(std::string_view digits, int base = 10) {
  std::uint64_t number = 0;
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (code != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

enum class Reading : std::uint8_t { kDone, kNoNumber, kTooLarge };

// "1592409297.377889" in nanoseconds; digits behind the ninth are dropped.
Reading read_seconds(std::string_view text, std::uint64_t& ns) {
  const auto point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view part = text.substr(std::min(point + 1, text.size()));
  if (whole.empty() || !std::ranges::all_of(whole, is_digit) ||
      !std::ranges::all_of(part, is_digit))
    return Reading::kNoNumber;
  const auto seconds = whole_number(whole);
  if (!seconds || *seconds >= INT64_MAX / kSecond) return Reading::kTooLarge;
  std::uint64_t fraction = 0;
  std::uint64_t unit = kSecond / 10;
  for (std::size_t i = 0; i < part.size() && unit != 0; ++i, unit /= 10)
    fraction += static_cast<std::uint64_t>(part[i] - '0') * unit;
  ns = *seconds * kSecond + fraction;
  return Reading::kDone;
}

Reading read_stamp(std::string_view text, Stamp& stamp) {
  stamp.cycles = !text.contains('.');
  if (!stamp.cycles) return read_seconds(text, stamp.value);
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return Reading::kNoNumber;
  const auto number = whole_number(text);
  if (!number || *number > INT64_MAX) return Reading::kTooLarge;
  stamp.value = *number;
  return Reading::kDone;
}

// "58", "-3", "0x7f00"; the whole of it.
Reading read_value(std::string_view text, std::uint64_t& value) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  if (text.empty() || !std::ranges::all_of(text, hex ? is_hex_digit : is_digit))
    return Reading::kNoNumber;
  const auto number = whole_number(text, hex ? 16 : 10);
  constexpr std::uint64_t kLowest = std::uint64_t{1} << 63;
  if (!number || (negative && *number > kLowest)) return Reading::kTooLarge;
  value = negative ? 0 - *number : *number;
  return Reading::kDone;
}

// The offset of the number at the end of a field such as "rnti65535", "snr-5" or "ptr0x7f00"; the
// field's size where there is no number.
std::size_t number_in(std::string_view field) {
  std::size_t hex = field.size();
  while (hex > 0 && is_hex_digit(field[hex - 1])) --hex;
  const bool is_hex = hex < field.size() && hex >= 2 &&
                      (field[hex - 1] == 'x' || field[hex - 1] == 'X') && field[hex - 2] == '0';
  std::size_t at = field.size();
  if (is_hex)
    at = hex - 2;
  else
    while (at > 0 && is_digit(field[at - 1])) --at;
  if (at == field.size()) return at;
  return at > 0 && field[at - 1] == '-' ? at - 1 : at;
}

// The event that a header without a line end of its own runs into: "#... gtp1592409297.37 D a--b".
std::string_view glued_event(std::string_view header) {
  for (const std::string_view way : {" D ", " U ", " I ", " S "}) {
    const auto blank = header.find(way);
    if (blank == std::string_view::npos) continue;
    std::string_view rest = header.substr(blank + way.size());
    if (!take_word(rest).contains("--")) continue;
    std::size_t begin = blank;
    while (begin > 0 && (is_digit(header[begin - 1]) || header[begin - 1] == '.')) --begin;
    while (begin < blank && header[begin] == '.') ++begin;
    if (begin == blank) continue;
    // The digits at the end of the name belong to the stamp.
    const auto point = header.substr(begin, blank - begin).rfind('.');
    if (point != std::string_view::npos && point > kUnixDigits) begin += point - kUnixDigits;
    return header.substr(begin);
  }
  return {};
}

// "k--5" may be a value; "a--b" behind the first one is a second event.
bool has_second_event(std::string_view rest) {
  for (auto at = rest.find("--"); at != std::string_view::npos; at = rest.find("--", at + 2))
    if (at + 2 == rest.size() || !is_digit(rest[at + 2])) return true;
  return false;
}

}  // namespace

std::string_view key(Skip why) {
  return kReasons[static_cast<std::size_t>(why)].key;
}

std::string_view words(Skip why) {
  return kReasons[static_cast<std::size_t>(why)].words;
}

void LineParser::skip(Skip why) {
  line_.kind = Line::Kind::kSkipped;
  line_.why = why;
}

const Line& LineParser::parse(std::string_view text) {
  trim_front(text);
  trim_back(text);
  line_.fields_left_out = 0;
  if (text.empty()) {
    line_.kind = Line::Kind::kBlank;
  } else if (text.size() > kMaxLineBytes) {
    skip(Skip::kTooLong);
  } else if (!text.starts_with('#')) {
    parse_event(text);
  } else if (const std::string_view event = glued_event(text); !event.empty()) {
    parse_event(event);
  } else {
    line_.kind = Line::Kind::kHeader;
  }
  return line_;
}

void LineParser::parse_event(std::string_view text) {
  switch (read_stamp(take_word(text), line_.stamp)) {
    case Reading::kDone:
      break;
    case Reading::kNoNumber:
      return skip(Skip::kNoStamp);
    case Reading::kTooLarge:
      return skip(Skip::kStampRange);
  }
  const std::string_view direction = take_word(text);
  const auto known =
      direction.size() == 1 ? model::direction_from_letter(direction.front()) : std::nullopt;
  if (!known || !model::is_of_target(*known)) return skip(Skip::kNoDirection);
  const std::string_view places = take_word(text);
  if (direction == "S" && places == "rdtsc--gettimeofday") return parse_clock(text);
  if (line_.stamp.value == 0) return skip(Skip::kStampZero);

  // A scalar or a clock may be read at one place.
  const auto dashes = places.find("--");
  const bool may_be_one = direction == "I" || direction == "S";
  const bool one_place = may_be_one && dashes == std::string_view::npos && !places.empty();
  if (dashes == 0 || (dashes == std::string_view::npos && !one_place)) return skip(Skip::kNoPlaces);
  if (has_second_event(text)) return skip(Skip::kTwoLines);
  line_.shape.clear();
  line_.shape += direction.front();
  line_.shape += ' ';
  line_.shape += places;
  if (one_place) line_.shape += "--";
  line_.shape += ' ';
  if (!parse_fields(text)) return skip(Skip::kValueRange);
  line_.kind = Line::Kind::kEvent;
}

void LineParser::parse_clock(std::string_view rest) {
  const bool read = read_seconds(take_word(rest), line_.clock_ns) == Reading::kDone;
  if (!read || line_.stamp.value == 0 || line_.clock_ns == 0) return skip(Skip::kClockLine);
  line_.kind = Line::Kind::kClock;
}

// Reads the fields: '.' divides fields; ':', blanks or both divide groups. False: a value is too
// large.
bool LineParser::parse_fields(std::string_view rest) {
  line_.values.clear();
  group_ = 0;
  std::size_t group = 0;
  while (!rest.empty()) {
    const auto end = std::min(rest.find_first_of(".: \t"), rest.size());
    if (end != 0 && !parse_field(rest.substr(0, end), group)) return false;
    rest.remove_prefix(end);
    const bool blanks = !rest.empty() && is_blank(rest.front());
    trim_front(rest);
    if (rest.starts_with(':')) {
      rest.remove_prefix(1);
      trim_front(rest);
      ++group;
    } else if (blanks) {
      ++group;
    } else if (rest.starts_with('.')) {
      rest.remove_prefix(1);
    }
  }
  return true;
}

bool LineParser::parse_field(std::string_view field, std::size_t group) {
  const auto equals = field.find('=');
  const bool has_equals = equals != std::string_view::npos;
  const auto at = has_equals ? equals : number_in(field);
  std::uint64_t value = 0;
  switch (read_value(field.substr(std::min(at + (has_equals ? 1 : 0), field.size())), value)) {
    case Reading::kDone:
      return add_field(field.substr(0, at), group, value);
    case Reading::kNoNumber:
      ++line_.fields_left_out;
      return true;
    case Reading::kTooLarge:
      return false;
  }
  return true;
}

bool LineParser::add_field(std::string_view name, std::size_t group, std::uint64_t value) {
  name = name.substr(0, name.find('%'));  // without a conversion that printf did not see
  if (name.empty() || line_.values.size() == model::kMaxFields) {
    ++line_.fields_left_out;
    return true;
  }
  // A fourth group and those after it are local ids.
  const auto wanted = std::min(group, kLastGroup);
  if (group_ == wanted && !line_.values.empty()) line_.shape += '.';
  for (; group_ < wanted; ++group_) line_.shape += ':';
  line_.shape += name;
  line_.values.push_back(value);
  return true;
}

}  // namespace sojourn::latseq
