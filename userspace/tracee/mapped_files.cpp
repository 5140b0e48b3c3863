#include "userspace/tracee/mapped_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

// Checks without opening: a foreign path may lead to a pipe or a device.
bool leads_to(const std::string& path, const Mapping& mapping) {
  const base::Fd file = open_path(path, O_PATH);
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_ino != mapping.inode)
    return false;
  // btrfs and overlayfs give stat another device, an anonymous one: there the inode decides.
  return status.st_dev == mapping.device || major(status.st_dev) == 0;
}

}  // namespace

Result<MappedFile> locate(const std::string& directory, const Mapping& mapping) {
  const std::vector<std::string> names = possible_names(mapping.name);
  MappedFile file;
  file.inode = mapping.inode;
  file.device = mapping.device;
  for (const std::string& name : names) {
    file.name = name;
    file.path = directory + "/root" + name;
    if (name.starts_with('/') && leads_to(file.path, mapping)) return file;
  }
  // The file was deleted, replaced, or never had a name. Its own user can open the executable; only
  // root can open the others.
  file.deleted = true;
  file.path = directory + "/exe";
  if (leads_to(file.path, mapping)) return file;
  // This always leads to the mapped file, even if stat() shows another inode number.
  file.path = fmt::format("{}/map_files/{:x}-{:x}", directory, mapping.start, mapping.end);
  struct stat status{};
  const base::Fd mapped = open_path(file.path, O_PATH);
  if (mapped && fstat(mapped.get(), &status) == 0 && S_ISREG(status.st_mode)) return file;
  return fail("deleted, replaced or not reachable from here: only root can open it");
}

Result<ExecutedFiles> executed_files(const Process& process) {
  auto text = read_whole(process.proc("maps"));
  if (!text) {
    if (text.error().kind() == ErrorKind::kNotPermitted)
      return std::unexpected(process.explain(process.no_rights()));
    return std::unexpected(process.explain(std::move(text).error()));
  }
  const auto mappings = parse_maps(*text);
  if (!mappings) return std::unexpected(Error(mappings.error()).within(process.proc("maps")));
  // A process that ends while it is read shows no mappings; a reused pid would show another's.
  if (!process.alive()) return fail("process {} has exited", process.title());

  ExecutedFiles executed;
  const std::string directory = fmt::format("/proc/{}", process.pid());
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Mapping>> by_file;
  for (const Mapping& mapping : *mappings) {
    if (mapping.executable && mapping.inode != 0)
      by_file[{mapping.device, mapping.inode}].push_back(mapping);
  }
  for (auto& [identity, of_file] : by_file) {
    auto file = locate(directory, of_file.front());
    if (file)
      executed.files.push_back({std::move(*file), std::move(of_file)});
    else
      executed.unusable.push_back(
          {possible_names(of_file.front().name).back(), file.error().text()});
  }
  // Sorted by address, the order in which the target's loader mapped them. Inodes are in any order.
  std::ranges::sort(executed.files, {},
                    [](const ExecutedFile& file) { return file.mappings.front().start; });
  return executed;
}

std::vector<std::uint64_t> load_biases(const ElfFile& file, std::span<const Mapping> mappings) {
  std::vector<std::uint64_t> biases;
  for (const Mapping& mapping : mappings) {
    for (const Segment& segment : file.segments()) {
      const std::uint64_t mapped_bytes = mapping.end - mapping.start;
      const bool overlaps = mapping.offset < segment.offset + segment.file_bytes &&
                            segment.offset < mapping.offset + mapped_bytes;
      if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0 || !overlaps) continue;
      const std::uint64_t bias =
          (mapping.start - mapping.offset) - (segment.address - segment.offset);
      if (std::ranges::find(biases, bias) == biases.end()) biases.push_back(bias);
      break;
    }
  }
  return biases;
}

}  // namespace sojourn::tracee
