#include "analysis/schema_language/macros.h"

#include <algorithm>

#include <fmt/format.h>

namespace sojourn::schema_language {

std::string upper(std::string_view name) {
  std::string capitals(name);
  for (char& c : capitals)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return capitals;
}

std::string subsystem_macro(std::string_view subsystem) {
  return "SJ_SUBSYS_" + upper(subsystem);
}

std::string id_macro(std::string_view subsystem, std::string_view event) {
  return fmt::format("SJ_EVENT_ID_{}_{}", upper(subsystem), upper(event));
}

std::string fire_macro(std::string_view subsystem, std::string_view event) {
  return fmt::format("SJ_EVENT_{}_{}", upper(subsystem), upper(event));
}

std::vector<std::string> fire_aliases(std::string_view subsystem, std::string_view event) {
  std::vector<std::string> aliases;
  const std::string main = fire_macro(subsystem, event);
  for (const std::string& first : {std::string(subsystem), upper(subsystem)}) {
    for (const std::string& second : {std::string(event), upper(event)}) {
      std::string alias = fmt::format("SJ_EVENT_{}_{}", first, second);
      if (alias != main && std::ranges::find(aliases, alias) == aliases.end())
        aliases.push_back(std::move(alias));
    }
  }
  return aliases;
}

}  // namespace sojourn::schema_language
