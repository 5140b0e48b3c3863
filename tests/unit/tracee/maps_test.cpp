#include "userspace/tracee/maps.h"

#include <algorithm>
#include <filesystem>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "subject.h"
#include "userspace/tracee/mapped_files.h"

using namespace sojourn;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a line of maps is read field by field") {
  const auto maps = tracee::parse_maps(
      "55d0c0000000-55d0c0001000 r--p 00000000 fe:01 1234                       "
      "/usr/bin/nr-softmodem\n"
      "55d0c0001000-55d0c0002000 r-xs 00001000 fe:01 1234                       "
      "/usr/bin/nr-softmodem\n"
      "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
      "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n");
  REQUIRE(maps);
  REQUIRE(maps->size() == 4);
  const tracee::Mapping& code = (*maps)[1];
  CHECK(code.start == 0x55d0c0001000);
  CHECK(code.end == 0x55d0c0002000);
  CHECK(code.offset == 0x1000);
  CHECK(code.device == ((0xfeU << 8U) | 1U));
  CHECK(code.inode == 1234);
  CHECK(code.executable);
  CHECK_FALSE(code.writable);
  CHECK(code.name == "/usr/bin/nr-softmodem");
  CHECK((*maps)[2].name == "[stack]");
  CHECK((*maps)[3].name.empty());
}

TEST_CASE("odd names of mapped files stay whole") {
  const auto maps = tracee::parse_maps(
      "1000-2000 r-xp 00000000 fe:01 7   /opt/my gnb/lib  x.so\n"
      "2000-3000 r-xp 00000000 fe:01 8   /opt/gnb (deleted)\n"
      "3000-4000 r-xp 00000000 fe:01 9   /opt/two\\012lines\n"
      "4000-5000 r-xp 00000000 00:01 10  /memfd:jit code (deleted)\n");
  REQUIRE(maps);
  CHECK((*maps)[0].name == "/opt/my gnb/lib  x.so");
  CHECK((*maps)[1].name == "/opt/gnb (deleted)");
  CHECK(tracee::possible_names((*maps)[0].name) ==
        std::vector<std::string>{"/opt/my gnb/lib  x.so"});
  CHECK(tracee::possible_names((*maps)[1].name) ==
        std::vector<std::string>{"/opt/gnb (deleted)", "/opt/gnb"});
  CHECK(tracee::possible_names((*maps)[2].name) ==
        std::vector<std::string>{"/opt/two\\012lines", "/opt/two\nlines"});
  CHECK((*maps)[3].name == "/memfd:jit code (deleted)");
}

TEST_CASE("a line that is no mapping is named") {
  const std::string good = "1000-2000 r-xp 00000000 fe:01 7 /a\n";
  for (const std::string bad :
       {"", "x", "1000", "1000-", "1000-2000", "2000-1000 r-xp 00000000 fe:01 7 /a",
        "1000-1000 r-xp 0 0:0 0", "1000-2000 rwxq 00000000 fe:01 7 /a",
        "1000-2000 r-x 00000000 fe:01 7 /a", "1000-2000 r-xp zz fe:01 7 /a",
        "1000-2000 r-xp 00000000 fe01 7 /a", "1000-2000 r-xp 00000000 fe:01 x /a",
        "1000-2000 r-xp 00000000 fe:01 99999999999999999999999 /a",
        "-1000-2000 r-xp 00000000 fe:01 7 /a", "11111111111111111-2 r-xp 00000000 fe:01 7 /a",
        "1000-2000 r-xp 00000000 100000000:01 7 /a"}) {
    CAPTURE(bad);
    const auto maps = tracee::parse_maps(good + bad + "\n" + good);
    REQUIRE_FALSE(maps);
    CHECK_THAT(maps.error().text(), ContainsSubstring("line 2 is no mapping: '" + bad + "'"));
  }
}

namespace {

// Maps the first page of a file as code, as a loader does.
class MappedCopy {
 public:
  explicit MappedCopy(const std::string& path) {
    const base::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    address_ = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
    REQUIRE(address_ != MAP_FAILED);
  }
  ~MappedCopy() { munmap(address_, 4096); }
  MappedCopy(const MappedCopy&) = delete;
  MappedCopy& operator=(const MappedCopy&) = delete;

  const tracee::ExecutedFile& find(const tracee::ExecutedFiles& executed) const {
    const auto found = std::ranges::find_if(executed.files, [&](const tracee::ExecutedFile& file) {
      return file.mappings.front().start == reinterpret_cast<std::uintptr_t>(address_);
    });
    REQUIRE(found != executed.files.end());
    return *found;
  }

 private:
  void* address_ = nullptr;
};

tracee::ExecutedFiles own_files() {
  const auto process = tracee::Process::open(getpid());
  if (!process) FAIL(process.error().text());
  auto executed = tracee::executed_files(*process);
  if (!executed) FAIL(executed.error().text());
  return std::move(*executed);
}

}  // namespace

TEST_CASE("a mapped file with any name is found") {
  const subject::TemporaryDirectory directory;
  for (const std::string name :
       {"with space", "two\nlines", "ends (deleted)", "octal\\012digits", "caf\xc3\xa9"}) {
    CAPTURE(name);
    const std::string path = directory.path(name);
    std::filesystem::copy_file(subject::path("tiny"), path);
    struct stat status{};
    REQUIRE(stat(path.c_str(), &status) == 0);
    const MappedCopy mapped(path);
    const auto executed = own_files();
    const tracee::MappedFile& file = mapped.find(executed).file;
    CHECK(file.name == path);
    CHECK_FALSE(file.deleted);
    CHECK(file.inode == status.st_ino);
    CHECK(test::contents(file.path) == test::contents(path));
  }
}

TEST_CASE("a mapped file that was replaced is not mistaken for the one that has its name now") {
  const subject::TemporaryDirectory directory;
  const std::string path = directory.path("stage.so");
  std::filesystem::copy_file(subject::path("tiny"), path);
  const MappedCopy mapped(path);
  const std::string other = directory.path("new.so");
  test::write_contents(other, std::string(5000, 'x'));
  std::filesystem::rename(other, path);

  const auto executed = own_files();
  const auto unusable = std::ranges::find(executed.unusable, path, &tracee::Unusable::where);
  if (unusable != executed.unusable.end()) {
    // Only root may open a mapping whose file has lost its name; other users get an error that says
    // so.
    CHECK_THAT(unusable->why, ContainsSubstring("only root"));
    return;
  }
  const tracee::MappedFile& file = mapped.find(executed).file;
  CHECK(file.name == path);
  CHECK(file.deleted);
  CHECK(test::contents(file.path) == test::contents(subject::path("tiny")));
}

TEST_CASE("anonymous memory and the kernel's own pages are no files") {
  for (const tracee::ExecutedFile& file : own_files().files) {
    CHECK(file.file.inode != 0);
    CHECK(file.file.name.starts_with('/'));
  }
}
