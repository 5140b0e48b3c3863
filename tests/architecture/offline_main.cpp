// The commands that need no live machine, as a program of their own, whose link list shows what
// they need (offline.sh).
#include "userspace/cli/offline_commands.h"
#include "userspace/cli/program.h"

int main(int argc, char** argv) {
  return sojourn::cli::run_program(argc, argv, sojourn::cli::offline_commands(), nullptr);
}
