#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "analysis/schema_language/file_name.h"
#include "analysis/schema_language/generate.h"
#include "analysis/schema_language/macros.h"

namespace sojourn::schema_language {

namespace {

// A comment of one line. No text can end the comment early.
std::string comment(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool is_mark = (c == '/' && safe.ends_with('*')) || (c == '*' && safe.ends_with('/'));
    if (is_mark) safe += ' ';
    safe += c >= ' ' && c <= '~' ? c : '?';
  }
  return fmt::format("/* {} */", safe);
}

// A hash (FNV-1a) that distinguishes files of one name, e.g. two libraries' events.pleco.
std::uint32_t fingerprint(std::string_view text) {
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  return hash;
}

std::string guard(std::string_view file, std::string_view content) {
  std::string name = upper(file_name(file));
  std::ranges::replace_if(
      name, [](char c) { return !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9'); }, '_');
  return fmt::format("SJ_SCHEMA_{}_{:08X}", name, fingerprint(content));
}

std::string type_of(const model::Field& field) {
  return fmt::format("{}int{}_t", field.is_signed ? "" : "u", 8 * field.bytes);
}

// Parameters carry a prefix: a field may be called like a type or like a keyword.
std::string fire(const Subsystem& subsystem, const Event& event) {
  std::string parameters;
  std::string arguments;
  for (const model::Field& field : event.point.fields) {
    parameters += fmt::format("{}sj_{}", parameters.empty() ? "" : ", ", field.name);
    arguments +=
        fmt::format(", \\\n           SJ_EVENT_AS_({}, sj_{})", type_of(field), field.name);
  }
  return fmt::format("#define {}({}) \\\n  SJ_POINT(\"{} {}\", \"{}\"{})\n",
                     fire_macro(subsystem.name, event.name), parameters,
                     model::letter(event.point.direction), event.point.name(),
                     model::format_fields(event.point), arguments);
}

std::string declarations(const Schema& schema) {
  std::string text;
  for (std::size_t subsystem_id = 0; subsystem_id < schema.subsystems.size(); ++subsystem_id) {
    const Subsystem& subsystem = schema.subsystems[subsystem_id];
    text += fmt::format("\n#define {} {}\n", subsystem_macro(subsystem.name), subsystem_id);
    for (std::size_t event_id = 0; event_id < subsystem.events.size(); ++event_id) {
      const Event& event = subsystem.events[event_id];
      text += fmt::format("\n{}\n#define {} {}\n", comment(event.text),
                          id_macro(subsystem.name, event.name), event_id);
      text += fire(subsystem, event);
      for (const std::string& alias : fire_aliases(subsystem.name, event.name))
        text += fmt::format("#define {} {}\n", alias, fire_macro(subsystem.name, event.name));
    }
  }
  return text;
}

// Shared by all schemas' headers. The two names are pasted at once, so that a macro of the program
// that is called like one of them does no harm.
constexpr std::string_view kFiring = R"(
/* SJ_EVENT(subsystem, event, arguments...): both names as declared, or in capitals. */
#ifndef SJ_EVENT
#define SJ_EVENT(subsystem, event, ...) SJ_EVENT_##subsystem##_##event(__VA_ARGS__)
#ifdef __cplusplus
#define SJ_EVENT_AS_(type, value) static_cast<type>(value)
#else
#define SJ_EVENT_AS_(type, value) ((type)(value))
#endif
#endif
)";

}  // namespace

std::string generate_header(const Schema& schema, std::string_view file) {
  const std::string content = declarations(schema);
  const std::string once = guard(file, content);
  return fmt::format(
      "{}\n#ifndef {}\n#define {}\n\n#include <stdint.h>\n\n#include "
      "<sojourn/point.h>\n{}{}\n#endif\n",
      comment(
          fmt::format("Made by `sojourn schema` from {}: change that, not this.", file_name(file))),
      once, once, kFiring, content);
}

}  // namespace sojourn::schema_language
