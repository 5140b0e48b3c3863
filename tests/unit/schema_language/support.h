// Files beside these tests, and schemas as the tests like to write them.
#pragma once

#include <string>
#include <string_view>

#include "analysis/schema_language/schema_parser.h"

namespace sojourn::schema_language {

std::string read(const std::string& name);

// Of a schema that is right.
Schema parsed(std::string_view text);

// What is wrong with one that is not; "" if nothing. The schema is called "s".
std::string error_of(std::string_view text);

}  // namespace sojourn::schema_language
