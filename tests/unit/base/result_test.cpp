// The parts of an error by which callers decide.
#include "analysis/base/result.h"

#include <catch2/catch_test_macros.hpp>

#include "userspace/base/fail_errno.h"

namespace sojourn {
namespace {

TEST_CASE("an error's kind is that of the failed call, and stays when context is put in front") {
  const auto kind_of = [](int code) {
    errno = code;
    const std::unexpected<Error> failed = fail_errno("open {}", "x");
    return Error(failed.error()).within("y").kind();
  };
  CHECK(kind_of(EPERM) == ErrorKind::kNotPermitted);
  CHECK(kind_of(EACCES) == ErrorKind::kNotPermitted);
  CHECK(kind_of(ENOENT) == ErrorKind::kOther);
  CHECK(std::unexpected<Error>(fail("no")).error().kind() == ErrorKind::kOther);
}

}  // namespace
}  // namespace sojourn
