#include "analysis/model/schema.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace sojourn::model {

namespace {

constexpr std::size_t kMaxWords = 256;  // of a point's two strings; both come from foreign files

constexpr std::string_view kLetters = "DUISKQA";  // of directions

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

Result<void> check_words(std::string_view what, std::string_view words) {
  if (words.size() > kMaxWords)
    return fail("a point's {} of {} characters: at most {} are allowed", what, words.size(),
                kMaxWords);
  const auto bad = std::ranges::find_if(words, [](char c) { return c < ' ' || c > '~'; });
  if (bad != words.end())
    return fail("a point's {} has an unprintable character at position {}", what,
                bad - words.begin() + 1);
  return {};
}

// "len%hu" is "len": everything from the conversion on is dropped.
std::string_view without_conversion(std::string_view field) {
  return field.substr(0, field.find('%'));
}

// Splits `text` at every `separator`; an empty text has no parts.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  for (auto end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

Result<void> parse_group(std::string_view group, Role role, std::string_view format, Point& point) {
  for (const std::string_view words : split(group, '.')) {
    const std::string_view field = without_conversion(words);
    if (field.empty()) return fail("fields \"{}\": a field has no name", format);
    if (!std::ranges::all_of(field, is_name_character))
      return fail("fields \"{}\": \"{}\" is no name of letters, digits, '_' and '-'", format,
                  field);
    if (point.fields.size() == kMaxFields)
      return fail("fields \"{}\": more than {}", format, kMaxFields);
    point.fields.push_back({.name = std::string(field), .role = role});
  }
  return {};
}

// A unit goes from one place to another; a scalar or a clock is read at one.
bool may_name_one_place(Direction direction) {
  return direction != Direction::kDownlink && direction != Direction::kUplink;
}

}  // namespace

char letter(Direction direction) {
  return kLetters[static_cast<std::size_t>(direction)];
}

std::optional<Direction> direction_from_letter(char letter) {
  const auto at = kLetters.find(letter);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<Direction>(at);
}

std::string_view name(Role role) {
  switch (role) {
    case Role::kProperty:
      return "property";
    case Role::kGlobal:
      return "global";
    case Role::kLocal:
      return "local";
  }
  return "unknown";
}

std::optional<Role> role_from_name(std::string_view text) {
  for (const Role role : {Role::kProperty, Role::kGlobal, Role::kLocal})
    if (name(role) == text) return role;
  return std::nullopt;
}

std::string_view name(Engine engine) {
  switch (engine) {
    case Engine::kBpf:
      return "bpf";
    case Engine::kRing:
      return "ring";
    case Engine::kImport:
      return "import";
    case Engine::kKernel:
      return "kernel";
    case Engine::kSampler:
      return "sampler";
    case Engine::kScript:
      return "script";
  }
  return "unknown";
}

std::string Point::name() const {
  return dest.empty() && may_name_one_place(direction) ? src : src + "--" + dest;
}

std::optional<std::size_t> Point::field(std::string_view field_name) const {
  const auto found = std::ranges::find(fields, field_name, &Field::name);
  if (found == fields.end()) return std::nullopt;
  return static_cast<std::size_t>(found - fields.begin());
}

bool is_hexadecimal(const Point& point, std::size_t field) {
  const Field& known = point.fields[field];
  if (known.is_address) return true;
  if (known.name == "queue" && (point.src == "queue" || point.src == "queue.sample")) return true;
  return is_hexadecimal(known.name);
}

bool is_hexadecimal(std::string_view field_name) {
  constexpr std::array<std::string_view, 2> kEndings = {"rnti", "teid"};
  return std::ranges::any_of(kEndings, [field_name](std::string_view ending) {
    return field_name.size() >= ending.size() &&
           std::ranges::equal(field_name.substr(field_name.size() - ending.size()), ending,
                              [](char one, char other) { return (one | ' ') == other; });
  });
}

Result<Point> parse_point(std::string_view where, std::string_view format) {
  SJ_CHECK(check_words("name", where));
  SJ_CHECK(check_words("fields", format));

  Point point;
  const auto direction = where.empty() ? std::nullopt : direction_from_letter(where.front());
  if (!direction || !is_of_target(*direction) || where.size() < 2 || where[1] != ' ')
    return fail("point \"{}\": does not begin with \"D \", \"U \", \"I \" or \"S \"", where);
  point.direction = *direction;

  const std::string_view way = where.substr(2);
  const auto dashes = way.find("--");
  const bool one_place = dashes == std::string_view::npos;
  if (one_place && !may_name_one_place(*direction))
    return fail("point \"{}\": has no \"--\" between its two places", where);
  point.src = way.substr(0, dashes);
  if (!one_place) point.dest = way.substr(dashes + 2);
  if (point.src.empty()) return fail("point \"{}\": does not say where its unit comes from", where);
  if (way.contains(' ')) return fail("point \"{}\": a place's name has a space in it", where);

  constexpr std::array kRoles = {Role::kProperty, Role::kGlobal, Role::kLocal};
  std::string_view rest = format;
  for (std::size_t group = 0;; ++group) {
    if (group == kRoles.size()) return fail("fields \"{}\": more than two ':'", format);
    const auto colon = rest.find(':');
    SJ_CHECK(parse_group(rest.substr(0, colon), kRoles[group], format, point));
    if (colon == std::string_view::npos) break;
    rest = rest.substr(colon + 1);
  }
  return point;
}

Result<void> check(const Point& point) {
  SJ_CHECK(check_words("name", point.name()));
  if (point.src.empty()) return fail("a point does not say where its unit comes from");
  if (point.name().contains(' ')) return fail("point \"{}\": has a space in it", point.name());
  if (point.fields.size() > kMaxFields)
    return fail("point \"{}\": has more than {} fields", point.name(), kMaxFields);
  for (const Field& field : point.fields) {
    if (field.name.empty() || field.name.size() > kMaxWords ||
        !std::ranges::all_of(field.name, is_name_character))
      return fail("point \"{}\": a field has no valid name", point.name());
    if (!std::has_single_bit(field.bytes) || field.bytes > sizeof(std::uint64_t))
      return fail("point \"{}\": field \"{}\" of {} bytes", point.name(), field.name, field.bytes);
  }
  return {};
}

std::string format_fields(const Point& point) {
  std::string text;
  for (const Role role : {Role::kProperty, Role::kGlobal, Role::kLocal}) {
    if (role != Role::kProperty) text += ':';
    bool first = true;
    for (const Field& field : point.fields) {
      if (field.role != role) continue;
      if (!std::exchange(first, false)) text += '.';
      text += field.name;
    }
  }
  return text;
}

}  // namespace sojourn::model
