#include "userspace/symbols/code_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <elf.h>

#include "userspace/base/clock.h"
#include "userspace/tracee/mapped_files.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::symbols {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// The ELF address of an offset in the file; the offset itself if it is in no segment of code.
std::uint64_t elf_address(const tracee::ElfFile& file, std::uint64_t offset) {
  for (const tracee::Segment& segment : file.segments())
    if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0 && offset >= segment.offset &&
        offset - segment.offset < segment.file_bytes)
      return offset - segment.offset + segment.address;
  return offset;
}

}  // namespace

void CodeMap::read_mappings() {
  const auto text = tracee::read_whole(process_->proc("maps"));
  if (!text || text->empty()) return;  // the process ends: the known mappings are still right
  auto all = tracee::parse_maps(*text);
  if (!all) return;
  std::erase_if(*all, [](const tracee::Mapping& mapping) { return !mapping.executable; });
  mappings_ = std::move(*all);
  is_stale_ = false;
}

const tracee::Mapping* CodeMap::mapping_of(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &tracee::Mapping::start);
  if (after == mappings_.begin()) return nullptr;
  const tracee::Mapping& mapping = *std::prev(after);
  return address < mapping.end ? &mapping : nullptr;
}

void CodeMap::open_file(const tracee::Mapping& mapping, Module& module) const {
  const auto executed = tracee::executed_files(*process_);
  if (!executed) return;
  for (const tracee::ExecutedFile& one : executed->files) {
    if (one.file.device != mapping.device || one.file.inode != mapping.inode) continue;
    module.name = tracee::printable(one.file.name);
    if (auto file = tracee::ElfFile::open(one.file.path, one.file.name)) {
      module.build_id = file->build_id();
      module.file = std::make_shared<const tracee::ElfFile>(std::move(*file));
    }
  }
}

std::uint32_t CodeMap::module_of(const tracee::Mapping& mapping) {
  const auto next = static_cast<std::uint32_t>(modules_.size());
  if (mapping.inode == 0) {
    const std::string name = mapping.name.empty() ? "[memory]" : tracee::printable(mapping.name);
    const auto [known, is_new] = by_name_.try_emplace(name, next);
    if (is_new) modules_.push_back({.name = name, .build_id = {}, .file = {}});
    return known->second;
  }
  const auto [known, is_new] = by_file_.try_emplace({mapping.device, mapping.inode}, next);
  if (is_new) {
    Module module{.name = tracee::printable(mapping.name), .build_id = {}, .file = {}};
    open_file(mapping, module);
    modules_.push_back(std::move(module));
  }
  return known->second;
}

std::optional<CodeLocation> CodeMap::find(std::uint64_t address) {
  const tracee::Mapping* mapping = is_stale_ ? nullptr : mapping_of(address);
  if (mapping == nullptr) {
    const std::uint64_t now_ns = base::monotonic_ns();
    if (now_ns >= next_read_ns_) {
      next_read_ns_ = now_ns + kSecond;
      read_mappings();
    }
    mapping = mapping_of(address);
  }
  if (mapping == nullptr) return std::nullopt;
  CodeLocation place{.module = module_of(*mapping), .address = address - mapping->start};
  if (mapping->inode != 0) place.address += mapping->offset;
  const Module& module = modules_[place.module];
  if (module.file) place.address = elf_address(*module.file, place.address);
  return place;
}

}  // namespace sojourn::symbols
