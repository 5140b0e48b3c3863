// Addresses of this process's own code.
#include "userspace/symbols/code_map.h"

#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "userspace/symbols/naming.h"

namespace sojourn::symbols {
namespace {

tracee::Process this_process() {
  auto process = tracee::Process::open(getpid());
  REQUIRE(process);
  return std::move(*process);
}

std::uint64_t address_of(const void* what) {
  return reinterpret_cast<std::uint64_t>(what);
}

extern "C" [[gnu::noinline]] int sj_known_function(int value) {
  return value + 1;
}

TEST_CASE("an address of this program's code leads to its file and the function there") {
  const auto process = this_process();
  CodeMap map(process);
  const auto place = map.find(address_of(reinterpret_cast<const void*>(&sj_known_function)));
  REQUIRE(place);
  const Module& module = map.modules().at(place->module);
  CHECK(module.name.ends_with("unit-symbols"));
  REQUIRE(module.file);
  std::vector<model::Frame> frames = {{.id = 1,
                                       .module = {},
                                       .build_id = {},
                                       .address = place->address,
                                       .is_kernel = false,
                                       .calls = {}}};
  name_frames(*module.file, Lines::kNo, frames);
  REQUIRE(frames[0].calls.size() == 1);
  CHECK(frames[0].calls[0].function == "sj_known_function");
}

TEST_CASE("data and nothing at all are no code") {
  const auto process = this_process();
  CodeMap map(process);
  const int here = 0;
  CHECK(!map.find(address_of(&here)));
  CHECK(!map.find(0));
  CHECK(!map.find(UINT64_MAX));
}

TEST_CASE("code that no file is behind has a name and no file") {
  const auto process = this_process();
  CodeMap map(process);
  if (const auto vdso = getauxval(AT_SYSINFO_EHDR); vdso != 0) {
    const auto place = map.find(vdso + 16);
    REQUIRE(place);
    CHECK(map.modules().at(place->module).name == "[vdso]");
    CHECK(place->address == 16);
  }
  void* made = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(made != MAP_FAILED);
  map.forget_mappings();
  const auto place = map.find(address_of(made) + 5);
  REQUIRE(place);
  CHECK(map.modules().at(place->module).name == "[memory]");
  CHECK(!map.modules().at(place->module).file);
  munmap(made, 4096);
}

TEST_CASE("code that was mapped later is found after a new look") {
  const auto process = this_process();
  CodeMap map(process);
  CHECK(!map.find(1));  // reads the maps
  void* made = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(made != MAP_FAILED);
  map.forget_mappings();
  CHECK(map.find(address_of(made)));
  munmap(made, 4096);
}

}  // namespace
}  // namespace sojourn::symbols
