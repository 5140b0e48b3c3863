// A target's file may be half written, corrupt, or hostile. These tests damage a small program in
// every place; AddressSanitizer finds reads out of bounds.
#include <algorithm>
#include <array>
#include <limits>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "subject.h"
#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/points.h"

using namespace sojourn;

namespace {

// A file in memory, rewritten for each try.
class Scratch {
 public:
  Scratch() : file_(memfd_create("damaged", MFD_CLOEXEC)) {}

  std::string path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }

  void write(const std::string& content) const {
    REQUIRE(ftruncate(file_.get(), 0) == 0);
    REQUIRE(pwrite(file_.get(), content.data(), content.size(), 0) ==
            static_cast<ssize_t>(content.size()));
  }
  void truncate(std::size_t bytes) const {
    REQUIRE(ftruncate(file_.get(), static_cast<off_t>(bytes)) == 0);
  }

 private:
  base::Fd file_;
};

// Returns whether the file could be read at all. Every error must name this file.
bool examine(const Scratch& scratch) {
  const std::string path = scratch.path();
  const auto points = tracee::find_points_in_file(path);
  if (!points) {
    if (!points.error().text().starts_with(path)) FAIL(points.error().text());
    return false;
  }
  for (const tracee::Unusable& one : points->unusable) {
    if (!one.where.starts_with(path) || one.why.empty()) FAIL(one.where << ": " << one.why);
  }
  for (const tracee::Site& site : points->sites) {
    if (site.point >= points->schema.points.size() || site.file >= points->files.size())
      FAIL("dangling index");
  }
  if (const auto elf = tracee::ElfFile::open(path, path)) {
    (void)elf->build_id();
    (void)elf->symbol("stage_in_library");
  }
  return true;
}

std::string damage(std::string content, std::mt19937_64& random) {
  // Most of a file is code, where damage has no effect. So half of the changes go to the headers.
  const std::size_t changes = 1 + random() % 4;
  for (std::size_t change = 0; change < changes; ++change) {
    const std::size_t range =
        random() % 2 == 0 ? std::min<std::size_t>(content.size(), 64 + 56 * 8) : content.size();
    const std::size_t at = random() % range;
    constexpr std::array<char, 4> kExtremes = {'\0', '\x7f', '\x80', '\xff'};
    content[at] = random() % 3 == 0 ? kExtremes[random() % kExtremes.size()]
                                    : static_cast<char>(content[at] ^ (1 << (random() % 8)));
  }
  return content;
}

}  // namespace

TEST_CASE("a program cut off at any byte is read or refused") {
  const std::string content = test::contents(subject::path("tiny"));
  const Scratch scratch;
  scratch.write(content);
  CHECK(examine(scratch));
  // The section headers are the last thing in the file, and no cut leaves them whole.
  std::size_t readable = 0;
  for (std::size_t bytes = content.size(); bytes-- > 0;) {
    scratch.truncate(bytes);
    readable += examine(scratch) ? 1 : 0;
  }
  CHECK(readable == 0);
}

TEST_CASE("a program with flipped bytes is read or refused") {
  const std::string subject_name = "tiny";
  const std::string content = test::contents(subject::path(subject_name));
  const Scratch scratch;
  std::mt19937_64 random(20240611);
  std::size_t readable = 0;
  constexpr std::size_t kTries = 10'000;
  for (std::size_t attempt = 0; attempt < kTries; ++attempt) {
    CAPTURE(attempt);
    scratch.write(damage(content, random));
    readable += examine(scratch) ? 1 : 0;
  }
  // Both outcomes must occur.
  CHECK(readable > kTries / 10);
  CHECK(readable < kTries);
}

TEST_CASE("a library with flipped bytes in its section headers is read or refused") {
  const std::string content = test::contents(subject::path("library-O2-stripped.so"));
  const Scratch scratch;
  std::mt19937_64 random(7);
  constexpr std::size_t kHeaderTail = 64 * 32;
  std::size_t readable = 0;
  constexpr std::size_t kTries = 3'000;
  for (std::size_t attempt = 0; attempt < kTries; ++attempt) {
    CAPTURE(attempt);
    const std::size_t tail = std::min(kHeaderTail, content.size());
    scratch.write(content.substr(0, content.size() - tail) +
                  damage(content.substr(content.size() - tail), random));
    readable += examine(scratch) ? 1 : 0;
  }
  CHECK(readable > kTries / 10);
}

TEST_CASE("every note with any of its words made absurd is read or refused") {
  const std::string content = test::contents(subject::path("tiny"));
  const auto elf = tracee::ElfFile::open(subject::path("tiny"), "tiny");
  REQUIRE(elf);
  const Scratch scratch;
  for (const std::string_view name : {".note.stapsdt", ".note.sojourn"}) {
    const tracee::Section* section = elf->section(name);
    REQUIRE(section != nullptr);
    for (std::size_t at = section->offset; at + 4 <= section->offset + section->bytes; ++at) {
      for (const std::string_view word :
           {std::string_view("\0\0\0\0", 4), std::string_view("\xff\xff\xff\xff", 4),
            std::string_view("\xff\xff\xff\x7f", 4), std::string_view("\1\0\0\x80", 4)}) {
        std::string damaged = content;
        damaged.replace(at, 4, word);
        scratch.write(damaged);
        // Only the notes changed, so the file itself stays readable.
        REQUIRE(examine(scratch));
      }
    }
  }
}
