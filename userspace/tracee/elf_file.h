// One ELF file, opened read-only: 64-bit little-endian x86-64 and arm64 executables and libraries.
//
// The file is hostile until checked. Header, tables and sizes are compared with the file's size
// before libelf sees them; everything handed out lies inside the file. Errors name the file, and
// the section or segment. The file may change underneath: then reads are short, which is an error
// as well. Views of it live as long as the ElfFile. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

struct Elf;

namespace sojourn::tracee {

enum class Machine : std::uint8_t { kX86_64, kArm64 };

struct Segment {
  std::uint32_t type = 0;   // PT_
  std::uint32_t flags = 0;  // PF_
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t align = 0;
};

struct Section {
  std::string name;
  std::uint32_t type = 0;   // SHT_
  std::uint64_t flags = 0;  // SHF_
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t align = 0;
  std::uint32_t link = 0;
};

struct Note {
  std::string_view owner;
  std::uint32_t type = 0;
  std::span<const std::byte> description;
};

// A function in the symbol table; names point into the ElfFile.
struct FunctionSymbol {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: not known; at most up to the next one
  std::string_view name;    // mangled
};

class ElfFile {
 public:
  // `name` is the file's name in errors.
  static Result<ElfFile> open(const std::string& path, const std::string& name);

  // Returns whether the file begins as an ELF file does. Other files may be mapped executable too,
  // and are ignored.
  static bool has_magic(const std::string& path);

  const std::string& name() const { return name_; }
  Machine machine() const { return machine_; }
  bool fixed_address() const { return fixed_address_; }  // ET_EXEC: runs where it was linked to
  const std::vector<Segment>& segments() const { return segments_; }
  const std::vector<Section>& sections() const { return sections_; }  // empty after sstrip
  const Section* section(std::string_view name) const;

  // The notes of all note sections; in a file without sections, of the loaded note segments.
  Result<std::vector<Note>> notes() const;

  // The file offset of `bytes` bytes at `address`, in a loaded segment with (at least) these PF_
  // flags.
  std::optional<std::uint64_t> file_offset(std::uint64_t address, std::uint64_t bytes,
                                           std::uint32_t flags) const;
  // Returns whether a section of code holds the address; in a file without sections, a segment.
  bool in_code(std::uint64_t address) const;

  // Reads exactly that many bytes from the file.
  Result<void> read(std::uint64_t offset, std::span<std::byte> bytes) const;
  // The NUL-terminated string at a virtual address, at most `max_bytes` long.
  Result<std::string> string_at(std::uint64_t address, std::size_t max_bytes) const;

  // Returns a variable's or function's ELF address. Fails if there is none, or several of that
  // name.
  Result<std::uint64_t> symbol(std::string_view name) const;

  // Sorted by address. Empty for a stripped file.
  Result<std::vector<FunctionSymbol>> functions() const;

  std::string build_id() const;  // hex; empty where the file has none

  // For libraries that read the file themselves; that does not affect reads by this class.
  int fd() const { return fd_.get(); }

 private:
  struct AddressRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  struct NotePlace {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t align = 0;
  };
  struct End {
    void operator()(Elf* elf) const;
  };

  Result<void> check_header();
  Result<void> read_segments();
  Result<void> read_sections();
  void index_code();
  Result<void> read_notes(const NotePlace& place, std::string_view where, std::uint64_t& budget,
                          std::vector<Note>& notes) const;
  template <typename Take>
  Result<void> read_symbols(Take take) const;
  Result<void> index_symbols() const;

  std::string name_;
  base::Fd fd_;
  std::uint64_t size_bytes_ = 0;
  std::unique_ptr<Elf, End> elf_;
  Machine machine_ = Machine::kX86_64;
  bool fixed_address_ = false;
  std::vector<Segment> segments_;
  std::vector<Section> sections_;
  std::vector<AddressRange> code_;  // sorted, without overlaps
  // Made at the first look-up, as few files need it. No value: several symbols have that name.
  mutable std::optional<std::unordered_map<std::string, std::optional<std::uint64_t>>> symbols_;
};

}  // namespace sojourn::tracee
