#include "userspace/capture/rings/arena_match.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/mapped_files.h"
#include "userspace/tracee/maps.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

std::optional<std::size_t> ArenaMatch::flag(const tracee::RingSite& site,
                                            const ArenaLayout& layout) const {
  const std::uint64_t offset = site.flag + bias - layout.flags_address;
  if (offset % sizeof(std::uint16_t) != 0) return std::nullopt;
  const std::uint64_t index = offset / sizeof(std::uint16_t);
  return index < layout.flags ? std::optional(index) : std::nullopt;
}

namespace {

bool fits(const ArenaMatch& match, const ArenaLayout& layout, const tracee::Points& points) {
  return std::ranges::all_of(points.ring_sites, [&](const tracee::RingSite& site) {
    return site.file != match.file || match.flag(site, layout);
  });
}

}  // namespace

Result<ArenaMatch> match_arena(const tracee::Process& process, const Arena& arena,
                               const tracee::Points& points) {
  const ArenaLayout& layout = arena.layout();
  SJ_TRY(text, tracee::read_whole(process.proc("maps")));
  SJ_TRY(mappings, tracee::parse_maps(text));
  const auto code = std::ranges::find_if(mappings, [&](const tracee::Mapping& mapping) {
    return mapping.executable && layout.code_address >= mapping.start &&
           layout.code_address < mapping.end;
  });
  if (code == mappings.end())
    return fail("{}: belong to code at {:#x}, where there is none", arena.name(),
                layout.code_address);
  const auto file = std::ranges::find_if(points.files, [&](const tracee::MappedFile& candidate) {
    return candidate.inode == code->inode && candidate.device == code->device;
  });
  if (file == points.files.end())
    return fail("{}: belong to {}, which has no points that can be traced", arena.name(),
                tracee::printable(code->name));
  ArenaMatch match{.file = static_cast<std::size_t>(file - points.files.begin())};

  std::vector<tracee::Mapping> of_file;
  for (const tracee::Mapping& mapping : mappings)
    if (mapping.executable && mapping.inode == code->inode && mapping.device == code->device)
      of_file.push_back(mapping);
  SJ_TRY(elf, tracee::ElfFile::open(file->path, file->name));
  for (const std::uint64_t bias : tracee::load_biases(elf, of_file)) {
    match.bias = bias;
    if (fits(match, layout, points)) return match;
  }
  return fail("{}: their flags are not where {} has them", arena.name(),
              tracee::printable(file->name));
}

std::string build_id_of(const sj_module& module) {
  std::string hex;
  for (std::uint32_t byte = 0; byte < module.build_id_bytes; ++byte)
    hex += fmt::format("{:02x}", module.build_id[byte]);
  return hex;
}

namespace {

// The file's path leads through /proc/PID, which is gone once the process has ended.
Result<tracee::ElfFile> open_orphaned(const tracee::MappedFile& file) {
  auto elf = tracee::ElfFile::open(file.path, file.name);
  struct stat status{};
  if (elf || stat(file.name.c_str(), &status) != 0 || status.st_ino != file.inode) return elf;
  return tracee::ElfFile::open(file.name, file.name);
}

}  // namespace

Result<ArenaMatch> match_left_arena(const Arena& arena, const tracee::Points& points) {
  const ArenaLayout& layout = arena.layout();
  const std::string build_id = build_id_of(arena.module());
  std::optional<ArenaMatch> found;
  for (std::size_t index = 0; index < points.files.size(); ++index) {
    SJ_TRY(elf, open_orphaned(points.files[index]));
    if (!build_id.empty() && elf.build_id() != build_id) continue;
    const tracee::Section* const flags = elf.section("sj_flags");
    if (flags == nullptr || flags->bytes != layout.flags * sizeof(std::uint16_t)) continue;
    const ArenaMatch match{.file = index, .bias = layout.flags_address - flags->address};
    if (!elf.in_code(layout.code_address - match.bias) || !fits(match, layout, points)) continue;
    if (found) return fail("{}: could be of more than one file", arena.name());
    found = match;
  }
  if (!found) return fail("{}: belong to no file that has points", arena.name());
  return *found;
}

}  // namespace sojourn::capture
