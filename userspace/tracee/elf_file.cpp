#include "userspace/tracee/elf_file.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <gelf.h>

#include "userspace/tracee/file_bytes.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

// Far more than compilers make, and few enough that a forged file cannot take much memory or time.
constexpr std::size_t kMaxSegments = 1000;
constexpr std::uint64_t kMaxNoteBytes = 64U << 20U;  // of all sections together, which may overlap
constexpr std::uint64_t kMaxSymbolBytes = 512U << 20U;
constexpr std::size_t kMaxNotes = 1U << 18U;

}  // namespace

void ElfFile::End::operator()(Elf* elf) const {
  elf_end(elf);
}

bool ElfFile::has_magic(const std::string& path) {
  base::Fd file;
  std::array<std::byte, SELFMAG> magic{};
  return open_regular(path, file) && read_fully(file.get(), 0, magic) &&
         std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
}

Result<ElfFile> ElfFile::open(const std::string& path, const std::string& name) {
  ElfFile file;
  file.name_ = printable(name);
  SJ_TRY(size, open_regular(path, file.fd_));
  file.size_bytes_ = size;
  SJ_CHECK(file.check_header());
  elf_version(EV_CURRENT);
  // ELF_C_READ, not a mapping: a file that shrinks while it is read must not kill the reader.
  file.elf_.reset(elf_begin(file.fd_.get(), ELF_C_READ, nullptr));
  if (!file.elf_) return fail("{}: {}", file.name_, elf_errmsg(-1));
  SJ_CHECK(file.read_segments());
  SJ_CHECK(file.read_sections());
  file.index_code();
  return file;
}

// Checks all sizes by which libelf allocates memory.
Result<void> ElfFile::check_header() {
  Elf64_Ehdr header{};
  if (size_bytes_ < sizeof header ||
      !read_fully(fd_.get(), 0, std::as_writable_bytes(std::span(&header, 1))))
    return fail("{}: not an ELF file: too short", name_);
  if (std::memcmp(static_cast<const void*>(header.e_ident), ELFMAG, SELFMAG) != 0)
    return fail("{}: not an ELF file", name_);
  if (header.e_ident[EI_CLASS] != ELFCLASS64)
    return fail("{}: not a 64-bit program: only x86-64 and arm64 are supported", name_);
  if (header.e_ident[EI_DATA] != ELFDATA2LSB)
    return fail("{}: a big-endian program: only x86-64 and arm64 are supported", name_);
  if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
    return fail("{}: machine type {}: only x86-64 and arm64 are supported", name_,
                header.e_machine);
  if (header.e_type == ET_REL)
    return fail(
        "{}: an object file that is not linked yet: name the program or library it is linked into",
        name_);
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return fail("{}: ELF type {}: neither a program nor a library", name_, header.e_type);
  machine_ = header.e_machine == EM_X86_64 ? Machine::kX86_64 : Machine::kArm64;
  fixed_address_ = header.e_type == ET_EXEC;

  // Counts too large for the header are kept elsewhere (PN_XNUM, e_shnum 0); no program needs that.
  if (header.e_phnum == 0 || header.e_phnum > kMaxSegments ||
      header.e_phentsize != sizeof(Elf64_Phdr) ||
      !fits(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), size_bytes_))
    return fail("{}: its {} program headers are not inside the file", name_, header.e_phnum);
  if (header.e_shoff == 0 && header.e_shnum == 0) return {};
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      !fits(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), size_bytes_))
    return fail("{}: its {} section headers are not inside the file", name_, header.e_shnum);
  return {};
}

Result<void> ElfFile::read_segments() {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_.get(), &count) != 0)
    return fail("{}: program headers: {}", name_, elf_errmsg(-1));
  for (std::size_t index = 0; index < count; ++index) {
    GElf_Phdr header;
    if (gelf_getphdr(elf_.get(), static_cast<int>(index), &header) == nullptr)
      return fail("{}: program header {}: {}", name_, index, elf_errmsg(-1));
    if ((header.p_type == PT_LOAD || header.p_type == PT_NOTE) &&
        (!fits(header.p_offset, header.p_filesz, size_bytes_) ||
         header.p_vaddr + header.p_filesz < header.p_vaddr))
      return fail("{}: segment {} reaches beyond the end of the file", name_, index);
    segments_.push_back({.type = header.p_type,
                         .flags = header.p_flags,
                         .offset = header.p_offset,
                         .address = header.p_vaddr,
                         .file_bytes = header.p_filesz,
                         .align = header.p_align});
  }
  return {};
}

Result<void> ElfFile::read_sections() {
  std::size_t names = 0;
  const bool has_names = elf_getshdrstrndx(elf_.get(), &names) == 0;
  for (Elf_Scn* scn = elf_nextscn(elf_.get(), nullptr); scn != nullptr;
       scn = elf_nextscn(elf_.get(), scn)) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr)
      return fail("{}: section header {}: {}", name_, elf_ndxscn(scn), elf_errmsg(-1));
    // Checks that the name ends inside its table.
    const char* name = has_names ? elf_strptr(elf_.get(), names, header.sh_name) : nullptr;
    sections_.push_back({.name = name != nullptr ? name : "",
                         .type = header.sh_type,
                         .flags = header.sh_flags,
                         .address = header.sh_addr,
                         .offset = header.sh_offset,
                         .bytes = header.sh_size,
                         .align = header.sh_addralign,
                         .link = header.sh_link});
  }
  return {};
}

const Section* ElfFile::section(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  return found == sections_.end() ? nullptr : &*found;
}

Result<std::vector<Note>> ElfFile::notes() const {
  std::vector<Note> notes;
  std::uint64_t budget = kMaxNoteBytes;
  for (const Section& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    SJ_CHECK(read_notes({section.offset, section.bytes, section.align},
                        "section " + printable(section.name), budget, notes));
  }
  if (!sections_.empty()) return notes;
  for (const Segment& segment : segments_) {
    if (segment.type != PT_NOTE) continue;
    SJ_CHECK(read_notes({segment.offset, segment.file_bytes, segment.align}, "a note segment",
                        budget, notes));
  }
  return notes;
}

Result<void> ElfFile::read_notes(const NotePlace& place, std::string_view where,
                                 std::uint64_t& budget, std::vector<Note>& notes) const {
  if (!fits(place.offset, place.bytes, size_bytes_))
    return fail("{}: {} reaches beyond the end of the file", name_, where);
  if (place.bytes > budget)
    return fail("{}: {} is absurdly long: {} bytes", name_, where, place.bytes);
  if (place.bytes == 0) return {};
  budget -= place.bytes;
  Elf_Data* data = elf_getdata_rawchunk(elf_.get(), static_cast<int64_t>(place.offset), place.bytes,
                                        place.align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
  if (data == nullptr) return fail("{}: {}: {}", name_, where, elf_errmsg(-1));
  const std::span content(static_cast<const std::byte*>(data->d_buf), data->d_size);

  std::size_t at = 0;
  while (at < content.size()) {
    GElf_Nhdr header;
    std::size_t owner_at = 0;
    std::size_t description_at = 0;
    const std::size_t next = gelf_getnote(data, at, &header, &owner_at, &description_at);
    if (next <= at || !fits(owner_at, header.n_namesz, content.size()) ||
        !fits(description_at, header.n_descsz, content.size()))
      return fail("{}: {} holds no whole note at byte {}", name_, where, at);
    if (notes.size() == kMaxNotes)
      return fail("{}: {} brings more than {} notes", name_, where, kMaxNotes);
    const auto owner = content.subspan(owner_at, header.n_namesz);
    std::string_view text(reinterpret_cast<const char*>(owner.data()), owner.size());
    text = text.substr(0, text.find('\0'));
    notes.push_back({.owner = text,
                     .type = header.n_type,
                     .description = content.subspan(description_at, header.n_descsz)});
    at = next;
  }
  return {};
}

std::optional<std::uint64_t> ElfFile::file_offset(std::uint64_t address, std::uint64_t bytes,
                                                  std::uint32_t flags) const {
  for (const Segment& segment : segments_) {
    if (segment.type != PT_LOAD || (segment.flags & flags) != flags || address < segment.address)
      continue;
    const std::uint64_t into = address - segment.address;
    if (fits(into, bytes, segment.file_bytes)) return segment.offset + into;
  }
  return std::nullopt;
}

void ElfFile::index_code() {
  for (const Section& section : sections_) {
    constexpr std::uint64_t kLoadedCode = SHF_EXECINSTR | SHF_ALLOC;
    if ((section.flags & kLoadedCode) != kLoadedCode || section.type == SHT_NOBITS) continue;
    const std::uint64_t end = section.address + section.bytes;
    if (end > section.address) code_.push_back({section.address, end});
  }
  for (const Segment& segment : segments_) {
    if (!sections_.empty() || segment.type != PT_LOAD || (segment.flags & PF_X) == 0) continue;
    code_.push_back({segment.address, segment.address + segment.file_bytes});
  }
  std::ranges::sort(code_, {}, &AddressRange::begin);
  std::size_t kept = 0;
  for (const AddressRange& range : code_) {
    if (kept > 0 && range.begin <= code_[kept - 1].end)
      code_[kept - 1].end = std::max(code_[kept - 1].end, range.end);
    else
      code_[kept++] = range;
  }
  code_.resize(kept);
}

bool ElfFile::in_code(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(code_, address, {}, &AddressRange::begin);
  return after != code_.begin() && address < std::prev(after)->end;
}

Result<void> ElfFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  if (!fits(offset, bytes.size(), size_bytes_) || !read_fully(fd_.get(), offset, bytes))
    return fail("{}: cannot read {} bytes at {:#x}: beyond the end of the file", name_,
                bytes.size(), offset);
  return {};
}

Result<std::string> ElfFile::string_at(std::uint64_t address, std::size_t max_bytes) const {
  for (const Segment& segment : segments_) {
    if (segment.type != PT_LOAD || address < segment.address ||
        address - segment.address >= segment.file_bytes)
      continue;
    const std::uint64_t into = address - segment.address;
    std::string text(std::min<std::uint64_t>(max_bytes + 1, segment.file_bytes - into), '\0');
    SJ_CHECK(read(segment.offset + into, std::as_writable_bytes(std::span(text))));
    const std::size_t end = text.find('\0');
    if (end == std::string::npos)
      return fail("{}: the text at {:#x} does not end within {} bytes", name_, address,
                  text.size());
    text.resize(end);
    return text;
  }
  return fail("{}: no text at {:#x}: not inside the file", name_, address);
}

// Calls take(symbol, name) for each symbol that this file defines.
template <typename Take>
Result<void> ElfFile::read_symbols(Take take) const {
  // A .symtab, if there is one, contains the dynamic symbols as well.
  for (const std::uint32_t type : std::array<std::uint32_t, 2>{SHT_SYMTAB, SHT_DYNSYM}) {
    const auto found = std::ranges::find(sections_, type, &Section::type);
    if (found == sections_.end()) continue;
    const Section& section = *found;
    const std::string where = fmt::format("{}: section {}", name_, printable(section.name));
    if (!fits(section.offset, section.bytes, size_bytes_) || section.bytes > kMaxSymbolBytes)
      return fail("{} is absurdly long or reaches beyond the end of the file", where);
    Elf_Data* data = elf_getdata_rawchunk(elf_.get(), static_cast<int64_t>(section.offset),
                                          section.bytes, ELF_T_SYM);
    if (data == nullptr) return fail("{}: {}", where, elf_errmsg(-1));
    const std::size_t count = data->d_size / sizeof(Elf64_Sym);
    for (std::size_t index = 0; index < count; ++index) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(index), &symbol) == nullptr) break;
      if (symbol.st_shndx == SHN_UNDEF) continue;
      const char* name = elf_strptr(elf_.get(), section.link, symbol.st_name);
      if (name != nullptr && *name != '\0') take(symbol, name);
    }
    break;
  }
  return {};
}

Result<void> ElfFile::index_symbols() const {
  auto& symbols = symbols_.emplace();
  return read_symbols([&](const GElf_Sym& symbol, const char* name) {
    const auto kind = GELF_ST_TYPE(symbol.st_info);
    if (kind != STT_NOTYPE && kind != STT_OBJECT && kind != STT_FUNC) return;
    const auto [entry, inserted] = symbols.try_emplace(name, symbol.st_value);
    if (!inserted && entry->second != symbol.st_value) entry->second.reset();
  });
}

Result<std::vector<FunctionSymbol>> ElfFile::functions() const {
  std::vector<FunctionSymbol> functions;
  SJ_CHECK(read_symbols([&](const GElf_Sym& symbol, const char* name) {
    const auto kind = GELF_ST_TYPE(symbol.st_info);
    if (kind != STT_FUNC && kind != STT_GNU_IFUNC) return;
    functions.push_back({symbol.st_value, symbol.st_size, name});
  }));
  std::ranges::stable_sort(functions, {}, &FunctionSymbol::address);
  return functions;
}

Result<std::uint64_t> ElfFile::symbol(std::string_view name) const {
  if (!symbols_) SJ_CHECK(index_symbols());
  const auto found = symbols_->find(std::string(name));
  if (found == symbols_->end())
    return fail("no symbol '{}' in {} (is it stripped?)", printable(name), name_);
  if (!found->second) return fail("several symbols '{}' in {}", printable(name), name_);
  return *found->second;
}

std::string ElfFile::build_id() const {
  constexpr std::uint32_t kBuildId = 3;  // NT_GNU_BUILD_ID
  const auto all = notes();
  if (!all) return {};
  std::string hex;
  for (const Note& note : *all) {
    if (note.owner != "GNU" || note.type != kBuildId || note.description.size() > 64) continue;
    for (const std::byte byte : note.description)
      hex += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    break;
  }
  return hex;
}

}  // namespace sojourn::tracee
