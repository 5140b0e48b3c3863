#include "userspace/tracee/point_count.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <elf.h>
#include <sojourn/note_abi.h>

#include "userspace/tracee/file_bytes.h"

namespace sojourn::tracee {

namespace {

// Linkers make some tens of sections. A note has some hundred bytes.
constexpr std::size_t kMaxSections = 4096;
constexpr std::uint64_t kMaxCountedNoteBytes = 4U << 20U;

template <typename T>
bool read_value(int file, std::uint64_t offset, T& value) {
  return read_fully(file, offset, std::as_writable_bytes(std::span(&value, 1)));
}

bool is_of_this_kind(const Elf64_Ehdr& header) {
  return std::memcmp(static_cast<const void*>(header.e_ident), ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
         (header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64) &&
         (header.e_type == ET_EXEC || header.e_type == ET_DYN) &&
         header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shstrndx < header.e_shnum;
}

// The section headers; none if the file is of another kind or not whole.
std::vector<Elf64_Shdr> read_sections(int file, Elf64_Ehdr& header) {
  if (!read_value(file, 0, header) || !is_of_this_kind(header)) return {};
  std::vector<Elf64_Shdr> sections(std::min<std::size_t>(header.e_shnum, kMaxSections));
  if (!read_fully(file, header.e_shoff, std::as_writable_bytes(std::span(sections)))) return {};
  return sections;
}

bool is_note_section(int file, const Elf64_Shdr& section, const Elf64_Shdr& names) {
  std::array<char, sizeof SJ_NOTE_SECTION> name{};
  return section.sh_type == SHT_NOTE && section.sh_name < names.sh_size &&
         names.sh_offset + section.sh_name >= names.sh_offset &&
         read_value(file, names.sh_offset + section.sh_name, name) &&
         std::memcmp(name.data(), SJ_NOTE_SECTION, name.size()) == 0;
}

// The notes of one file, one after the other. A point may have several sites, also in several
// source files, and both engines.
class NoteCounter {
 public:
  explicit NoteCounter(std::span<const Elf64_Shdr> sections) : sections_(sections) {}

  // False: the bytes that follow are no note.
  bool take(std::span<const std::byte>& bytes) {
    Elf64_Nhdr header{};
    if (bytes.size() < sizeof header) return false;
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::uint64_t description = sizeof header + aligned(header.n_namesz);
    if (!fits(description, header.n_descsz, bytes.size())) return false;
    const std::string_view owner(reinterpret_cast<const char*>(bytes.data()) + sizeof header,
                                 header.n_namesz);
    if (owner == std::string_view(SJ_NOTE_NAME, sizeof SJ_NOTE_NAME)) {
      const auto content = bytes.subspan(description, header.n_descsz);
      if (header.n_type == SJ_NOTE_POINT) add(content, &sj_note_point::site);
      if (header.n_type == SJ_NOTE_RING) add(content, &sj_note_ring::id);
    }
    bytes = bytes.subspan(
        std::min<std::uint64_t>(description + aligned(header.n_descsz), bytes.size()));
    return true;
  }

  std::size_t count() const { return points_.size(); }

 private:
  static std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

  template <typename Fixed>
  void add(std::span<const std::byte> content, std::uint64_t Fixed::* site) {
    Fixed fixed{};
    if (content.size() < sizeof fixed) return;
    std::memcpy(&fixed, content.data(), sizeof fixed);
    // A linker that drops a function leaves its notes behind.
    if (fixed.version != SJ_NOTE_VERSION || !is_code(fixed.*site)) return;
    const auto strings = content.subspan(sizeof fixed);
    std::string_view words(reinterpret_cast<const char*>(strings.data()), strings.size());
    const auto take_string = [&] {
      const std::size_t end = std::min(words.find('\0'), words.size());
      std::string text(words.substr(0, end));
      words.remove_prefix(std::min(end + 1, words.size()));
      return text;
    };
    std::string point_words = take_string();
    points_.emplace(std::move(point_words), take_string());
  }

  bool is_code(std::uint64_t address) const {
    return std::ranges::any_of(sections_, [&](const Elf64_Shdr& section) {
      return (section.sh_flags & SHF_EXECINSTR) != 0 && address >= section.sh_addr &&
             address - section.sh_addr < section.sh_size;
    });
  }

  std::span<const Elf64_Shdr> sections_;
  std::set<std::pair<std::string, std::string>> points_;  // its words and those of its fields
};

}  // namespace

Result<PointCount> count_points(const std::string& path) {
  base::Fd file;
  SJ_TRY(size, open_regular(path, file));
  Elf64_Ehdr header{};
  const std::vector<Elf64_Shdr> sections = read_sections(file.get(), header);
  if (header.e_shstrndx >= sections.size()) return PointCount{};
  const Elf64_Shdr names = sections[header.e_shstrndx];
  PointCount count;
  NoteCounter counter(sections);
  std::uint64_t budget = kMaxCountedNoteBytes;
  for (const Elf64_Shdr& section : sections) {
    if (!is_note_section(file.get(), section, names)) continue;
    std::vector<std::byte> content(
        fits(section.sh_offset, section.sh_size, size) ? std::min(section.sh_size, budget) : 0);
    budget -= content.size();
    count.is_lower_bound = count.is_lower_bound || content.size() != section.sh_size;
    if (!read_fully(file.get(), section.sh_offset, content)) continue;
    std::span<const std::byte> rest(content);
    while (!rest.empty() && counter.take(rest)) {
    }
    count.is_lower_bound = count.is_lower_bound || !rest.empty();
  }
  count.points = counter.count();
  return count;
}

}  // namespace sojourn::tracee
