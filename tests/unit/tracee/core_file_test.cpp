#include "userspace/tracee/core_file.h"

#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <elf.h>
#include <fcntl.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include "tests/support/child.h"

namespace sojourn::tracee {
namespace {

void append(std::string& bytes, const void* from, std::size_t count) {
  bytes.append(static_cast<const char*>(from), count);
}

template <typename T>
std::string note(std::uint32_t type, const T& description) {
  const Elf64_Nhdr header{.n_namesz = 5, .n_descsz = sizeof(T), .n_type = type};
  std::string bytes;
  append(bytes, &header, sizeof header);
  bytes.append("CORE\0\0\0\0", 8);
  append(bytes, &description, sizeof(T));
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

void set_instruction(prstatus_t& status, std::uint64_t instruction) {
  user_regs_struct registers{};
  static_assert(sizeof registers == sizeof status.pr_reg);
#ifdef __x86_64__
  registers.rip = instruction;
#else
  registers.pc = instruction;
#endif
  std::memcpy(static_cast<void*>(status.pr_reg), &registers, sizeof registers);
}

// A core file in the kernel's form: notes, then memory.
struct Core {
  Elf64_Ehdr header{};
  std::string notes;
  std::vector<std::pair<std::uint64_t, std::string>> memory;

  Core() {
    std::memcpy(static_cast<void*>(header.e_ident), ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_CORE;
#ifdef __x86_64__
    header.e_machine = EM_X86_64;
#else
    header.e_machine = EM_AARCH64;
#endif
    header.e_phoff = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    prstatus_t status{};
    status.pr_cursig = 11;
    status.pr_pid = 4242;
    set_instruction(status, 0x401000);
    prpsinfo_t info{};
    info.pr_pid = 4242;
    std::strcpy(info.pr_fname, "gnb");
    std::strcpy(info.pr_psargs, "gnb -c gnb.conf");
    prstatus_t other{};
    other.pr_cursig = 9;
    other.pr_pid = 4243;
    set_instruction(other, 0x402000);
    notes = note(NT_PRSTATUS, status) + note(NT_PRPSINFO, info) + note(NT_PRSTATUS, other);
    memory = {{0x10000, std::string(5000, 'a')}, {0x20000, std::string(100, 'b')}};
  }

  std::string bytes() const {
    Elf64_Ehdr head = header;
    head.e_phnum = static_cast<Elf64_Half>(1 + memory.size());
    std::uint64_t at = sizeof head + head.e_phnum * sizeof(Elf64_Phdr);
    std::vector<Elf64_Phdr> segments;
    std::string content = notes;
    segments.push_back({.p_type = PT_NOTE,
                        .p_flags = 0,
                        .p_offset = at,
                        .p_vaddr = 0,
                        .p_paddr = 0,
                        .p_filesz = notes.size(),
                        .p_memsz = 0,
                        .p_align = 4});
    for (const auto& [address, text] : memory) {
      segments.push_back({.p_type = PT_LOAD,
                          .p_flags = PF_R,
                          .p_offset = at + content.size(),
                          .p_vaddr = address,
                          .p_paddr = 0,
                          .p_filesz = text.size(),
                          .p_memsz = text.size(),
                          .p_align = 1});
      content += text;
    }
    std::string all;
    append(all, &head, sizeof head);
    append(all, segments.data(), segments.size() * sizeof(Elf64_Phdr));
    return all + content;
  }
};

Result<CoreFile> open_bytes(const test::TemporaryDirectory& directory, const std::string& bytes) {
  const std::string path = directory.path("core");
  test::write_contents(path, bytes);
  base::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return CoreFile::open(std::move(file), bytes.size(), path);
}

TEST_CASE("a core file has its process, the signal that ended it, and the places of its memory") {
  const test::TemporaryDirectory directory;
  const auto core = open_bytes(directory, Core().bytes());
  REQUIRE(core);
  CHECK(core->pid() == 4242);
  CHECK(core->signal() == 11);  // of the first thread: the others were only taken along
  CHECK(core->comm() == "gnb");
  CHECK(core->arguments() == "gnb -c gnb.conf");
  CHECK(core->missing_bytes() == 0);
  REQUIRE(core->threads().size() == 2);
  CHECK(core->threads()[0].tid == 4242);
  CHECK(core->threads()[0].instruction == 0x401000);
  CHECK(core->threads()[1].tid == 4243);
  CHECK(core->threads()[1].instruction == 0x402000);
  REQUIRE(core->segments().size() == 2);
  std::vector<std::byte> bytes(100);
  REQUIRE(core->segments()[1].address == 0x20000);
  REQUIRE(core->read(core->segments()[1].offset, bytes));
  CHECK(bytes.back() == std::byte{'b'});
  CHECK_FALSE(core->read(core->segments()[1].offset + 1, bytes));
}

TEST_CASE("a core file that is cut anywhere gives the parts that are left, or one error line") {
  const test::TemporaryDirectory directory;
  const std::string whole = Core().bytes();
  std::size_t opened = 0;
  for (std::size_t length = 0; length < whole.size(); length += length < 1500 ? 1 : 61) {
    CAPTURE(length);
    const auto core = open_bytes(directory, whole.substr(0, length));
    if (!core) {
      CHECK(core.error().text().find('\n') == std::string::npos);
      continue;
    }
    ++opened;
    CHECK(core->missing_bytes() == whole.size() - length);
    for (const CoreSegment& segment : core->segments())
      CHECK(segment.offset + segment.bytes <= length);
  }
  CHECK(opened > 50);
}

TEST_CASE("headers that name more than there is are refused") {
  const test::TemporaryDirectory directory;
  const auto refused = [&](auto change) {
    Core core;
    change(core);
    return !open_bytes(directory, core.bytes());
  };
  CHECK(refused([](Core& core) { core.header.e_phoff = UINT64_MAX - 8; }));
  CHECK(refused([](Core& core) { core.header.e_phentsize = 8; }));
  CHECK(refused([](Core& core) { core.header.e_machine = EM_PPC64; }));
  CHECK(refused([](Core& core) { core.memory[0].first = UINT64_MAX - 10; }));
  CHECK(refused([](Core& core) { core.notes[4] = '\x7f'; }));  // a description that goes on
  CHECK(refused([](Core& core) { core.notes.resize(core.notes.size() - 8); }));
}

TEST_CASE("a file that is no core is refused") {
  const test::TemporaryDirectory directory;
  const auto is_core = [&](const std::string& bytes) {
    test::write_contents(directory.path("file"), bytes);
    const base::Fd file(open(directory.path("file").c_str(), O_RDONLY | O_CLOEXEC));
    return CoreFile::is_core(file.get());
  };
  CHECK(is_core(Core().bytes()));
  CHECK_FALSE(is_core(""));
  CHECK_FALSE(
      is_core("\x7f"
              "ELF"));
  Core program;
  program.header.e_type = ET_EXEC;
  CHECK_FALSE(is_core(program.bytes()));
}

}  // namespace
}  // namespace sojourn::tracee
