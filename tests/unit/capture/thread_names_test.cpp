#include "userspace/capture/output/thread_names.h"

#include <catch2/catch_test_macros.hpp>
#include <pthread.h>
#include <unistd.h>

namespace sojourn::capture {
namespace {

using Look = ThreadNames::Look;

TEST_CASE("a thread's name is written once, and again when it changes") {
  const auto self = tracee::Process::open(getpid());
  REQUIRE(self);
  char before[16];
  REQUIRE(pthread_getname_np(pthread_self(), before, sizeof(before)) == 0);
  ThreadNames names;
  const auto told = [&](Look what) {
    model::Context news;
    names.look(*self, what, news);
    return news.names;
  };
  const auto first = told(Look::kNew);
  REQUIRE(first.size() == 1);
  CHECK(first[0].kind == model::NameKind::kThread);
  CHECK(first[0].id == static_cast<std::uint64_t>(gettid()));
  CHECK(first[0].pid == static_cast<std::uint64_t>(getpid()));
  CHECK(first[0].name == before);
  CHECK(first[0].state.empty());
  CHECK(told(Look::kAll).empty());

  REQUIRE(pthread_setname_np(pthread_self(), "another") == 0);
  CHECK(told(Look::kNew).empty());
  const auto second = told(Look::kAll);
  REQUIRE(pthread_setname_np(pthread_self(), before) == 0);
  REQUIRE(second.size() == 1);
  CHECK(second[0].name == "another");
}

TEST_CASE("the state of every thread is written, and its thread is known from then on") {
  const auto self = tracee::Process::open(getpid());
  REQUIRE(self);
  ThreadNames names;
  for (int time = 0; time < 2; ++time) {
    model::Context news;
    names.look(*self, Look::kStates, news);
    REQUIRE(news.names.size() == 1);
    CHECK(news.names[0].state == "R");
  }
  model::Context news;
  names.look(*self, Look::kAll, news);
  CHECK(news.empty());
}

TEST_CASE("a thread's name from another source is written once as well") {
  ThreadNames names;
  model::Context news;
  names.add(7, "kworker/0:1", 0, news);
  names.add(7, "kworker/0:1", 0, news);
  REQUIRE(news.names.size() == 1);
  CHECK(news.names[0].name == "kworker/0:1");
  names.add(7, "worker", 5, news);
  REQUIRE(news.names.size() == 2);
  CHECK(news.names[1].pid == 5);
}

}  // namespace
}  // namespace sojourn::capture
