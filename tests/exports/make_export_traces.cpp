// Writes the traces that the exports' tests read: radio.sjt, lossy.sjt, hostile.sjt; and
// dated.sjt, which is radio.sjt with a clock pair.
// Usage: make-export-traces DIRECTORY
#include <string>

#include <fmt/core.h>

#include "tests/exports/hostile_trace.h"
#include "tests/golden/fixture.h"
#include "tests/support/child.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string directory = std::string(argv[1]) + "/";
  for (const std::string name : {"radio", "lossy"})
    if (const auto made = sojourn::golden::write_trace(SJ_GOLDEN "/" + name + ".events",
                                                       directory + name + ".sjt");
        !made) {
      fmt::print(stderr, "{}\n", made.error().text());
      return 1;
    }
  const std::string dated = directory + "dated.events";
  sojourn::test::write_contents(dated, sojourn::test::contents(SJ_GOLDEN "/radio.events") +
                                           "clock 1000000 1700000000000000000 0 0\n");
  if (const auto made = sojourn::golden::write_trace(dated, directory + "dated.sjt"); !made) {
    fmt::print(stderr, "{}\n", made.error().text());
    return 1;
  }
  if (const auto made = sojourn::exports::write_hostile_trace(directory + "hostile.sjt"); !made) {
    fmt::print(stderr, "{}\n", made.error().text());
    return 1;
  }
  return 0;
}
