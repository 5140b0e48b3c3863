// Mappings of one file and of several.
#include "userspace/base/mapping.h"

#include <cerrno>
#include <cstddef>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "userspace/base/fd.h"

namespace sojourn::base {
namespace {

TEST_CASE("a joined mapping has the files in order, and what is written is in the file") {
  constexpr std::size_t kPages = 3;  // of each
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<Fd> files;
  for (int each = 0; each < 4; ++each) {
    files.emplace_back(memfd_create("piece", MFD_CLOEXEC));
    REQUIRE(ftruncate(files.back().get(), static_cast<off_t>(kPages * page)) == 0);
    *Mapping(files.back().get(), kPages * page).data() = static_cast<std::byte>(each + 1);
  }
  const Mapping all = Mapping::joined(files, kPages * page);
  REQUIRE(all);
  CHECK(all.size() == files.size() * kPages * page);
  for (std::size_t each = 0; each < files.size(); ++each)
    CHECK(all.data()[each * kPages * page] == static_cast<std::byte>(each + 1));
  all.data()[all.size() - 1] = std::byte{7};
  CHECK(Mapping(files.back().get(), kPages * page).data()[kPages * page - 1] == std::byte{7});
}

TEST_CASE("a joined mapping fails if one of the files cannot be mapped") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::vector<Fd> files;
  files.emplace_back(memfd_create("piece", MFD_CLOEXEC));
  files.emplace_back(ends[0]);
  const Fd writing(ends[1]);
  errno = 0;
  CHECK_FALSE(Mapping(files.back().get(), 4096));
  const int why = errno;
  errno = 0;
  CHECK_FALSE(Mapping::joined(files, static_cast<std::size_t>(sysconf(_SC_PAGESIZE))));
  CHECK(errno == why);
  CHECK(why != 0);
}

}  // namespace
}  // namespace sojourn::base
