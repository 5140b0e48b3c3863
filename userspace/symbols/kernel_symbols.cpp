#include "userspace/symbols/kernel_symbols.h"

#include <algorithm>
#include <iterator>
#include <string>

#include <fcntl.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::symbols {

namespace {

// "ffffffff81000000 T name" or "... t name	[module]". Data is no function.
bool is_code(char type) {
  return type == 'T' || type == 't' || type == 'W' || type == 'w';
}

}  // namespace

// The file opens without rights as well, and has only zeros then: so the privileged helper is asked
// first.
KernelSymbols KernelSymbols::read() {
  const std::string path = "/proc/kallsyms";
  const base::Fd file = tracee::open_by_helper(path, O_RDONLY);
  const auto text = file ? tracee::read_whole(file, path) : tracee::read_whole(path);
  return KernelSymbols(text ? std::string_view(*text) : std::string_view());
}

KernelSymbols::KernelSymbols(std::string_view kallsyms) {
  for (const std::string_view line : tracee::split(kallsyms, '\n')) {
    const auto words = tracee::split(line, ' ');
    if (words.size() < 3 || words[1].size() != 1 || !is_code(words[1].front())) continue;
    const auto address = tracee::parse_number(words[0], 16);
    // All addresses are 0 without the rights to see them.
    if (!address || *address == 0) continue;
    functions_.push_back({*address, std::string(words[2].substr(0, words[2].find('\t')))});
  }
  std::ranges::stable_sort(functions_, {}, &Function::address);
}

std::string KernelSymbols::function_at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(functions_, address, {}, &Function::address);
  return after == functions_.begin() ? std::string() : std::prev(after)->name;
}

}  // namespace sojourn::symbols
