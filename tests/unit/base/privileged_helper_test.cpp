#include "userspace/base/privileged_helper.h"

#include <cerrno>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sojourn::base {
namespace {

Result<void> prepared() {
  return {};
}

// Twice a number.
Result<Answer> serve(PrivilegedRequest request, Unpacker& wanted, Fd&) {
  const int number = wanted.take<int>();
  if (request != PrivilegedRequest::kCosts || !wanted.is_sound()) {
    errno = EPERM;
    return fail("refused");
  }
  return Answer{.kind = 0, .bytes = Packer().put(2 * number).put(getpid()).take(), .fds = {}};
}

int ask(const PrivilegedHelper& helper, int number) {
  const auto answer = helper.ask(PrivilegedRequest::kCosts, std::move(Packer().put(number)));
  return answer ? Unpacker(answer->bytes).take<int>() : -1;
}

TEST_CASE("a privileged helper is another process, and any code finds it") {
  CHECK(PrivilegedHelper::of_this_process() == nullptr);
  {
    auto started = PrivilegedHelper::start(prepared, serve);
    REQUIRE(started);
    const PrivilegedHelper moved = std::move(*started);
    REQUIRE(PrivilegedHelper::of_this_process() == &moved);
    const auto answer = moved.ask(PrivilegedRequest::kCosts, std::move(Packer().put(21)));
    REQUIRE(answer);
    Unpacker words(answer->bytes);
    CHECK(words.take<int>() == 42);
    CHECK(words.take<pid_t>() != getpid());
  }
  CHECK(PrivilegedHelper::of_this_process() == nullptr);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // it is gone, and there is no other child
}

TEST_CASE("a refused request of a privileged helper fails with its text and its errno") {
  const auto helper = PrivilegedHelper::start(prepared, serve);
  REQUIRE(helper);
  const auto answer = helper->ask(PrivilegedRequest::kOpen, Packer());
  const int code = errno;
  REQUIRE_FALSE(answer);
  CHECK(code == EPERM);
  CHECK(answer.error().text() == "refused");
  CHECK(ask(*helper, 1) == 2);
}

TEST_CASE("a privileged helper that cannot be prepared does not start") {
  const auto helper = PrivilegedHelper::start([] { return Result<void>(fail("no")); }, serve);
  REQUIRE_FALSE(helper);
  CHECK(helper.error().text() == "no");
  CHECK(PrivilegedHelper::of_this_process() == nullptr);
}

TEST_CASE("threads and a forked child ask at the same time, and each gets its own answer") {
  const auto helper = PrivilegedHelper::start(prepared, serve);
  REQUIRE(helper);
  const pid_t child = fork();
  if (child == 0) {
    bool right = true;
    for (int number = 0; number < 200; ++number)
      right = right && ask(*helper, number) == 2 * number;
    _exit(right ? 0 : 1);
  }
  std::vector<int> wrong(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < wrong.size(); ++thread)
      threads.emplace_back([&, thread] {
        const int first = static_cast<int>(thread) * 1000;
        for (int number = first; number < first + 200; ++number)
          wrong[thread] += ask(*helper, number) == 2 * number ? 0 : 1;
      });
  }
  CHECK(wrong == std::vector<int>(4));
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a privileged helper that was killed is reported, not waited for") {
  auto helper = PrivilegedHelper::start(
      prepared, [](PrivilegedRequest, Unpacker&, Fd&) -> Result<Answer> { _exit(1); });
  REQUIRE(helper);
  for (int tries = 0; tries < 2; ++tries) {
    const auto answer = helper->ask(PrivilegedRequest::kCosts, Packer());
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind() == ErrorKind::kNoAnswer);
    CHECK(answer.error().text().contains("the process that keeps the rights"));
  }
}

}  // namespace
}  // namespace sojourn::base
