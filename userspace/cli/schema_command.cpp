// `sojourn schema`: compiles a schema to the header that fires its events and the JSON that
// describes them. Without outputs it checks the schema.
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include "analysis/schema_language/generate.h"
#include "analysis/schema_language/schema_parser.h"
#include "userspace/base/fail_errno.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/output_file.h"

namespace sojourn::cli {

namespace {

struct SchemaOptions {
  std::string file;
  std::string header;
  std::string json;
};

Result<std::string> read_schema(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail_errno("open {}", path);
  // Reads one byte more than allowed, so that the parser refuses it; a device may have no end.
  std::string text(schema_language::kMaxSchemaBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.fail() && !file.eof())) return fail_errno("read {}", path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// Returns whether two paths are the same file, in any spelling.
bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  const auto place = std::filesystem::weakly_canonical(one, error);
  return !error && place == std::filesystem::weakly_canonical(other, error) && !error;
}

Result<void> check_outputs(const SchemaOptions& options) {
  for (const std::string& output : {options.header, options.json})
    if (!output.empty() && is_same_file(output, options.file))
      return fail("write {}: it is the schema itself", output);
  if (!options.header.empty() && !options.json.empty() &&
      is_same_file(options.header, options.json))
    return fail("write {}: it is both the header and the JSON", options.header);
  return {};
}

Result<void> generate(const SchemaOptions& options) {
  SJ_CHECK(check_outputs(options));
  SJ_TRY(text, read_schema(options.file));
  SJ_TRY(schema, schema_language::parse(text, options.file));
  if (!options.header.empty())
    SJ_CHECK(replace_file(options.header, schema_language::generate_header(schema, options.file)));
  if (!options.json.empty())
    SJ_CHECK(replace_file(options.json, schema_language::generate_json(schema, options.file)));
  return {};
}

}  // namespace

Action define_schema(Arguments& arguments) {
  auto options = std::make_shared<SchemaOptions>();
  arguments.add_option("file", options->file, "The schema (docs/schemas.md)")
      .type_name("FILE")
      .required();
  arguments
      .add_option("--header", options->header, "Write a header for C and C++ that fires its events")
      .type_name("FILE")
      .check(check_output_name);
  arguments.add_option("--json", options->json, "Write its subsystems, events and fields as JSON")
      .type_name("FILE")
      .check(check_output_name);
  arguments.footer("Without --header and --json, the schema is only checked.");
  return [options] { return generate(*options); };
}

}  // namespace sojourn::cli
