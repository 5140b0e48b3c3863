#include "userspace/host/pages.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "userspace/host/machine_reader.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::host {

namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;

}  // namespace

Pages::Pages(std::size_t bytes, bool is_huge) : bytes_(bytes) {
  if (bytes == 0) return;
  // The mapping is one huge page larger, so that whole huge pages fit wherever it begins.
  mapped_bytes_ = (bytes + kHuge - 1) / kHuge * kHuge + kHuge;
  mapped_ =
      mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped_ == MAP_FAILED) return;
  const auto at = reinterpret_cast<std::uintptr_t>(mapped_);
  data_ = reinterpret_cast<void*>((at + kHuge - 1) & ~(kHuge - 1));
  // A kernel without huge pages refuses this; huge_share() shows it.
  madvise(mapped_, mapped_bytes_, is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

Pages::~Pages() {
  if (mapped_ != MAP_FAILED) munmap(mapped_, mapped_bytes_);
}

double Pages::huge_share() const {
  const auto text = tracee::read_whole("/proc/self/smaps");
  if (!text || bytes_ == 0) return 0;
  bool is_ours = false;
  for (const std::string_view line : tracee::split(*text, '\n')) {
    const auto dash = line.find('-');
    const auto blank = line.find(' ');
    if (dash != std::string_view::npos && blank != std::string_view::npos && dash < blank) {
      const auto first = tracee::parse_number(line.substr(0, dash), 16);
      const auto last = tracee::parse_number(line.substr(dash + 1, blank - dash - 1), 16);
      const auto at = reinterpret_cast<std::uint64_t>(data_);
      if (first && last) is_ours = at >= *first && at < *last;
    }
    if (!is_ours || !line.starts_with("AnonHugePages:")) continue;
    const auto digits = line.find_first_of("0123456789");
    if (digits == std::string_view::npos) return 0;
    return std::min(
        1.0, static_cast<double>(parse_size(line.substr(digits))) / static_cast<double>(bytes_));
  }
  return 0;
}

}  // namespace sojourn::host
