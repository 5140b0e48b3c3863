// Files beside these tests, and schemas as the tests like to write them.
#pragma once

#include <string>
#include <string_view>

#include "analysis/schema_language/schema_parser.h"

namespace sojourn::schema_language {

std::string read(const std::string& name);

// Parses a valid schema.
Schema parsed(std::string_view text);

// The error of an invalid schema; "" if there is none. The schema's name is "s".
std::string error_of(std::string_view text);

}  // namespace sojourn::schema_language
