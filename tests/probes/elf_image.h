// An ELF file for a suspicious reader of points: its notes, and the kinds of its addresses. Holds
// the whole file in memory. Any fault ends in an exception that names it.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gelf.h>
#include <libelf.h>

#include "sojourn/note_abi.h"

namespace sojourn::test {

[[noreturn]] inline void fail(const std::string& what) {
  throw std::runtime_error(what);
}

struct Note {
  std::string name;
  std::uint32_t type = 0;
  std::string descriptor;
};

class ElfImage {
 public:
  explicit ElfImage(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("cannot open");
    content_.assign(std::istreambuf_iterator<char>(file), {});
    elf_version(EV_CURRENT);
    elf_ = elf_memory(content_.data(), content_.size());
    if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF) fail("not an ELF file");
    GElf_Ehdr header;
    gelf_getehdr(elf_, &header);
    machine_ = header.e_machine;
  }
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;
  ~ElfImage() { elf_end(elf_); }

  std::uint64_t page_bytes() const { return machine_ == EM_AARCH64 ? 65536 : 4096; }

  std::optional<GElf_Shdr> section(std::string_view name) const {
    std::optional<GElf_Shdr> found;
    each_section(name, [&](Elf_Scn*, const GElf_Shdr& header) { found = header; });
    return found;
  }

  // The notes of all sections of this name.
  std::vector<Note> notes(std::string_view section_name) const {
    std::vector<Note> notes;
    each_section(section_name, [&](Elf_Scn* section, const GElf_Shdr& header) {
      if (header.sh_type != SHT_NOTE) fail("a note section of another type");
      Elf_Data* data = elf_getdata(section, nullptr);
      const auto* start = static_cast<const char*>(data->d_buf);
      GElf_Nhdr note;
      std::size_t name_at = 0, descriptor_at = 0;
      for (std::size_t at = 0; at < data->d_size;) {
        at = gelf_getnote(data, at, &note, &name_at, &descriptor_at);
        if (at == 0) fail("a broken note");
        notes.push_back({std::string(start + name_at), note.n_type,
                         std::string(start + descriptor_at, note.n_descsz)});
      }
    });
    return notes;
  }

  bool is_code(std::uint64_t address) const { return segment_of(address, PF_X).has_value(); }
  bool is_writable(std::uint64_t address) const { return segment_of(address, PF_W).has_value(); }

  bool is_nop(std::uint64_t address) const {
    const std::string_view nop = machine_ == EM_AARCH64 ? std::string_view("\x1f\x20\x03\xd5", 4)
                                                        : std::string_view("\x90", 1);
    const auto segment = segment_of(address, PF_X);
    return segment && content_.substr(offset_of(*segment, address), nop.size()) == nop;
  }

  std::string string_at(std::uint64_t address) const {
    const auto segment = segment_of(address, PF_R);
    if (!segment) fail("a string at an address that is not in the file");
    const std::uint64_t offset = offset_of(*segment, address);
    return content_.substr(offset, content_.find('\0', offset) - offset);
  }

 private:
  template <typename Then>
  void each_section(std::string_view name, const Then& then) const {
    std::size_t names = 0;
    elf_getshdrstrndx(elf_, &names);
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
      GElf_Shdr header;
      gelf_getshdr(section, &header);
      if (elf_strptr(elf_, names, header.sh_name) == name) then(section, header);
    }
  }

  static std::uint64_t offset_of(const GElf_Phdr& segment, std::uint64_t address) {
    return address - segment.p_vaddr + segment.p_offset;
  }

  std::optional<GElf_Phdr> segment_of(std::uint64_t address, std::uint32_t flag) const {
    std::size_t count = 0;
    elf_getphdrnum(elf_, &count);
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr segment;
      gelf_getphdr(elf_, static_cast<int>(i), &segment);
      if (segment.p_type == PT_LOAD && (segment.p_flags & flag) != 0 &&
          address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_memsz)
        return segment;
    }
    return std::nullopt;
  }

  std::string content_;
  Elf* elf_ = nullptr;
  unsigned machine_ = 0;
};

// Takes the front off a note's descriptor.
template <typename T>
T take(std::string& bytes) {
  T value;
  if (bytes.size() < sizeof value) fail("a note is too short");
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.erase(0, sizeof value);
  return value;
}

inline std::string take_string(std::string& bytes) {
  const auto end = bytes.find('\0');
  if (end == std::string::npos) fail("a string in a note does not end");
  std::string text = bytes.substr(0, end);
  bytes.erase(0, end + 1);
  return text;
}

// A note of sojourn/note_abi.h: its numbers and its words.
template <typename Fixed>
struct OwnNote {
  Fixed fixed{};
  std::string point;
  std::string fields;
  std::string file;
};

template <typename Fixed>
std::vector<OwnNote<Fixed>> own_notes(const ElfImage& elf, std::uint32_t type,
                                      std::uint64_t Fixed::* site) {
  std::vector<OwnNote<Fixed>> found;
  for (Note& note : elf.notes(SJ_NOTE_SECTION)) {
    if (note.name != SJ_NOTE_NAME) fail("a note of another kind");
    if (note.type != type) continue;
    OwnNote<Fixed> own;
    own.fixed = take<Fixed>(note.descriptor);
    if (own.fixed.version != SJ_NOTE_VERSION) fail("a note of another version");
    own.point = take_string(note.descriptor);
    own.fields = take_string(note.descriptor);
    own.file = take_string(note.descriptor);
    // If the linker dropped the function, its words may be gone too.
    if (own.fixed.fields_address != 0 && elf.is_code(own.fixed.*site))
      own.fields = elf.string_at(own.fixed.fields_address);
    found.push_back(own);
  }
  return found;
}

}  // namespace sojourn::test
