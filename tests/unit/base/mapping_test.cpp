// Mappings made at once and in pieces.
#include "userspace/base/mapping.h"

#include <cerrno>
#include <cstddef>

#include <catch2/catch_test_macros.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "userspace/base/fd.h"

namespace sojourn::base {
namespace {

constexpr std::size_t kPages = 3 * 128 + 1;  // no whole number of pieces

TEST_CASE("a mapping in pieces has the contents in order, and what is written is in the file") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const Fd file(memfd_create("pieces", MFD_CLOEXEC));
  REQUIRE(ftruncate(file.get(), static_cast<off_t>(kPages * page)) == 0);
  const Mapping whole(file.get(), kPages * page);
  REQUIRE(whole);
  for (std::size_t each = 0; each < kPages; ++each)
    whole.data()[each * page] = static_cast<std::byte>(each % 251);
  const Mapping pieces = Mapping::in_pieces(file.get(), kPages * page);
  REQUIRE(pieces);
  CHECK(pieces.size() == whole.size());
  std::size_t wrong = 0;
  for (std::size_t each = 0; each < kPages; ++each)
    wrong += pieces.data()[each * page] == static_cast<std::byte>(each % 251) ? 0 : 1;
  CHECK(wrong == 0);
  pieces.data()[kPages * page - 1] = std::byte{7};
  CHECK(whole.data()[kPages * page - 1] == std::byte{7});
}

TEST_CASE("a mapping in pieces of what cannot be mapped fails as one at once does") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const Fd reading(ends[0]);
  const Fd writing(ends[1]);
  errno = 0;
  CHECK_FALSE(Mapping(reading.get(), 1 << 21));
  const int why = errno;
  errno = 0;
  CHECK_FALSE(Mapping::in_pieces(reading.get(), 1 << 21));
  CHECK(errno == why);
  CHECK(why != 0);
}

}  // namespace
}  // namespace sojourn::base
