#include "userspace/files/rules_reader.h"

#include "analysis/journeys/rule_file.h"
#include "userspace/files/text_file.h"

namespace sojourn::files {

Result<journeys::Rules> read_rules(const std::string& path) {
  SJ_TRY(text, read_text(path, "rules are"));
  return journeys::parse_rules(text, path);
}

}  // namespace sojourn::files
