#include "userspace/coarse/debug/debug_file.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "userspace/tracee/file_bytes.h"

namespace sojourn::coarse {

namespace {

constexpr std::uint64_t kMaxLinkBytes = 4096;

// The name in .gnu_debuglink; a checksum follows it, which the build id makes needless.
std::string linked_name(const tracee::ElfFile& file) {
  const tracee::Section* section = file.section(".gnu_debuglink");
  if (section == nullptr || section->bytes > kMaxLinkBytes) return {};
  std::string bytes(section->bytes, '\0');
  if (!file.read(section->offset, std::as_writable_bytes(std::span(bytes)))) return {};
  const std::string name = bytes.substr(0, bytes.find('\0'));
  return name.contains('/') ? std::string() : name;
}

}  // namespace

std::optional<tracee::ElfFile> find_debug_file(const tracee::ElfFile& file,
                                               const tracee::MappedFile& mapped) {
  const std::string id = file.build_id();
  if (id.size() < 4 || file.section(".debug_info") != nullptr) return std::nullopt;
  // "/proc/PID/root"; empty if the file is reached in another way.
  const std::string root = mapped.path.ends_with(mapped.name)
                               ? mapped.path.substr(0, mapped.path.size() - mapped.name.size())
                               : std::string();
  const std::string by_id =
      fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", id.substr(0, 2), id.substr(2));
  std::vector<std::string> candidates = {root + by_id, by_id};
  const std::string name = linked_name(file);
  const std::size_t slash = mapped.name.rfind('/');
  if (!name.empty() && slash != std::string::npos) {
    const std::string directory = mapped.name.substr(0, slash);
    candidates.push_back(fmt::format("{}{}/{}", root, directory, name));
    candidates.push_back(fmt::format("{}{}/.debug/{}", root, directory, name));
    candidates.push_back(fmt::format("{}/usr/lib/debug{}/{}", root, directory, name));
  }
  for (const std::string& path : candidates) {
    if (!tracee::ElfFile::has_magic(path)) continue;
    auto found = tracee::ElfFile::open(path, path);
    if (found && found->build_id() == id) return std::move(*found);
  }
  return std::nullopt;
}

}  // namespace sojourn::coarse
