// The words of a point, checked while the program is compiled. Include sojourn/point.h, which
// includes this in C++. In C the assembler makes the most important checks, see point_site.h.
#ifndef SOJOURN_DETAIL_POINT_WORDS_H
#define SOJOURN_DETAIL_POINT_WORDS_H

namespace sojourn::point_detail {

constexpr bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Skips one or more names with a dot between two: moves `at` behind them.
constexpr bool skip_dotted_names(const char*& at) {
  while (is_name_character(*at)) {
    while (is_name_character(*at)) ++at;
    if (*at != '.') return true;
    ++at;
  }
  return false;
}

// Returns whether the words are a point's: "D source--destination".
constexpr bool is_point(const char* at) {
  if (*at != 'D' && *at != 'U' && *at != 'I' && *at != 'S') return false;
  if (*++at != ' ') return false;
  ++at;
  if (!skip_dotted_names(at)) return false;
  if (at[0] != '-' || at[1] != '-') return false;
  at += 2;
  return skip_dotted_names(at) && *at == '\0';
}

// Returns whether the words are fields: "properties:globals:locals", each group empty or dotted
// names.
constexpr bool is_fields(const char* at) {
  for (int colons = 0;; ++colons, ++at) {
    if (is_name_character(*at) && !skip_dotted_names(at)) return false;
    if (*at == '\0') return colons == 2;
    if (*at != ':') return false;
  }
}

constexpr int count_names(const char* at) {
  int names = 0;
  for (bool inside = false; *at != '\0'; ++at) {
    const bool was_inside = inside;
    inside = is_name_character(*at);
    if (inside && !was_inside) ++names;
  }
  return names;
}

// Counts the conversions of a printf format, without "%%".
constexpr int count_conversions(const char* at) {
  int conversions = 0;
  for (; *at != '\0'; ++at) {
    if (*at != '%') continue;
    if (at[1] == '%')
      ++at;
    else
      ++conversions;
  }
  return conversions;
}

}  // namespace sojourn::point_detail

#endif
