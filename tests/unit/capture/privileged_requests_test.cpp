// The requests that a privileged helper answers for a capture, and those that it refuses.
#include "userspace/capture/helper/privileged_requests.h"

#include <csignal>
#include <cstring>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/support/child.h"
#include "userspace/capture/perf/perf_open.h"

namespace sojourn::capture {
namespace {

using base::Answer;
using base::Packer;
using base::PrivilegedRequest;
using base::Unpacker;

HelperScope scope_of(pid_t pid, bool with_children = false) {
  auto scope = HelperScope::take({.processes = {pid}, .with_children = with_children});
  REQUIRE(scope);
  return std::move(*scope);
}

Result<Answer> ask(HelperScope& scope, PrivilegedRequest request, Packer& wanted) {
  const auto bytes = wanted.take();
  Unpacker words(bytes);
  base::Fd connection;
  return serve_request(scope, request, words, connection);
}

bool opens(HelperScope& scope, const std::string& path, int flags = O_RDONLY) {
  Packer wanted;
  const auto answer = ask(scope, PrivilegedRequest::kOpen, wanted.put_text(path).put(flags));
  return answer && answer->fds.size() == 1;
}

std::string of(pid_t pid, const std::string& name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

TEST_CASE("a privileged helper knows the processes of its capture, and no others") {
  test::Child one({"sleep", "60"});
  test::Child other({"sleep", "60"});
  HelperScope scope = scope_of(one.pid());
  CHECK(scope.find(one.pid()));
  CHECK_FALSE(scope.find(other.pid()));
  CHECK_FALSE(scope.find(getpid()));
  CHECK_FALSE(scope.find(1));
  one.signal(SIGKILL);
  one.wait();
  CHECK_FALSE(scope.find(one.pid()));
}

TEST_CASE("children are known where they are followed") {
  usleep(20'000);  // process ages have ticks of 10 ms, and this process may be as new
  test::Child parent({"sh", "-c", "sleep 60 & echo ready; wait"});
  REQUIRE(parent.wait_for_output("ready"));
  const std::string tasks = of(parent.pid(), "task/" + std::to_string(parent.pid()) + "/children");
  const auto child = static_cast<pid_t>(std::stoi(test::contents(tasks)));
  HelperScope alone = scope_of(parent.pid());
  CHECK_FALSE(alone.find(child));
  HelperScope family = scope_of(parent.pid(), true);
  CHECK(family.find(child));
  CHECK_FALSE(family.find(getpid()));  // it is older
  kill(child, SIGKILL);
}

TEST_CASE("a privileged helper opens a process's descriptions and programs, but not its secrets") {
  test::Child child({"sleep", "60"});
  const pid_t pid = child.pid();
  HelperScope scope = scope_of(pid);
  for (const char* name : {"maps", "stat", "status", "comm", "cmdline", "exe"})
    CHECK(opens(scope, of(pid, name)));
  for (const char* name : {"environ", "mem", "root", "root/etc/passwd", "cwd", "fd/0", "pagemap",
                           "root/proc/self/mem", "exe/../mem", "root/../etc/passwd", ".."})
    CHECK_FALSE(opens(scope, of(pid, name)));
  CHECK(opens(scope, of(pid, "root/etc/passwd"), O_PATH));  // to identify the file
  CHECK_FALSE(opens(scope, of(1, "maps")));
  CHECK_FALSE(opens(scope, of(getpid(), "maps")));
  for (const char* path :
       {"/etc/passwd", "/proc/self/maps", "/proc/kallsyms", "/proc//maps", "", "maps"})
    CHECK_FALSE(opens(scope, path));
}

TEST_CASE("a privileged helper gives away programs of a process's file system, and no cores") {
  test::Child child({"sleep", "60"});
  HelperScope scope = scope_of(child.pid());
  const test::TemporaryDirectory directory;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  for (const auto& [type, is_given] : {std::pair(ET_DYN, true), std::pair(ET_CORE, false)}) {
    header.e_type = static_cast<Elf64_Half>(type);
    test::write_contents(directory.path("file"),
                         std::string(reinterpret_cast<const char*>(&header), sizeof(header)));
    CHECK(opens(scope, of(child.pid(), "root" + directory.path("file"))) == is_given);
  }
}

TEST_CASE("rings of a script are opened in their directory only") {
  const test::TemporaryDirectory directory;
  const test::TemporaryDirectory other;
  std::string in = directory.path("");
  while (in.ends_with('/')) in.pop_back();
  auto scope = HelperScope::take({.processes = {getpid()}, .ring_directory = in});
  REQUIRE(scope);
  test::write_contents(in + "/sojourn-rings-1", "x");
  test::write_contents(in + "/secret", "x");
  test::write_contents(other.path("sojourn-rings-1"), "x");
  CHECK(opens(*scope, in + "/sojourn-rings-1", O_RDWR));
  CHECK_FALSE(opens(*scope, in + "/secret", O_RDWR));
  CHECK_FALSE(opens(*scope, other.path("sojourn-rings-1"), O_RDWR));
  REQUIRE(symlink("secret", (in + "/sojourn-rings-2").c_str()) == 0);
  CHECK_FALSE(opens(*scope, in + "/sojourn-rings-2", O_RDWR));
}

TEST_CASE("memory, rings and threads of strangers are refused, and so is nonsense") {
  test::Child child({"sleep", "60"});
  const pid_t pid = child.pid();
  HelperScope scope = scope_of(pid);
  Packer page;
  CHECK_FALSE(
      ask(scope, PrivilegedRequest::kOwnerPage, page.put(pid).put(std::uintptr_t{0x400000})));
  Packer stranger;
  CHECK_FALSE(ask(scope, PrivilegedRequest::kInstruction, stranger.put(getpid()).put(getpid())));
  Packer other;  // another process's thread, by the id of an allowed one
  CHECK_FALSE(ask(scope, PrivilegedRequest::kInstruction, other.put(pid).put(getpid())));
  Packer rings;
  CHECK_FALSE(ask(scope, PrivilegedRequest::kOpenRings,
                  rings.put(pid).put(std::uint64_t{1}).put(std::uint64_t{2})));
  Packer event;
  pack(PerfRequest{}, event);
  CHECK_FALSE(ask(scope, PrivilegedRequest::kPerfEvent, event.put(getpid()).put(-1)));
  Packer sockets;
  CHECK_FALSE(ask(scope, PrivilegedRequest::kSockets, sockets.put(getpid())));
  for (const std::size_t bytes : {0, 3, 40, 400}) {
    for (std::uint32_t request = 0; request < 12; ++request) {
      Packer nonsense;
      for (std::size_t byte = 0; byte < bytes; ++byte) nonsense.put('\xff');
      CHECK_FALSE(ask(scope, static_cast<PrivilegedRequest>(request), nonsense));
    }
  }
}

TEST_CASE("links show where descriptors lead") {
  test::Child child({"sleep", "60"});
  HelperScope scope = scope_of(child.pid());
  Packer fd;
  const auto answer = ask(scope, PrivilegedRequest::kReadLinks, fd.put_text(of(child.pid(), "fd")));
  REQUIRE(answer);
  CHECK(Unpacker(answer->bytes).take_count(1) >= 3);
  Packer stranger;
  CHECK_FALSE(ask(scope, PrivilegedRequest::kReadLinks, stranger.put_text(of(getpid(), "fd"))));
  Packer map_files;
  CHECK_FALSE(
      ask(scope, PrivilegedRequest::kReadLinks, map_files.put_text(of(child.pid(), "map_files"))));
}

}  // namespace
}  // namespace sojourn::capture
