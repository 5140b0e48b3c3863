// The names of the macros that a declaration becomes. The header generator writes them, and the
// parser refuses declarations that would share one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sojourn::schema_language {

std::string upper(std::string_view name);

std::string subsystem_macro(std::string_view subsystem);                   // SJ_SUBSYS_KERNEL
std::string id_macro(std::string_view subsystem, std::string_view event);  // SJ_EVENT_ID_KERNEL_TX
std::string fire_macro(std::string_view subsystem, std::string_view event);  // SJ_EVENT_KERNEL_TX

// More names of the macro that fires the event, so that SJ_EVENT(kernel, tx, ...) works as well:
// SJ_EVENT_kernel_tx, and with either part in capitals. Empty if the declaration is all capitals.
std::vector<std::string> fire_aliases(std::string_view subsystem, std::string_view event);

}  // namespace sojourn::schema_language
