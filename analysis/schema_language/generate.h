// Generates a C and C++ header that fires the events of a schema, and a JSON document that
// describes them. The same schema gives the same bytes. `file` is the schema's file name. Only its
// last part gets into the output, which therefore does not depend on the directory.
#pragma once

#include <string>
#include <string_view>

#include "analysis/schema_language/schema_parser.h"

namespace sojourn::schema_language {

std::string generate_header(const Schema& schema, std::string_view file);
std::string generate_json(const Schema& schema, std::string_view file);

}  // namespace sojourn::schema_language
