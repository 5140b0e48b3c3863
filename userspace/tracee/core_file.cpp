#include "userspace/tracee/core_file.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <elf.h>
#include <sys/procfs.h>

#include "userspace/tracee/file_bytes.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

// Each mapping has a segment. Processes have many of them, but fewer than this.
constexpr std::uint64_t kMaxCoreSegments = 1U << 20U;
constexpr std::uint64_t kMaxCoreNoteBytes = 64U << 20U;

#ifdef __x86_64__
constexpr auto kOwnMachine = EM_X86_64;
constexpr std::size_t kInstructionRegister = 16;  // rip, in the order of user_regs_struct
#else
constexpr auto kOwnMachine = EM_AARCH64;
constexpr std::size_t kInstructionRegister = 32;  // pc
#endif

template <typename T>
bool read_struct(int file, std::uint64_t offset, T& into) {
  return read_fully(file, offset, std::as_writable_bytes(std::span(&into, 1)));
}

// Ends at the first NUL, if there is one.
std::string text_of(std::span<const char> field) {
  return printable(
      std::string_view(field.data(), field.size()).substr(0, strnlen(field.data(), field.size())));
}

}  // namespace

bool CoreFile::is_core(int file) {
  Elf64_Ehdr header{};
  return read_struct(file, 0, header) &&
         std::memcmp(static_cast<const void*>(header.e_ident), ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_CORE;
}

Result<CoreFile> CoreFile::open(base::Fd file, std::uint64_t file_bytes, const std::string& name) {
  CoreFile core;
  core.name_ = printable(name);
  core.file_ = std::move(file);
  core.file_bytes_ = file_bytes;
  SJ_CHECK(core.read_segments());
  return core;
}

Result<void> CoreFile::read_segments() {
  Elf64_Ehdr header{};
  if (!read_struct(file_.get(), 0, header)) return fail("{}: not a core file: too short", name_);
  if (header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != kOwnMachine)
    return fail("{}: a core file of another kind of machine: read it on one of that kind", name_);
  std::uint64_t count = header.e_phnum;
  if (count == PN_XNUM) {  // too many for the header: the first section has the number
    Elf64_Shdr section{};
    if (!read_struct(file_.get(), header.e_shoff, section))
      return fail("{}: the number of its segments is not inside the file", name_);
    count = section.sh_info;
  }
  if (count == 0 || count > kMaxCoreSegments || header.e_phentsize != sizeof(Elf64_Phdr) ||
      !fits(header.e_phoff, count * sizeof(Elf64_Phdr), file_bytes_))
    return fail("{}: its {} program headers are not inside the file", name_, count);
  std::vector<Elf64_Phdr> headers(count);
  SJ_CHECK(read(header.e_phoff, std::as_writable_bytes(std::span(headers))));
  for (const Elf64_Phdr& segment : headers) {
    if (segment.p_type == PT_NOTE) SJ_CHECK(read_notes(segment.p_offset, segment.p_filesz));
    if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
    if (segment.p_vaddr + segment.p_filesz < segment.p_vaddr)
      return fail("{}: a segment of {} bytes at {:#x}", name_, segment.p_filesz, segment.p_vaddr);
    const std::uint64_t present =
        std::min(segment.p_filesz, file_bytes_ - std::min(file_bytes_, segment.p_offset));
    missing_bytes_ += segment.p_filesz - present;
    if (present != 0) segments_.push_back({segment.p_vaddr, segment.p_offset, present});
  }
  return {};
}

Result<void> CoreFile::read_notes(std::uint64_t offset, std::uint64_t bytes) {
  if (!fits(offset, bytes, file_bytes_) ||
      bytes > kMaxCoreNoteBytes - std::min(kMaxCoreNoteBytes, note_bytes_))
    return fail("{}: its notes are not inside the file", name_);
  note_bytes_ += bytes;
  std::vector<std::byte> content(bytes);
  SJ_CHECK(read(offset, content));
  const auto aligned = [](std::uint64_t length) { return (length + 3) / 4 * 4; };
  for (std::uint64_t at = 0; content.size() - at >= sizeof(Elf64_Nhdr);) {
    Elf64_Nhdr note{};
    std::memcpy(&note, content.data() + at, sizeof note);
    const std::uint64_t owner = at + sizeof note;
    const std::uint64_t description = owner + aligned(note.n_namesz);
    if (!fits(description, note.n_descsz, content.size()))
      return fail("{}: holds no whole note at byte {} of its notes", name_, at);
    const std::string_view who(reinterpret_cast<const char*>(content.data() + owner),
                               note.n_namesz);
    if (who.substr(0, who.find('\0')) == "CORE")
      read_note(note.n_type, std::span(content).subspan(description, note.n_descsz));
    at = std::min<std::uint64_t>(description + aligned(note.n_descsz), content.size());
  }
  return {};
}

void CoreFile::read_note(std::uint32_t type, std::span<const std::byte> description) {
  if (type == NT_PRSTATUS && description.size() == sizeof(prstatus_t)) {
    prstatus_t status{};
    std::memcpy(&status, description.data(), sizeof status);
    threads_.push_back({.tid = status.pr_pid, .instruction = status.pr_reg[kInstructionRegister]});
    // The first thread is the one that got the signal.
    if (!std::exchange(has_status_, true)) signal_ = status.pr_cursig;
  }
  if (type == NT_PRPSINFO && description.size() == sizeof(prpsinfo_t)) {
    prpsinfo_t info{};
    std::memcpy(&info, description.data(), sizeof info);
    pid_ = info.pr_pid;
    comm_ = text_of(info.pr_fname);
    arguments_ = text_of(info.pr_psargs);
  }
}

Result<void> CoreFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  if (!fits(offset, bytes.size(), file_bytes_) || !read_fully(file_.get(), offset, bytes))
    return fail("{}: cannot read {} bytes at {:#x}: beyond the end of the file", name_,
                bytes.size(), offset);
  return {};
}

}  // namespace sojourn::tracee
