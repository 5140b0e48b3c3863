#include "userspace/tracee/elf_file.h"

#include <array>
#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <elf.h>
#include <sys/stat.h>

#include "subject.h"

using namespace sojourn;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using tracee::ElfFile;

namespace {

ElfFile open_subject(const std::string& name) {
  auto file = ElfFile::open(subject::path(name), name);
  if (!file) FAIL(file.error().text());
  return std::move(*file);
}

// The error of opening the tiny subject with its ELF header changed.
std::string error_with_header(void (*change)(Elf64_Ehdr&)) {
  const subject::TemporaryDirectory directory;
  std::string content = test::contents(subject::path("tiny"));
  Elf64_Ehdr header;
  std::memcpy(&header, content.data(), sizeof header);
  change(header);
  std::memcpy(content.data(), &header, sizeof header);
  test::write_contents(directory.path("gnb"), content);
  const auto file = ElfFile::open(directory.path("gnb"), "/opt/gnb");
  return file ? "" : file.error().text();
}

}  // namespace

TEST_CASE("a program's file has its machine, and whether it runs at a fixed address") {
  CHECK(open_subject("program-O2").machine() == tracee::Machine::kX86_64);
  CHECK_FALSE(open_subject("program-O2").fixed_address());
  CHECK_FALSE(open_subject("program-O2-static-pie").fixed_address());
  CHECK(open_subject("program-O2-no-pie").fixed_address());
  CHECK(open_subject("program-O2-static").fixed_address());
}

TEST_CASE("a build id is 20 bytes in hexadecimal") {
  const std::string id = open_subject("program-O2").build_id();
  CHECK(id.size() == 40);
  CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(id != open_subject("program-O0").build_id());
  CHECK(open_subject("tiny").build_id().empty());
}

TEST_CASE("a symbol has an address when there is exactly one of that name") {
  const ElfFile file = open_subject("program-O0");
  const auto address = file.symbol("main");
  REQUIRE(address);
  CHECK(file.in_code(*address));
  const auto missing = file.symbol("no_such_symbol");
  REQUIRE_FALSE(missing);
  CHECK_THAT(missing.error().text(), ContainsSubstring("no symbol 'no_such_symbol' in program-O0"));
}

TEST_CASE("a stripped library still has its dynamic symbols") {
  CHECK(open_subject("library-O2-stripped.so").symbol("stage_in_library"));
}

TEST_CASE("an address is in the file only where a segment with those rights holds all its bytes") {
  const ElfFile file = open_subject("program-O2-no-pie");
  for (const tracee::Segment& segment : file.segments()) {
    if (segment.type != PT_LOAD) continue;
    CHECK(file.file_offset(segment.address, 1, segment.flags) == segment.offset);
    CHECK(file.file_offset(segment.address + segment.file_bytes - 1, 1, segment.flags) ==
          segment.offset + segment.file_bytes - 1);
    if ((segment.flags & PF_X) != 0) CHECK_FALSE(file.file_offset(segment.address, 1, PF_X | PF_W));
  }
  CHECK_FALSE(file.file_offset(0, 1, 0));
  CHECK_FALSE(file.file_offset(UINT64_MAX, 8, 0));
}

TEST_CASE("only a section of code is code") {
  const ElfFile file = open_subject("program-O2-no-pie");
  for (const tracee::Section& section : file.sections()) {
    if ((section.flags & SHF_ALLOC) == 0 || section.bytes == 0) continue;
    CAPTURE(section.name);
    CHECK(file.in_code(section.address) == ((section.flags & SHF_EXECINSTR) != 0));
  }
  CHECK_FALSE(file.in_code(0));
  CHECK_FALSE(file.in_code(UINT64_MAX));
}

TEST_CASE("text is read up to its end, and never without one") {
  const ElfFile file = open_subject("program-O2-no-pie");
  const tracee::Section* interpreter = file.section(".interp");
  REQUIRE(interpreter != nullptr);
  const auto whole = file.string_at(interpreter->address, 256);
  REQUIRE(whole);
  CHECK_THAT(*whole, StartsWith("/lib"));
  CHECK_FALSE(file.string_at(interpreter->address, 4));
  CHECK_FALSE(file.string_at(0, 4));
}

TEST_CASE("a file of another kind is refused in words that say which") {
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_ident[EI_CLASS] = ELFCLASS32; }),
             StartsWith("/opt/gnb: not a 64-bit program"));
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_ident[EI_DATA] = ELFDATA2MSB; }),
             StartsWith("/opt/gnb: a big-endian program"));
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_machine = EM_RISCV; }),
             StartsWith("/opt/gnb: machine type 243"));
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_type = ET_REL; }),
             ContainsSubstring("not linked"));
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_type = ET_CORE; }),
             ContainsSubstring("neither a program"));
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_ident[0] = 'x'; }),
             ContainsSubstring("not an ELF file"));
}

TEST_CASE("tables that reach beyond the file are refused before they are read") {
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_phnum = 60000; }),
             ContainsSubstring("60000 program headers"));
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_phnum = PN_XNUM; }),
             ContainsSubstring("program headers"));
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_phoff = UINT64_MAX - 8; }),
             ContainsSubstring("program headers"));
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_phentsize = 1; }),
             ContainsSubstring("program headers"));
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_shnum = 60000; }),
             ContainsSubstring("60000 section headers"));
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_shnum = 0; }),
             ContainsSubstring("section headers"));
  CHECK_THAT(error_with_header([](Elf64_Ehdr& h) { h.e_shoff = UINT64_MAX - 8; }),
             ContainsSubstring("section headers"));
}

TEST_CASE("a pipe is refused instead of waited for") {
  const subject::TemporaryDirectory directory;
  REQUIRE(mkfifo(directory.path("pipe").c_str(), 0600) == 0);
  const auto file = ElfFile::open(directory.path("pipe"), "pipe");
  REQUIRE_FALSE(file);
  CHECK_THAT(file.error().text(), ContainsSubstring("not a regular file"));
}

TEST_CASE("a note section that ends inside a note is an error that names it") {
  const subject::TemporaryDirectory directory;
  std::string content = test::contents(subject::path("tiny"));
  const ElfFile whole = open_subject("tiny");
  const tracee::Section* section = whole.section(".note.stapsdt");
  REQUIRE(section != nullptr);
  const std::uint32_t absurd = 0x7fffffff;  // the first note's descriptor size
  std::memcpy(content.data() + section->offset + 4, &absurd, sizeof absurd);
  test::write_contents(directory.path("gnb"), content);
  const auto file = ElfFile::open(directory.path("gnb"), "/opt/gnb");
  REQUIRE(file);
  const auto notes = file->notes();
  REQUIRE_FALSE(notes);
  CHECK(notes.error().text() == "/opt/gnb: section .note.stapsdt holds no whole note at byte 0");
}

TEST_CASE("note sections that share their bytes cannot be made to fill memory") {
  const subject::TemporaryDirectory directory;
  std::string content = test::contents(subject::path("tiny"));
  constexpr std::uint32_t kMebibyte = 1U << 20U;
  // One note of a mebibyte, and 200 sections that all are that note.
  std::string note(kMebibyte, '\0');
  const std::array<std::uint32_t, 4> words = {4, kMebibyte - 16, 1, 0x00554e47};  // "GNU"
  std::memcpy(note.data(), words.data(), sizeof words);
  content.resize((content.size() + 15) / 16 * 16);
  Elf64_Shdr section{};
  section.sh_type = SHT_NOTE;
  section.sh_offset = content.size();
  section.sh_size = note.size();
  section.sh_addralign = 4;
  content += note;
  Elf64_Ehdr header;
  std::memcpy(&header, content.data(), sizeof header);
  header.e_shoff = content.size();
  header.e_shnum = 200;
  header.e_shstrndx = 0;
  std::memcpy(content.data(), &header, sizeof header);
  for (int index = 0; index < header.e_shnum; ++index)
    content.append(reinterpret_cast<const char*>(&section), sizeof section);
  test::write_contents(directory.path("gnb"), content);
  const auto file = ElfFile::open(directory.path("gnb"), "/opt/gnb");
  REQUIRE(file);
  const auto notes = file->notes();
  REQUIRE_FALSE(notes);
  CHECK_THAT(notes.error().text(), ContainsSubstring("absurdly long"));
}
