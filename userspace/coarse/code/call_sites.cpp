#include "userspace/coarse/code/call_sites.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

#include <elf.h>

#include "userspace/coarse/code/instruction_decoder.h"

namespace sojourn::coarse {

namespace {

constexpr std::uint64_t kMaxSection = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxFunction = 1 << 20;
constexpr std::size_t kMaxSites = 256;
constexpr std::uint64_t kStub = 16;  // the size of a stub that begins with another instruction
constexpr std::byte kCall{0xe8};
constexpr std::byte kJump{0xe9};
constexpr std::byte kShortJump{0xeb};

using symbols::CodeRange;

template <typename T>
std::vector<T> rows_of(const tracee::ElfFile& file, const tracee::Section& section) {
  if (section.bytes > kMaxSection) return {};
  std::vector<T> rows(section.bytes / sizeof(T));
  if (!file.read(section.offset, std::as_writable_bytes(std::span(rows)))) return {};
  return rows;
}

std::int32_t displacement(std::span<const std::byte> bytes) {
  std::int32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Marks the file's dynamic symbols that have the name.
std::vector<bool> named(const tracee::ElfFile& file, const std::string& linked) {
  const tracee::Section* const table = file.section(".dynsym");
  const tracee::Section* const names = file.section(".dynstr");
  if (table == nullptr || names == nullptr) return {};
  const auto symbols = rows_of<Elf64_Sym>(file, *table);
  const auto text = rows_of<char>(file, *names);
  std::vector<bool> are_named(symbols.size());
  for (std::size_t at = 0; at < symbols.size(); ++at) {
    const std::size_t name = symbols[at].st_name;
    are_named[at] =
        name + linked.size() < text.size() && text[name + linked.size()] == '\0' &&
        std::equal(linked.begin(), linked.end(), text.begin() + static_cast<std::ptrdiff_t>(name));
  }
  return are_named;
}

// The addresses of the pointers through which stubs jump to the function.
std::vector<std::uint64_t> slots_of(const tracee::ElfFile& file, const std::string& linked,
                                    bool& has_pointers) {
  std::vector<std::uint64_t> slots;
  const std::vector<bool> are_named = named(file, linked);
  for (const tracee::Section& section : file.sections()) {
    if (section.type != SHT_RELA) continue;
    for (const auto& row : rows_of<Elf64_Rela>(file, section)) {
      const std::size_t symbol = ELF64_R_SYM(row.r_info);
      if (symbol >= are_named.size() || !are_named[symbol]) continue;
      slots.push_back(row.r_offset);
      if (ELF64_R_TYPE(row.r_info) != R_X86_64_JUMP_SLOT) has_pointers = true;
    }
  }
  return slots;
}

// Returns whether tables of methods hold the address: the loader writes it if the program may be
// loaded anywhere, else it is in the file.
bool is_in_data(const tracee::ElfFile& file, std::uint64_t own) {
  for (const tracee::Section& section : file.sections()) {
    if (section.type == SHT_RELA) {
      for (const auto& row : rows_of<Elf64_Rela>(file, section))
        if (ELF64_R_TYPE(row.r_info) == R_X86_64_RELATIVE &&
            static_cast<std::uint64_t>(row.r_addend) == own)
          return true;
    } else if (file.fixed_address() && section.type == SHT_PROGBITS &&
               (section.flags & SHF_ALLOC) != 0 && (section.flags & SHF_EXECINSTR) == 0) {
      if (const auto words = rows_of<std::uint64_t>(file, section);
          std::ranges::find(words, own) != words.end())
        return true;
    }
  }
  return false;
}

// The addresses of stubs that jump through one of these pointers.
std::vector<std::uint64_t> stubs_of(const tracee::ElfFile& file,
                                    std::span<const std::uint64_t> slots) {
  std::vector<std::uint64_t> stubs;
  if (slots.empty()) return stubs;
  for (const tracee::Section& section : file.sections()) {
    if (!section.name.starts_with(".plt")) continue;
    const auto bytes = rows_of<std::byte>(file, section);
    for (std::size_t at = 0; at + 6 <= bytes.size(); ++at) {
      if (bytes[at] != std::byte{0xff} || bytes[at + 1] != std::byte{0x25}) continue;
      const std::uint64_t jump = section.address + at;
      const std::uint64_t slot =
          jump + 6 +
          static_cast<std::uint64_t>(std::int64_t{displacement(std::span(bytes).subspan(at + 2))});
      if (std::ranges::find(slots, slot) == slots.end()) continue;
      stubs.push_back(jump);
      stubs.push_back(jump / kStub * kStub);  // behind endbr64, or a prefix
    }
  }
  return stubs;
}

// Returns whether an instruction of the function begins there, and leads to one of the targets.
bool is_instruction(std::span<const std::byte> function, std::uint64_t address,
                    std::uint64_t site) {
  const InstructionDecoder decoder;
  for (std::size_t at = 0; at < function.size() && address + at <= site;) {
    if (address + at == site) return true;
    const auto one = decoder.decode(function.subspan(at));
    if (!one) return false;
    at += one->what.length;
  }
  return false;
}

}  // namespace

CallsInFile calls_in(const tracee::ElfFile& file, const symbols::UnwindTable& table,
                     const std::string& linked, std::optional<std::uint64_t> own) {
  CallsInFile found;
  const auto slots = slots_of(file, linked, found.has_pointers);
  auto targets = stubs_of(file, slots);
  if (own) {
    targets.push_back(*own);
    found.is_pointed_to = is_in_data(file, *own);
  }
  if (targets.empty()) return found;
  std::map<std::uint64_t, std::vector<std::byte>> functions;  // functions that may have one
  for (const tracee::Section& section : file.sections()) {
    constexpr std::uint64_t kCode = SHF_EXECINSTR | SHF_ALLOC;
    if ((section.flags & kCode) != kCode || section.name.starts_with(".plt")) continue;
    const auto bytes = rows_of<std::byte>(file, section);
    // Bytes that look like a call of a target may be in the middle of another instruction.
    for (std::size_t at = 0; at + 5 <= bytes.size() && found.sites.size() < kMaxSites; ++at) {
      const bool is_short = bytes[at] == kShortJump;
      if (bytes[at] != kCall && bytes[at] != kJump && !is_short) continue;
      const std::uint64_t site = section.address + at;
      const std::int64_t away = is_short
                                    ? std::int64_t{static_cast<std::int8_t>(bytes[at + 1])}
                                    : std::int64_t{displacement(std::span(bytes).subspan(at + 1))};
      const std::uint64_t target = site + (is_short ? 2 : 5) + static_cast<std::uint64_t>(away);
      if (std::ranges::find(targets, target) == targets.end()) continue;
      const auto code = table.range_at(site);
      if (!code || code->bytes > kMaxFunction) continue;
      auto& function = functions[code->address];
      if (function.empty()) {
        const auto offset = file.file_offset(code->address, code->bytes, PF_X);
        function.resize(code->bytes);
        if (!offset || !file.read(*offset, function)) continue;
      }
      if (is_instruction(function, code->address, site))
        found.sites.push_back({.address = site, .is_jump = bytes[at] != kCall});
    }
  }
  std::ranges::sort(found.sites, {}, &CallSite::address);
  return found;
}

}  // namespace sojourn::coarse
