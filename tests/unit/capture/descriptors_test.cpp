// The names of descriptors, for this process's own.
#include "userspace/capture/context/descriptors.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/base/fd.h"

namespace sojourn::capture {
namespace {

std::string name_of(const model::Context& context, int fd) {
  std::string found;
  for (const model::ContextName& name : context.names)
    if (name.kind == model::NameKind::kDescriptor &&
        name.pid == static_cast<std::uint64_t>(getpid()) &&
        name.id == static_cast<std::uint64_t>(fd))
      found = name.name;
  return found;
}

TEST_CASE("descriptors are reported by what they lead to, sockets by their addresses, each once") {
  auto process = tracee::Process::open(getpid());
  REQUIRE(process);
  const std::array<const tracee::Process*, 1> processes = {&*process};
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const base::Fd reads(ends[0]);
  const base::Fd writes(ends[1]);
  const base::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  struct stat about{};
  REQUIRE(fstat(socket.get(), &about) == 0);

  Descriptors descriptors;
  const model::Context first = descriptors.news(processes);
  CHECK(name_of(first, reads.get()).starts_with("pipe:["));
  CHECK(name_of(first, socket.get()) == "socket:[" + std::to_string(about.st_ino) + "]");
  CHECK(descriptors.news(processes).empty());

  // Known by its words now: that is news at once, and the only news.
  descriptors.name_socket(about.st_ino, "udp 127.0.0.1:2152");
  const model::Context second = descriptors.news(processes);
  CHECK(name_of(second, socket.get()) == "udp 127.0.0.1:2152");
  CHECK(name_of(second, reads.get()).empty());
}

}  // namespace
}  // namespace sojourn::capture
