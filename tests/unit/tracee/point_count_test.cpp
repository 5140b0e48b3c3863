// The quick count of a file's points agrees with the careful reading of it, and no file can make it
// read long.
#include "userspace/tracee/point_count.h"

#include <cstring>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "subject.h"
#include "userspace/base/fd.h"
#include "userspace/tracee/points.h"

using namespace sojourn;

namespace {

tracee::PointCount counted(const std::string& path) {
  const auto count = tracee::count_points(path);
  INFO(path);
  if (!count) FAIL(count.error().text());
  return *count;
}

// A program's first bytes only, with the given place of section headers.
Elf64_Ehdr header_of_program(std::uint64_t section_headers, std::uint16_t sections) {
  Elf64_Ehdr header{};
  std::memcpy(static_cast<void*>(header.e_ident), ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shoff = section_headers;
  header.e_shnum = sections;
  header.e_shstrndx = 0;
  return header;
}

}  // namespace

TEST_CASE("the quick count finds the points of the careful reading, and the errors there") {
  std::size_t with_points = 0;
  for (const std::string name :
       {"program-O0", "program-O2", "program-O2-no-pie", "program-O2-stripped", "program-O2-static",
        "program-O2-gc", "library-O0.so", "library-O2-stripped.so", "latseq", "latseq-dropped",
        "program-clang-O2", "program-arm64-O2", "tiny"}) {
    if (!subject::exists(name)) continue;
    CAPTURE(name);
    const auto points = tracee::find_points_in_file(subject::path(name));
    REQUIRE(points);
    const tracee::PointCount count = counted(subject::path(name));
    CHECK(count.points == points->schema.points.size() + points->unusable.size());
    CHECK_FALSE(count.is_lower_bound);
    with_points += count.points != 0 ? 1 : 0;
  }
  CHECK(with_points > 6);
}

TEST_CASE("a file that is no program has no points, and a path that is no file is not opened") {
  const subject::TemporaryDirectory directory;
  test::write_contents(directory.path("empty"), "");
  test::write_contents(directory.path("text"), std::string(5000, '#'));
  CHECK(counted(directory.path("empty")).points == 0);
  CHECK(counted(directory.path("text")).points == 0);
  REQUIRE(mkfifo(directory.path("pipe").c_str(), 0600) == 0);
  for (const std::string& path : {directory.path("pipe"), directory.path(), directory.path("none")})
    CHECK_FALSE(tracee::count_points(path));
}

TEST_CASE("a file that claims a terabyte of notes is not read for long") {
  constexpr std::uint64_t kTerabyte = std::uint64_t{1} << 40;
  const base::Fd file(memfd_create("huge", MFD_CLOEXEC));
  REQUIRE(ftruncate(file.get(), static_cast<off_t>(kTerabyte)) == 0);
  const Elf64_Ehdr header = header_of_program(sizeof(Elf64_Ehdr), 2);
  // Both sections begin with the name that is looked for.
  constexpr std::uint64_t kAt = 4096;
  Elf64_Shdr sections[2] = {};
  for (Elf64_Shdr& section : sections) {
    section.sh_type = SHT_NOTE;
    section.sh_offset = kAt;
    section.sh_size = kTerabyte - kAt;
  }
  REQUIRE(pwrite(file.get(), &header, sizeof header, 0) == sizeof header);
  REQUIRE(pwrite(file.get(), sections, sizeof sections, sizeof header) == sizeof sections);
  REQUIRE(pwrite(file.get(), ".note.sojourn", 14, kAt) == 14);
  const tracee::PointCount count = counted(fmt::format("/proc/self/fd/{}", file.get()));
  CHECK(count.points == 0);
  CHECK(count.is_lower_bound);
}

TEST_CASE("damaged section headers and notes are counted as far as they go") {
  const std::string content = test::contents(subject::path("tiny"));
  const std::size_t whole = counted(subject::path("tiny")).points;
  REQUIRE(whole > 0);
  const base::Fd file(memfd_create("damaged", MFD_CLOEXEC));
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  std::mt19937_64 random(11);
  std::size_t fewer = 0;
  for (int attempt = 0; attempt < 20'000; ++attempt) {
    std::string damaged = content;
    for (std::size_t change = random() % 3 + 1; change > 0; --change) {
      const std::size_t at = random() % damaged.size();
      damaged[at] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    damaged.resize(random() % 8 == 0 ? random() % damaged.size() : damaged.size());
    REQUIRE(ftruncate(file.get(), 0) == 0);
    REQUIRE(pwrite(file.get(), damaged.data(), damaged.size(), 0) ==
            static_cast<ssize_t>(damaged.size()));
    fewer += counted(path).points < whole ? 1 : 0;
  }
  // Both outcomes must occur.
  CHECK(fewer > 1'000);
  CHECK(fewer < 19'000);
}
